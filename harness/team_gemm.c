#include "harness/team_gemm.h"

#include "harness/counters/marker.h"

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
    ulb_team_run(team, run_part, job);
}
