/* The whole run: describe, beta, gamma, grid; every stage into the session's record. */
#ifndef ULB_HARNESS_RUN_H
#define ULB_HARNESS_RUN_H

#include "harness/session/settings.h"
#include "results/record/record.h"

/* Opens a session with these settings, measures up to stage, closes it. The record (made by the caller) holds
 * what was measured whatever the status: ULB_INTERRUPTED, ULB_FINDING (a kernel differs) and ULB_ENVIRONMENT
 * lose nothing. */
enum ulb_status ulb_run(const struct ulb_settings *settings, enum ulb_stage stage, struct ulb_record *record,
                        struct ulb_error *err);

#endif
