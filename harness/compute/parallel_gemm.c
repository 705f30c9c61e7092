#include "harness/compute/parallel_gemm.h"

#include "common/doing.h"
#include "common/emulation.h"
#include "harness/timing/stopwatch.h"
#include "harness/counters/marker.h"
#include "harness/memory/cold_ring.h"
#include "harness/verify/test_case.h"
#include "kernels/activations.h"

/* Tokens of a part: whole N-blocks of any kernel (kernels/gemm_blocked.h). */
enum { PART_TOKENS = 128 };

struct ulb_row_split ulb_gemm_split(enum ulb_split kind, const struct ulb_kernel *kernel, size_t m, size_t n,
                                    size_t threads, const double *thread_shares,
                                    struct ulb_tile_range *ranges)
{
    struct ulb_row_split split = ulb_split_of(kind, m, kernel->mr, threads, thread_shares, ranges);
    split.parts = kernel->uses_lut ? 1 : n / PART_TOKENS; /* tables are built once for all rows of a call */
    return split;
}

static size_t first_token(const struct ulb_gemm *g, const struct ulb_row_split *split, size_t part)
{
    return part == split->parts ? g->n : part * PART_TOKENS;
}

void ulb_gemm_skip_inputs(struct ulb_gemm *g, enum ulb_activation activation, size_t tokens)
{
    g->x = (const char *)g->x + tokens * g->x_stride * ulb_activation_bytes(activation);
    g->x_scale += tokens * g->x_scale_stride;
    g->x_sums += tokens * g->x_sums_stride;
    g->x_sum += tokens;
    g->x_zero += tokens;
}

struct ulb_gemm ulb_gemm_piece(const struct ulb_gemm *all, enum ulb_activation activation,
                               const struct ulb_row_split *split, const struct ulb_split_piece *piece)
{
    struct ulb_gemm g = *all;
    const size_t first = first_token(all, split, piece->part0);
    g.m0 = piece->m0;
    g.m1 = piece->m1;
    g.n = first_token(all, split, piece->part1) - first;
    ulb_gemm_skip_inputs(&g, activation, first);
    g.y += first * all->y_stride;
    return g;
}

static void run_pieces(const struct ulb_team_gemm *job, size_t thread)
{
    struct ulb_split_piece piece;
    while (ulb_split_next_piece(job->split, thread, &piece)) {
        struct ulb_gemm mine = ulb_gemm_piece(&job->gemm, job->kernel->activation, job->split, &piece);
        job->kernel->run(&mine);
    }
}

static void run_rows(const struct ulb_team_gemm *job, size_t thread)
{
    struct ulb_gemm mine = job->gemm;
    struct ulb_split_rows rows = {job->split, thread};
    mine.more = ulb_split_more;
    mine.rows = &rows;
    while (ulb_split_more(&rows, &mine.m0, &mine.m1))
        job->kernel->run(&mine);
}

static void run_part(void *arg, size_t thread)
{
    const struct ulb_team_gemm *job = arg;
    ulb_marker_start("gemv");
    (job->split->parts > 1 ? run_pieces : run_rows)(job, thread);
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
