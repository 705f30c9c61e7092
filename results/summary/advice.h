/* Which weight format to take for one model on the machine of a record. */
#ifndef ULB_RESULTS_SUMMARY_ADVICE_H
#define ULB_RESULTS_SUMMARY_ADVICE_H

#include "results/summary/format_choice.h"

/* Makes the document of 'ulb-bench advise' but for the record's name: model, memory_gbps, context,
 * available_bytes, suggested, reason, basis, formats. model: an object as in the record's section "models".
 * ULB_BAD_INPUT: the record has no cold cells of one token, or cannot be read. */
enum ulb_status ulb_advice_of(const struct ulb_record *record, const json_t *model,
                              const struct ulb_wants *wants, json_t **out, struct ulb_error *err);

#endif
