/* Internal to plots/: the program gnuplot. */
#ifndef ULB_PLOTS_DRAW_GNUPLOT_H
#define ULB_PLOTS_DRAW_GNUPLOT_H

#include "common/status.h"

#include <stddef.h>

/* Runs gnuplot on a script; what it draws goes to the open file out. ULB_ENVIRONMENT: gnuplot is not there,
 * or it failed, with the last line it said. */
enum ulb_status ulb_gnuplot_run(const char *script, size_t bytes, int out, struct ulb_error *err);

#endif
