/* Tokens per second of the models of a record, format by format, and the format to take. */
#ifndef ULB_RESULTS_SUMMARY_MODEL_SUMMARY_H
#define ULB_RESULTS_SUMMARY_MODEL_SUMMARY_H

#include "results/record/record.h"

/* Appends to models one object for each model of the record's section "models": formats, slowest first,
 * "suggested" and "reason". cells: of one token, cold, one set of cores (ulb_choose_cells). A format without
 * a cell for each of the model's matrices is left out. */
enum ulb_status ulb_summarise_models(const struct ulb_record *record, const struct ulb_cell *const *cells,
                                     size_t n, double memory_gbps, json_t *models, struct ulb_error *err);

/* Sets key to a number, or to null with "<key>_reason". Not 0: no memory. */
int ulb_summary_set(json_t *row, const char *key, double value, const char *reason);

#endif
