/* A record as a dashboard follows it: one value for each format, each kernel, and each model in a format. */
#ifndef ULB_RESULTS_SUMMARY_DASHBOARD_H
#define ULB_RESULTS_SUMMARY_DASHBOARD_H

#include "results/record/record.h"

/* Makes {"formats": [{"format", "efficiency"}], "kernels": [{"kernel", "format", "efficiency"}],
 * "models": [{"model", "format", "tokens_per_s"}]}; what the record does not tell is left out.
 *
 * efficiency: ulb_format_shares() of the cells that ulb_choose_cells() chose; a kernel's, of its cells alone.
 * tokens_per_s: that of ulb_summary_of(). ULB_BAD_INPUT: a section cannot be read. */
enum ulb_status ulb_dashboard_of(const struct ulb_record *record, json_t **out, struct ulb_error *err);

#endif
