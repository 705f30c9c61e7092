/* What a record answers on one screen: how fast memory is, how close the formats come to it, how many tokens
 * per second of which model that makes, which format to take, and how far the run can be trusted. */
#ifndef ULB_RESULTS_SUMMARY_RECORD_SUMMARY_H
#define ULB_RESULTS_SUMMARY_RECORD_SUMMARY_H

#include "results/record/record.h"

/* Wanted of a suggested format: this many tokens per second, and at most this error on normal weights. */
#define ULB_SUGGESTED_TPS   10.0
#define ULB_SUGGESTED_ERROR 0.25

/* Makes the section "summary" of a record from its other sections; the same record gives the same summary.
 * Figures that it does not hold are null with "<key>_reason", and "models" is empty without cells.
 *
 * Tokens per second: results/summary/format_choice.h.
 * ULB_BAD_INPUT: a section cannot be read. */
enum ulb_status ulb_summary_of(const struct ulb_record *record, json_t **out, struct ulb_error *err);

#endif
