/* The whole run: describe, beta, gamma, grid; every stage into the session's record. */
#ifndef ULB_HARNESS_RUN_H
#define ULB_HARNESS_RUN_H

#include "harness/session/settings.h"
#include "results/record/record.h"

/* What is measured: one stage, some, or the whole run, which is all of them but the GEMMs and decoding. */
enum ulb_stage {
    ULB_STAGE_COUNT, /* instructions alone, nothing by a clock */
    ULB_STAGE_BETA,
    ULB_STAGE_MEMORY, /* beta at memory level alone */
    ULB_STAGE_GAMMA,
    ULB_STAGE_LIMITS,  /* MEMORY and GAMMA: what a roofline is drawn from */
    ULB_STAGE_FORMATS, /* LIMITS, and formats side by side */
    ULB_STAGE_GEMV,
    ULB_STAGE_GEMM,
    ULB_STAGE_ALL, /* BETA, GAMMA and GEMV */
    ULB_STAGE_DECODE,
};

/* Opens a session with these settings, measures up to stage, closes it. The record (made by the caller) holds
 * what was measured whatever the status: ULB_INTERRUPTED, ULB_FINDING (a kernel differs) and ULB_ENVIRONMENT
 * lose nothing. */
enum ulb_status ulb_run(const struct ulb_settings *settings, enum ulb_stage stage, struct ulb_record *record,
                        struct ulb_error *err);

#endif
