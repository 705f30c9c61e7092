/* A record as a dashboard follows it: one value for each format, each kernel, and each model in a format. */
#ifndef ULB_RESULTS_SUMMARY_DASHBOARD_H
#define ULB_RESULTS_SUMMARY_DASHBOARD_H

#include "results/record/record.h"

/* Makes {"formats": [{"format", "efficiency"}], "kernels": [{"kernel", "format", "efficiency"}],
 * "models": [{"model", "format", "tokens_per_s"}]}. What the record does not tell is left out.
 *
 * The cells are those of ulb_choose_cells(). efficiency is the share of ulb_format_shares(). A kernel's is
 * that of its cells alone. tokens_per_s is that of ulb_summary_of().
 *
 * ULB_BAD_INPUT: a section cannot be read. */
enum ulb_status ulb_dashboard_of(const struct ulb_record *record, json_t **out, struct ulb_error *err);

#endif
