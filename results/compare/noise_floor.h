/* The A/A noise floor of a record: how far its own cells differ from themselves. */
#ifndef ULB_RESULTS_COMPARE_NOISE_FLOOR_H
#define ULB_RESULTS_COMPARE_NOISE_FLOOR_H

#include "results/record/record.h"

/* Sets "noise_floor" of every cell and the section of that name, from the cells' own rounds: the first half
 * against the second ("halves"). To be called when all cells are in the record. */
enum ulb_status ulb_record_judge_noise(struct ulb_record *record, struct ulb_error *err);

/* The same from a second pass, a record of the same cells made with everything set up anew ("passes"): a
 * cell's floor is the larger of this and what the halves said. Cells that only one of them has keep theirs.
 */
enum ulb_status ulb_record_judge_passes(struct ulb_record *record, const struct ulb_record *second,
                                        struct ulb_error *err);

#endif
