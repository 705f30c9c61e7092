#include "harness/grid/grid.h"

#include "common/units.h"
#include "harness/grid/prediction.h"
#include "harness/compute/prefetch_tuning.h"
#include "common/stats.h"
#include "models/models.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

/* Below this fraction of a plain read of as many bytes a kernel that the roofline calls memory-bound waits
 * for latency instead. */
static const double RUNS_AHEAD = 0.80;

/* Without a prediction, for many tokens: which limit is nearer. */
static void write_limits(struct ulb_cell *cell)
{
    bool computes = cell->peak_share > cell->efficiency;
    cell->verdict[0] = '\0';
    if (isnan(cell->peak_share)) {
        snprintf(cell->verdict, sizeof cell->verdict, "%.0f %% of the yardstick; no compute limit is known",
                 100 * cell->efficiency);
        return;
    }
    snprintf(cell->bound, sizeof cell->bound, "%s",
             ulb_bound_name(computes ? ULB_BOUND_COMPUTE : ULB_BOUND_MEMORY));
    snprintf(cell->verdict, sizeof cell->verdict,
             "%s is nearer: %.0f %% of the yardstick, %.0f %% of the compute limit",
             computes ? "compute" : "memory", 100 * cell->efficiency, 100 * cell->peak_share);
}

static void write_verdict(struct ulb_cell *cell, const struct ulb_kernel *kernel,
                          const struct ulb_gemv_prediction *prediction, double gamma)
{
    double percent = 100 * cell->efficiency;
    if (isnan(prediction->seconds))
        snprintf(cell->verdict, sizeof cell->verdict, "%.0f %% of the yardstick; no gamma, so no prediction",
                 percent);
    else if (prediction->bound == ULB_BOUND_COMPUTE)
        snprintf(cell->verdict, sizeof cell->verdict, "compute-bound: gamma %.2f allows %.2f B/cycle", gamma,
                 ulb_compute_ceiling(kernel->bytes_per_step, gamma));
    else if (prediction->bound == ULB_BOUND_OVERHEAD)
        snprintf(cell->verdict, sizeof cell->verdict, "overhead-bound: fork/join is most of the time");
    else if (isnan(cell->read_share))
        snprintf(cell->verdict, sizeof cell->verdict, "memory-bound, %.0f %% of the yardstick", percent);
    else
        snprintf(cell->verdict, sizeof cell->verdict,
                 "memory-bound, %.0f %% of the yardstick, %.0f %% of a plain read of its size%s", percent,
                 100 * cell->read_share, cell->read_share < RUNS_AHEAD ? ": loads do not run ahead" : "");
}

static void name_cell(const struct ulb_grid *grid, const struct ulb_grid_cell *from, struct ulb_cell *cell)
{
    ulb_kernel_name(from->kernel, cell->kernel);
    snprintf(cell->layout, sizeof cell->layout, "%s", from->kernel->layout->name);
    snprintf(cell->format, sizeof cell->format, "%s", from->kernel->layout->format->name);
    snprintf(cell->model, sizeof cell->model, "%s", from->model);
    if (from->layer)
        snprintf(cell->layer, sizeof cell->layer, "%s", from->layer);
    else
        snprintf(cell->layer, sizeof cell->layer, "%zux%zu", from->m, from->k);
    snprintf(cell->set, sizeof cell->set, "%s", grid->plan.settings->set ? grid->plan.settings->set : "all");
    snprintf(cell->split, sizeof cell->split, "%s", ulb_split_name(grid->plan.settings->splits[0]));
    snprintf(cell->mode, sizeof cell->mode, "%s", grid->plan.settings->warm ? "warm" : "cold");
    snprintf(cell->prefetch, sizeof cell->prefetch, "%s",
             ulb_prefetch_name(from->kernel, from->n, from->prefetch));
}

/* Median over the samples of their own share of what a limit, sampled around each round, does in a second.
 */
static double share_of(const struct ulb_grid_cell *cell, double work, const double *limit)
{
    double *shares = malloc(cell->n_samples * sizeof *shares);
    if (!shares)
        return NAN;
    size_t n = 0;
    for (; n < cell->n_samples && n / cell->per_round < cell->n_rounds; n++)
        shares[n] = work / (cell->us[n] * 1e-6) / limit[n / cell->per_round];
    double median = ulb_median(shares, n);
    free(shares);
    return median;
}

double ulb_grid_efficiency(const struct ulb_grid_cell *cell)
{
    return share_of(cell, (double)cell->bytes, cell->round_yardstick);
}

/* Of each round:
 * - the time over that predicted for the machine around it, with the kernel's overlap;
 * - the same by the roofline alone;
 * - the time in readings of the yardstick;
 * - the time of a plain read of as many bytes over it. */
enum { OVERLAP, PLAIN, YARDSTICK, READ, RATIOS };

static void ratios_of(struct ulb_grid *grid, const struct ulb_grid_cell *cell, double *ratios[RATIOS])
{
    for (size_t round = 0; round < cell->n_rounds; round++) {
        double seconds = ulb_cell_round_seconds(cell, round);
        ratios[YARDSTICK][round] = seconds * cell->round_yardstick[round] / (double)cell->bytes;
        ratios[READ][round] = cell->read_us[round] * 1e-6 / seconds;
        if (!grid->plan.predicts)
            continue;
        struct ulb_prediction then = ulb_predict_cell_round(grid, cell, round);
        ratios[OVERLAP][round] = seconds / ulb_prediction_seconds(grid, cell, &then);
        ratios[PLAIN][round] = seconds / then.plain.seconds;
    }
}

