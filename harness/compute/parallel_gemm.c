#include "harness/compute/parallel_gemm.h"

#include "common/doing.h"
#include "common/emulation.h"
#include "harness/timing/stopwatch.h"
#include "harness/counters/marker.h"
#include "harness/memory/cold_ring.h"
#include "harness/verify/test_case.h"

static void run_part(void *arg, size_t thread)
{
    struct ulb_team_gemm *job = arg;
    struct ulb_gemm mine = job->gemm;
    struct ulb_split_rows rows = {job->split, thread};
    mine.more = ulb_split_more;
    mine.rows = &rows;
    ulb_marker_start("gemv");
    while (ulb_split_more(&rows, &mine.m0, &mine.m1))
        job->kernel->run(&mine);
    ulb_marker_stop("gemv");
}

void ulb_team_gemm_run(struct ulb_team *team, struct ulb_team_gemm *job)
{
    ulb_split_reset(job->split);
    ulb_kernel_doing(job->kernel, job->gemm.m, job->gemm.k, job->gemm.n);
    ulb_team_run(team, run_part, job);
    ulb_doing_end();
}

/* Rows of a call that each thread reads ULB_WARM_UP_BYTES in. */
static size_t warm_up_rows(const struct ulb_team_gemm *job)
{
    const struct ulb_row_split *split = job->split;
    const struct ulb_gemm *g = &job->gemm;
    const size_t bytes = ulb_layout_read_bytes(job->kernel->layout, g->m, g->k);
    const double share = (double)ULB_WARM_UP_BYTES * (double)split->threads / (double)bytes;
    const size_t rows = ulb_round_up((size_t)(share * (double)g->m) + 1, split->grain * split->threads);
    return rows < g->m ? rows : g->m;
}

void ulb_team_gemm_warm_up(struct ulb_team *team, const struct ulb_team_gemm *job, struct ulb_arena *arena)
{
    struct ulb_row_split split = *job->split;
    struct ulb_team_gemm lead = *job;
    const double begin = ulb_now();
    if (ulb_emulator())
        return;
    split.m = lead.gemm.m = warm_up_rows(job);
    lead.split = &split;
    do {
        lead.gemm.w = ulb_arena_next(arena, ulb_layout_bytes(job->kernel->layout, lead.gemm.m, lead.gemm.k),
                                     ULB_CACHE_LINE);
        ulb_team_gemm_run(team, &lead);
    } while (ulb_now() - begin < ULB_WARM_UP_SECONDS);
}
