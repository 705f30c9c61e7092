/* The models against what their source publishes. */
#ifndef ULB_HARNESS_CHECK_PAPER_H
#define ULB_HARNESS_CHECK_PAPER_H

#include "common/status.h"
#include "results/paper_values.h"

/* Fills modelled, inside and the counts of a parsed table from the built-in platforms. A value outside its
 * interval is a result, not a failure: see n_outside. ULB_BAD_INPUT when the table lacks a row that the
 * models give, or marks one as input or derived that they do not. */
enum ulb_status ulb_paper_check(struct ulb_paper_check *check, struct ulb_error *err);

#endif