/* Medians of the ratios, NAN where one is, and how well the first that is known is known: half its 95 %
 * interval, relative. */
static double medians_of(struct ulb_grid *grid, const struct ulb_grid_cell *cell, double medians[RATIOS])
{
    size_t n = cell->n_rounds;
    double *storage = malloc((RATIOS * n + 1) * sizeof *storage), noise = NAN;
    double *ratios[RATIOS];
    for (size_t i = 0; i < RATIOS; i++)
        medians[i] = NAN;
    if (!storage)
        return NAN;
    for (size_t i = 0; i < RATIOS; i++)
        ratios[i] = storage + i * n;
    for (size_t i = 0; i < RATIOS * n; i++)
        storage[i] = NAN;
    ratios_of(grid, cell, ratios);
    for (size_t i = 0; i < RATIOS; i++) {
        medians[i] = ulb_median_of(ratios[i], n);
        if (isnan(noise) && !isnan(medians[i])) {
            struct ulb_stats stats = ulb_stats_of(ratios[i], n, grid->plan.settings->seed);
            noise = (stats.ci_hi - stats.ci_lo) / 2 / stats.median;
        }
    }
    free(storage);
    return noise;
}

/* The fields of a prediction; without one they are absent, with the reason. */
static void predict_result(struct ulb_grid *grid, const struct ulb_grid_cell *from,
                           const double medians[RATIOS], struct ulb_cell *cell)
{
    struct ulb_prediction prediction = ulb_predict_cell_mostly(grid, from);
    cell->gamma_cycles = prediction.gamma;
    cell->residual = medians[OVERLAP] - 1;
    cell->residual_plain = medians[PLAIN] - 1;
    cell->predicted_us = cell->us / medians[OVERLAP];
    cell->predicted_plain_us = cell->us / medians[PLAIN];
    if (isnan(cell->predicted_us) && !isnan(cell->predicted_plain_us))
        snprintf(cell->predicted_reason, sizeof cell->predicted_reason, "%s",
                 grid->plan.settings->warm ? "the overlap is measured with cold weights"
                 : isnan(grid->overlaps[from->kernel_index].c)
                     ? "the kernel's overlap was not measured"
                     : "the overlap, measured on disturbed times, leaves this cell none");
    if (!isnan(cell->predicted_plain_us))
        snprintf(cell->bound, sizeof cell->bound, "%s", ulb_bound_name(prediction.plain.bound));
    write_verdict(cell, from->kernel, &prediction.plain, prediction.gamma);
}

static void no_prediction(struct ulb_cell *cell)
{
    cell->gamma_cycles = cell->predicted_us = cell->predicted_plain_us = NAN;
    cell->residual = cell->residual_plain = NAN;
    snprintf(cell->predicted_reason, sizeof cell->predicted_reason, "the models are of one token");
    write_limits(cell);
}

void ulb_grid_result(struct ulb_grid *grid, size_t ring_bytes, struct ulb_grid_cell *from,
                     struct ulb_cell *cell)
{
    struct ulb_stats us = ulb_stats_of(from->us, from->n_samples, grid->plan.settings->seed);
    struct ulb_stats round_yardstick =
        ulb_stats_of(from->round_yardstick, from->n_rounds, grid->plan.settings->seed);
    double ops = 2 * (double)from->m * (double)from->k * (double)from->n;
    *cell = (struct ulb_cell){
        .m = from->m,
        .k = from->k,
        .n = from->n,
        .threads = (unsigned)grid->plan.machine->pus.n,
        .us = us.median,
        .us_mad = us.mad,
        .us_min = us.min,
        .us_ci_lo = us.ci_lo,
        .us_ci_hi = us.ci_hi,
        .gbps = (double)from->bytes / us.median * 1e6 / ULB_GB,
        .gops = 1e-3 * ops / us.median,
        .yardstick_gbps = round_yardstick.median / ULB_GB,
        .peak_gops = ulb_median_of(from->round_peak, from->n_rounds),
        .peak_reason = "no loop for the compute limit runs here",
        .weight_bytes = from->bytes,
        .ring_bytes = grid->plan.settings->warm ? from->bytes : ring_bytes,
        .verified = true,
        .samples_per_round = from->per_round,
        .noise_floor = NAN, /* judged when all cells are in the record */
        .n_samples = from->n_samples,
        .us_samples = from->us,
        .n_disturbed = from->n_disturbed,
        .disturbed_samples = from->disturbed,
    };
    double medians[RATIOS];
    cell->noise = medians_of(grid, from, medians);
    cell->efficiency = ulb_grid_efficiency(from);
    cell->read_share = medians[READ];
    cell->peak_share = share_of(from, 1e-9 * ops, from->round_peak);
    name_cell(grid, from, cell);
    if (grid->plan.predicts)
        predict_result(grid, from, medians, cell);
    else
        no_prediction(cell);
}
