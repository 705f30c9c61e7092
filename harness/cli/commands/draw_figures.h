/* What commands draw of a record or a document: figures, the report. */
#ifndef ULB_HARNESS_CLI_COMMANDS_DRAW_FIGURES_H
#define ULB_HARNESS_CLI_COMMANDS_DRAW_FIGURES_H

#include "plots/report/report.h"
#include "results/record/record.h"

/* Draws every figure that the document has the data for into STEM-FIGURE.svg and .png, and, where they are
 * named, names them on standard error. Figures are an extra: without gnuplot a note says how to get them. */
void ulb_draw_all_figures(const struct ulb_record *record, const char *stem, bool named);

/* Writes the report of n records to path, as a whole or not at all. Without gnuplot a note on standard error
 * says why it has no figures. */
enum ulb_status ulb_write_report(const struct ulb_report_record *records, size_t n, const char *path,
                                 size_t *bytes, struct ulb_error *err);

#endif
