#include "harness/grid/overlap_calibration.h"

#include "harness/grid/calibration_shapes.h"
#include "harness/grid/prediction.h"
#include "common/stats.h"
#include "models/models.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { FIT_STEPS = 5 };

/* Over all rounds: the median of measured / modelled, with the model as it is so far, for the machine around
 * each round. In seconds of the machine as it mostly was. ratios: room for one per round. */
static struct ulb_overlap_point point_of_run(struct ulb_grid *grid, const struct ulb_grid_cell *cell,
                                             const struct ulb_overlap *so_far, double *ratios)
{
    double columns = (double)cell->k;
    struct ulb_prediction mostly = ulb_predict_cell_mostly(grid, cell);
    for (size_t round = 0; round < cell->n_rounds; round++) {
        struct ulb_prediction then = ulb_predict_cell_round(grid, cell, round);
        ratios[round] = ulb_cell_round_seconds(cell, round) /
                        ulb_predict_overlap(&then.plain, then.tiles, columns, so_far);
    }
    double seconds = ulb_median_of(ratios, cell->n_rounds) *
                     ulb_predict_overlap(&mostly.plain, mostly.tiles, columns, so_far);
    return (struct ulb_overlap_point){seconds, mostly.plain, mostly.tiles, columns};
}

/* The overlap under which the median of the rounds of each calibrating cell comes out. The machine changes
 * from round to round, and what a change does to a cell depends on the overlap. From no overlap a few steps
 * reach it. */
static struct ulb_overlap overlap_of_run(struct ulb_grid *grid, const struct ulb_grid_cell *first,
                                         double *ratios)
{
    struct ulb_overlap overlap = {0};
    for (int step = 0; step < FIT_STEPS && !isnan(overlap.c); step++) {
        struct ulb_overlap_point points[ULB_OVERLAP_SHAPES];
        for (size_t i = 0; i < ULB_OVERLAP_SHAPES; i++)
            points[i] = point_of_run(grid, &first[i], &overlap, ratios);
        overlap = ulb_overlap_fit(points, ULB_OVERLAP_SHAPES, first->kernel->uses_lut);
    }
    return overlap;
}

static struct ulb_overlap_point point_of_round(struct ulb_grid *grid, const struct ulb_grid_cell *cell,
                                               size_t round)
{
    struct ulb_prediction then = ulb_predict_cell_round(grid, cell, round);
    return (struct ulb_overlap_point){ulb_cell_round_seconds(cell, round), then.plain, then.tiles,
                                      (double)cell->k};
}

static void name_cell(const struct ulb_grid *grid, const struct ulb_grid_cell *first,
                      struct ulb_overlap_cell *cell)
{
    size_t used = 0;
    ulb_kernel_name(first->kernel, cell->kernel);
    snprintf(cell->format, sizeof cell->format, "%s", first->kernel->layout->format->name);
    snprintf(cell->set, sizeof cell->set, "%s", grid->plan.settings->set ? grid->plan.settings->set : "all");
    for (size_t i = 0; i < ULB_OVERLAP_SHAPES; i++)
        used += (size_t)snprintf(cell->shapes + used, sizeof cell->shapes - used, "%s%zux%zu", i ? "," : "",
                                 first[i].m, first[i].k);
}

/* The overlap of the kernel whose calibrating cells begin at first. samples has room for one c per round. */
static void measure_kernel(struct ulb_grid *grid, const struct ulb_grid_cell *first, double *samples,
                           struct ulb_overlap_cell *cell)
{
    struct ulb_overlap_point points[ULB_OVERLAP_SHAPES];
    struct ulb_overlap *overlap = &grid->overlaps[first->kernel_index];
    size_t rounds = grid->plan.rounds;
    for (size_t i = 0; i < ULB_OVERLAP_SHAPES; i++)
        rounds = first[i].n_rounds < rounds ? first[i].n_rounds : rounds;
    *cell =
        (struct ulb_overlap_cell){.threads = (unsigned)grid->plan.machine->pus.n, .overlap_samples = samples};
    name_cell(grid, first, cell);
    if (rounds > 0)
        *overlap = overlap_of_run(grid, first, samples);
    for (size_t round = 0; round < rounds && !isnan(overlap->c); round++) {
        for (size_t i = 0; i < ULB_OVERLAP_SHAPES; i++)
            points[i] = point_of_round(grid, &first[i], round);
        samples[cell->n_samples++] = ulb_overlap_refit(points, ULB_OVERLAP_SHAPES, overlap);
    }
    cell->overlap = overlap->c;
    cell->overlap_mad = ulb_stats_of(samples, cell->n_samples, grid->plan.settings->seed).mad;
    cell->tile_us = 1e6 * overlap->tile_s;
    cell->call_us = 1e6 * overlap->call_s;
    cell->column_ns = 1e9 * overlap->column_s;
    if (isnan(overlap->c))
        snprintf(cell->reason, sizeof cell->reason, "%s",
                 rounds > 0 ? "no gamma, so no times to overlap" : "interrupted before it was measured");
}

enum ulb_status ulb_overlap_measure(struct ulb_grid *grid, struct ulb_record *record, struct ulb_error *err)
{
    double *samples = calloc(grid->plan.rounds, sizeof *samples);
    if (!samples)
        return ulb_fail(err, ULB_ENVIRONMENT, "not enough memory for the samples of the overlap");
    enum ulb_status status = ULB_OK;
    for (size_t i = grid->judged; i < grid->n && status == ULB_OK; i += ULB_OVERLAP_SHAPES) {
        struct ulb_overlap_cell cell;
        measure_kernel(grid, &grid->cells[i], samples, &cell);
        status = ulb_record_add_overlap(record, &cell, err);
    }
    free(samples);
    return status;
}
