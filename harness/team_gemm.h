/* One matrix product by the team, its rows shared out by a split. */
#ifndef ULB_HARNESS_TEAM_GEMM_H
#define ULB_HARNESS_TEAM_GEMM_H

#include "harness/split.h"
#include "harness/team.h"
#include "kernels/kernel.h"

struct ulb_team_gemm {
    const struct ulb_kernel *kernel;
    struct ulb_gemm gemm; /* m0 and m1 are the split's */
    struct ulb_row_split *split;
};

void ulb_team_gemm_run(struct ulb_team *team, struct ulb_team_gemm *job);

#endif
