/* Running another program and reading what it prints. */
#ifndef ULB_HARNESS_COUNTERS_RUN_PROGRAM_H
#define ULB_HARNESS_COUNTERS_RUN_PROGRAM_H

#include "common/status.h"

#include <stddef.h>

/* Runs argv[0], found by PATH, on the given PUs (n_pus 0: those of the caller). Collects standard output and
 * error together into *output (to be freed; NULL on failure). ULB_ENVIRONMENT: the program is missing, fails,
 * or takes longer than timeout_s and is killed. The message then holds the first line that begins with
 * "fatal: ", else the last one. */
enum ulb_status ulb_run_program(char *const argv[], const unsigned *pus, size_t n_pus, double timeout_s,
                                char **output, struct ulb_error *err);

#endif
