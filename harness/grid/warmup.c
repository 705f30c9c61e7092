/* What a grid does once before its rounds: warms its cells up and chooses where their prefetches go. */
#include "harness/grid/grid.h"

#include "common/emulation.h"
#include "common/stats.h"
#include "harness/bandwidth/read_bandwidth.h"
#include "harness/session/checkpoint.h"
#include "harness/compute/prefetch_tuning.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    WARM_UP_LEAST = 2, /* a call during which something else ran is no measure of its length */
    WARM_UP_MAX = 8,
    TIMER_STEPS = 100
};
static const double STILL_GETTING_FASTER = 0.95;

/* One sample of a call longer than this tells a round: seconds. */
static const double LONG_CALL = 3e-3;

/* Runs until it stops getting faster; the shortest call, seconds. */
static double warm_up(struct ulb_cell_sample *sample)
{
    double best = ulb_cell_sample_time(sample, 1);
    for (int i = 0; i < WARM_UP_MAX && !ulb_emulator(); i++) {
        double now = ulb_cell_sample_time(sample, 1);
        bool faster = now < best * STILL_GETTING_FASTER;
        best = now < best ? now : best;
        if (!faster && i >= WARM_UP_LEAST)
            break;
    }
    return best;
}

/* The calls that make a sample long against the timer, and the samples of a round. */
static void set_batch(struct ulb_grid_cell *cell, double seconds)
{
    double least = TIMER_STEPS * ulb_timer_step();
    cell->batch = seconds >= least ? 1 : (size_t)ceil(least / seconds);
    if (seconds > LONG_CALL)
        cell->per_round = 1;
}

static double time_batch(void *arg)
{
    struct ulb_cell_sample *sample = arg;
    return ulb_cell_sample_time(sample, sample->cell->batch);
}

/* An emulator's times say nothing of where prefetches should go. */
static void warm_up_cell(struct ulb_session *session, struct ulb_grid *grid, struct ulb_grid_cell *cell)
{
    struct ulb_cell_sample sample;
    ulb_cell_sample_open(&sample, session, grid, cell);
    set_batch(cell, warm_up(&sample));
    if (!ulb_prefetch_chosen(cell->kernel, cell->n) || ulb_emulator())
        return;
    size_t n = cell->per_round > 1 ? ULB_PREFETCH_SAMPLES : ULB_PREFETCH_SAMPLES_LONG;
    struct ulb_prefetch_candidates candidates = ulb_prefetch_candidates(cell->kernel, cell->n);
    struct ulb_prefetch_times times =
        ulb_prefetch_compare(&sample.job.gemm.prefetch, candidates, n, time_batch, &sample);
    memcpy(cell->candidate_ratios, times.ratios, sizeof cell->candidate_ratios);
    double fastest = times.medians[0];
    for (size_t candidate = 1; candidate < candidates.n; candidate++)
        fastest = fmin(fastest, times.medians[candidate]);
    set_batch(cell, fastest);
}

static enum ulb_status process_cell(struct ulb_session *session, struct ulb_grid *grid,
                                    struct ulb_grid_cell *cell, struct ulb_error *err)
{
    char name[ULB_KERNEL_NAME_MAX];
    struct ulb_journal_entry entry;
    const json_t *saved;
    enum ulb_status status = ulb_entry_begin(session, &entry, &saved, err, "warm-up: %s %zux%zu, %zu",
                                             ulb_kernel_name(cell->kernel, name), cell->m, cell->k, cell->n);
    if (status != ULB_OK)
        return status;
    if (saved)
        return ulb_grid_warm_up_from_json(grid, cell, saved) ? ULB_OK : ulb_entry_damaged(&entry, err);
    warm_up_cell(session, grid, cell);
    status = ulb_team_check(session->machine.team, err);
    if (status != ULB_OK || !session->journal)
        return status;
    return ulb_entry_end(session, &entry, ulb_grid_warm_up_to_json(cell), err);
}

static bool same_kernel(const struct ulb_grid_cell *a, const struct ulb_grid_cell *b)
{
    return a->kernel_index == b->kernel_index && a->n == b->n;
}

/* The candidate of a cell's prefetches, by all cells of its kernel and number of tokens. ratios: room for as
 * many.
 */
static size_t best_candidate(const struct ulb_grid *grid, const struct ulb_grid_cell *cell, double *ratios)
{
    double medians[ULB_PREFETCH_CANDIDATES];
    for (size_t candidate = 0; candidate < ULB_PREFETCH_CANDIDATES; candidate++) {
        size_t n = 0;
        for (size_t i = 0; i < grid->n; i++) {
            const struct ulb_grid_cell *other = &grid->cells[i];
            if (same_kernel(other, cell) && !isnan(other->candidate_ratios[candidate]))
                ratios[n++] = other->candidate_ratios[candidate];
        }
        medians[candidate] = ulb_median(ratios, n);
    }
    return ulb_prefetch_best(medians);
}

enum ulb_status ulb_grid_warm_up(struct ulb_session *session, struct ulb_grid *grid, struct ulb_error *err)
{
    enum ulb_status status = ULB_OK;
    double *ratios = calloc(grid->n, sizeof *ratios);
    if (!ratios)
        return ulb_fail(err, ULB_ENVIRONMENT, "not enough memory to warm up %zu cells", grid->n);
    for (size_t i = 0; i < grid->n && status == ULB_OK; i++) {
        ulb_session_progress(session, "warm-up", (double)i / (double)grid->n);
        status = process_cell(session, grid, &grid->cells[i], err);
        if (status == ULB_OK)
            status = ulb_session_check(session, err);
    }
    for (size_t i = 0; i < grid->n && status == ULB_OK; i++) {
        struct ulb_grid_cell *cell = &grid->cells[i];
        cell->prefetch =
            ulb_prefetch_candidates(cell->kernel, cell->n).at[best_candidate(grid, cell, ratios)];
    }
    free(ratios);
    return status;
}
