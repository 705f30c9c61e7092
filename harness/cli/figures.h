/* What commands draw beside a record or a document that they write. */
#ifndef ULB_HARNESS_CLI_FIGURES_H
#define ULB_HARNESS_CLI_FIGURES_H

#include "results/record.h"

/* Draws every figure that the document has the data for into STEM-FIGURE.svg and .png, and names them on
 * standard error. Figures are an extra: without gnuplot a note says how to get them. */
void ulb_draw_all_figures(const struct ulb_record *record, const char *stem);

#endif
