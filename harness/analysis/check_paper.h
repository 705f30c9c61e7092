/* The models against what their source publishes. */
#ifndef ULB_HARNESS_ANALYSIS_CHECK_PAPER_H
#define ULB_HARNESS_ANALYSIS_CHECK_PAPER_H

#include "common/status.h"
#include "results/reference/paper_values.h"

/* Fills modelled, inside and the counts of a parsed table from the built-in platforms. Keeps the rows of one
 * platform and of any (NULL: all rows). A value outside its interval is a result, not a failure: see
 * n_outside. ULB_BAD_INPUT: the table lacks a row that the models give, marks one as input or derived that
 * they do not, or has no row of the platform. */
enum ulb_status ulb_paper_check(struct ulb_paper_check *check, const char *platform, struct ulb_error *err);

#endif
