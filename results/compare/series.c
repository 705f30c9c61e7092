#include "results/compare/series.h"

#include "common/stats.h"
#include "results/compare/series_private.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROUNDS_FOR_HALVES = 4, ROUNDS_MAX = 1024 };
static const double MAD_TO_DEVIATION = 1.4826, MARKED_TOO_OFTEN = 0.9;

static enum ulb_status no_memory(struct ulb_error *err)
{
    return ulb_fail(err, ULB_ENVIRONMENT, "not enough memory for the samples of the record");
}

/* Room for n values; gbps and hz not known. */
static bool allocate(struct ulb_series *series, size_t n)
{
    series->log_cost = malloc((3 * n + 1) * sizeof *series->log_cost);
    if (!series->log_cost)
        return false;
    series->gbps = series->log_cost + n;
    series->hz = series->gbps + n;
    for (size_t i = 0; i < 2 * n; i++)
        series->gbps[i] = NAN;
    series->memory_share = series->noise_floor = NAN;
    return true;
}

static void append(struct ulb_series *series, double cost, double gbps, double hz)
{
    series->log_cost[series->n] = log(cost);
    series->gbps[series->n] = gbps;
    series->hz[series->n++] = hz;
}

enum ulb_status ulb_series_from_costs(struct ulb_series *series, const double *costs, size_t n,
                                      struct ulb_error *err)
{
    size_t step = (n + ROUNDS_MAX - 1) / ROUNDS_MAX; /* of very many every so manieth */
    if (!allocate(series, n))
        return no_memory(err);
    for (size_t i = 0; i < n; i += step) {
        if (costs[i] > 0 && isfinite(costs[i]))
            append(series, costs[i], NAN, NAN);
    }
    return ULB_OK;
}

/* ---- cells ---- */

/* Whether the marks of disturbed samples tell anything: where nearly all are marked, it is the monitor that
 * had learnt wrongly what an interference-free core does. */
static bool marks_tell(const struct ulb_cell *cells, size_t n)
{
    double marked = 0, all = 0;
    for (size_t i = 0; i < n; i++) {
        marked += (double)cells[i].n_disturbed;
        all += (double)cells[i].n_samples;
    }
    return marked < MARKED_TOO_OFTEN * all;
}

/* Marks the samples that were disturbed; NULL without memory. */
static bool *mark_disturbed(const struct ulb_cell *cell, bool marks_count)
{
    bool *marks = calloc(cell->n_samples + 1, sizeof *marks);
    for (size_t i = 0; marks && marks_count && i < cell->n_disturbed; i++) {
        double place = cell->disturbed_samples[i];
        if (place >= 0 && place < (double)cell->n_samples)
            marks[(size_t)place] = true;
    }
    return marks;
}

/* Samples of one round; older records do not say, and then it follows from the yardstick's rounds. */
static size_t round_size(const struct ulb_cell *cell, const struct ulb_yardstick *yardstick)
{
    size_t rounds = yardstick ? yardstick->n_samples : 0;
    if (cell->samples_per_round > 0)
        return cell->samples_per_round;
    return rounds > 0 && cell->n_samples % rounds == 0 && cell->n_samples > 0 ? cell->n_samples / rounds : 1;
}

/* The best sample from begin to end that is a time and that, with marks, nothing disturbed; NAN when there is
 * none. */
static double best_of(const struct ulb_cell *cell, const bool *marks, size_t begin, size_t end)
{
    double best = NAN;
    for (size_t i = begin; i < end && i < cell->n_samples; i++) {
        double us = cell->us_samples[i];
        if (!(marks && marks[i]) && us > 0 && isfinite(us) && !(us >= best))
            best = us;
    }
    return best;
}

static double p95_of(const struct ulb_cell *cell)
{
    double *sorted = malloc((cell->n_samples + 1) * sizeof *sorted), p95 = NAN;
    if (!sorted)
        return NAN;
    memcpy(sorted, cell->us_samples, cell->n_samples * sizeof *sorted);
    ulb_sort(sorted, cell->n_samples);
    if (cell->n_samples > 0)
        p95 = ulb_quantile(sorted, cell->n_samples, 0.95);
    free(sorted);
    return p95;
}

static double positive_or_nan(double value)
{
    return value > 0 && isfinite(value) ? value : NAN;
}

static const struct ulb_yardstick *yardstick_of(const struct ulb_yardstick *yardsticks, size_t n,
                                                const struct ulb_cell *cell)
{
    for (size_t i = 0; i < n; i++) {
        if (yardsticks[i].threads == cell->threads && strcmp(yardsticks[i].set, cell->set) == 0)
            return &yardsticks[i];
    }
    return NULL;
}

/* Share of the time that the yardstick would need for the bytes, over the rounds. */
static double memory_share(const struct ulb_series *series, double bytes)
{
    double *shares = malloc((series->n + 1) * sizeof *shares), share;
    if (!shares)
        return NAN;
    for (size_t i = 0; i < series->n; i++)
        shares[i] = bytes / (1e3 * series->gbps[i] * exp(series->log_cost[i]));
    share = ulb_median_of(shares, series->n);
    free(shares);
    return isnan(share) ? NAN : fmin(share, 1);
}

static enum ulb_status read_cell(const struct ulb_cell *cell, const struct ulb_yardstick *yardstick,
                                 enum ulb_metric metric, bool marks_count, struct ulb_series *out,
                                 struct ulb_error *err)
{
    bool tail = metric == ULB_METRIC_P95; /* of every sample, whatever disturbed it */
    size_t size = tail ? 1 : round_size(cell, yardstick), rounds = (cell->n_samples + size - 1) / size;
    bool *disturbed = mark_disturbed(cell, marks_count && !tail), moves = metric == ULB_METRIC_EFFICIENCY;
    rounds = rounds < ROUNDS_MAX ? rounds : ROUNDS_MAX;
    if (!disturbed || !allocate(out, rounds)) {
        free(disturbed);
        return no_memory(err);
    }
    for (int pass = 0; pass < 2; pass++) {
        for (size_t r = 0; r < rounds; r++) {
            double clean = best_of(cell, disturbed, r * size, (r + 1) * size);
            double us = pass == 0 ? clean : best_of(cell, NULL, r * size, (r + 1) * size);
            bool known = moves && yardstick && r < yardstick->n_samples;
            if (isnan(us) || isnan(clean) != (pass == 1))
                continue;
            append(out, us, known ? positive_or_nan(yardstick->gbps_samples[r]) : NAN,
                   known && r < yardstick->n_hz ? positive_or_nan(yardstick->hz_samples[r]) : NAN);
            out->disturbed += (size_t)pass;
        }
    }
    out->n -= out->disturbed;
    free(disturbed);
    out->value = metric == ULB_METRIC_US     ? cell->us
                 : metric == ULB_METRIC_GBPS ? cell->gbps
                 : metric == ULB_METRIC_P95  ? p95_of(cell)
                                             : cell->efficiency;
    out->noise_floor = cell->noise_floor;
    if (moves && strcmp(cell->mode, "cold") == 0)
        out->memory_share = memory_share(out, (double)cell->weight_bytes);
    return ULB_OK;
}

static enum ulb_status read_cells(const struct ulb_record *record, enum ulb_metric metric,
                                  struct ulb_series **out, size_t *n, struct ulb_error *err)
{
    struct ulb_cell *cells = NULL;
    struct ulb_yardstick *yardsticks = NULL;
    size_t n_cells = 0, n_yardsticks = 0;
    enum ulb_status status = ulb_record_cells(record, &cells, &n_cells, err);
    if (status == ULB_OK)
        status = ulb_record_yardsticks(record, &yardsticks, &n_yardsticks, err);
    if (status == ULB_OK && !(*out = calloc(n_cells + 1, sizeof **out)))
        status = no_memory(err);
    const char *cycles = ulb_record_text(record, "clock.cycles_source");
    bool marks_count = marks_tell(cells, n_cells);
    for (size_t i = 0; i < n_cells && status == ULB_OK; i++) {
        struct ulb_series *series = &(*out)[(*n)++];
        ulb_cell_key(&cells[i], cycles, series->key);
        snprintf(series->kernel, sizeof series->kernel, "%s", cells[i].kernel);
        status = read_cell(&cells[i], yardstick_of(yardsticks, n_yardsticks, &cells[i]), metric, marks_count,
                           series, err);
    }
    ulb_cells_free(cells, n_cells);
    ulb_yardsticks_free(yardsticks, n_yardsticks);
    return status;
}

/* ---- gamma, counts ---- */

static enum ulb_status read_gammas(const struct ulb_record *record, struct ulb_series **out, size_t *n,
                                   struct ulb_error *err)
{
    struct ulb_gamma_cell *cells;
    size_t n_cells;
    enum ulb_status status = ulb_record_gamma_cells(record, &cells, &n_cells, err);
    if (status == ULB_OK && !(*out = calloc(n_cells + 1, sizeof **out)))
        status = no_memory(err);
    const char *cycles = ulb_record_text(record, "gamma.cycles_source");
    for (size_t i = 0; i < n_cells && status == ULB_OK; i++) {
        struct ulb_series *series = &(*out)[(*n)++];
        ulb_gamma_key(&cells[i], cycles, series->key);
        series->value = cells[i].gamma_cycles;
        status = ulb_series_from_costs(series, cells[i].gamma_samples, cells[i].n_samples, err);
    }
    ulb_gamma_cells_free(cells, n_cells);
    return status;
}

static enum ulb_status read_counts(const struct ulb_record *record, struct ulb_series **out, size_t *n,
                                   struct ulb_error *err)
{
    struct ulb_count_cell *cells;
    size_t n_cells;
    enum ulb_status status = ulb_record_counts(record, &cells, &n_cells, err);
    if (status == ULB_OK && !(*out = calloc(n_cells + 1, sizeof **out)))
        status = no_memory(err);
    for (size_t i = 0; i < n_cells && status == ULB_OK; i++) {
        if (isnan(cells[i].instructions_per_step))
            continue;
        struct ulb_series *series = &(*out)[(*n)++];
        ulb_count_key(&cells[i], series->key);
        snprintf(series->kernel, sizeof series->kernel, "%s", cells[i].kernel);
        series->value = cells[i].instructions_per_step;
        status = ulb_series_from_costs(series, &series->value, 1, err);
    }
    ulb_counts_free(cells, n_cells);
    return status;
}

/* ---- all ---- */

enum ulb_status ulb_series_read(const struct ulb_record *record, enum ulb_metric metric,
                                struct ulb_series **out, size_t *n, struct ulb_error *err)
{
    *out = NULL;
    *n = 0;
    enum ulb_status status = ULB_OK;
    switch (metric) {
    case ULB_METRIC_EFFICIENCY:
    case ULB_METRIC_US:
    case ULB_METRIC_GBPS:
    case ULB_METRIC_P95:
        status = read_cells(record, metric, out, n, err);
        break;
    case ULB_METRIC_GAMMA:
        status = read_gammas(record, out, n, err);
        break;
    case ULB_METRIC_INSTRUCTIONS:
        status = read_counts(record, out, n, err);
        break;
    case ULB_METRIC_TPS:
    case ULB_METRIC_JOULE:
        status = ulb_series_read_decode(record, metric, out, n, err);
        break;
    case ULB_METRICS:
        break;
    }
    if (status != ULB_OK) {
        ulb_series_free(*out, *n);
        *out = NULL;
        *n = 0;
    }
    return status;
}

void ulb_series_free(struct ulb_series *series, size_t n)
{
    for (size_t i = 0; series && i < n; i++)
        free(series[i].log_cost); /* gbps and hz are parts of it */
    free(series);
}

const struct ulb_series *ulb_series_find(const struct ulb_series *series, size_t n, const char *key)
{
    for (size_t i = 0; i < n; i++) {
        if (strcmp(series[i].key, key) == 0)
            return &series[i];
    }
    return NULL;
}

/* How many times slower the part is that goes with a speed, there than here; 1 where it is not known. */
static double slower(double here, double there)
{
    double ratio = here / there;
    return isnan(ratio) ? 1 : ratio;
}

void ulb_series_move(const struct ulb_series *series, struct ulb_machine_state to, double sharpness,
                     double *out)
{
    double share = isnan(series->memory_share) ? 0 : pow(series->memory_share, sharpness);
    for (size_t i = 0; i < series->n; i++) {
        double memory = slower(series->gbps[i], to.gbps), rest = slower(series->hz[i], to.hz);
        out[i] = series->log_cost[i] +
                 log(share * pow(memory, sharpness) + (1 - share) * pow(rest, sharpness)) / sharpness;
    }
}

struct ulb_machine_state ulb_series_state(const struct ulb_series *series)
{
    return (struct ulb_machine_state){ulb_median_of(series->gbps, series->n),
                                      ulb_median_of(series->hz, series->n)};
}

/* ---- noise ---- */

/* |ln| of the second half of the rounds over the first; NAN when they are too few. */
static double halves(const struct ulb_series *series, double *room)
{
    size_t half = series->n / 2;
    if (series->n < ROUNDS_FOR_HALVES)
        return NAN;
    ulb_series_move(series, ulb_series_state(series), ULB_ROOF_SHARPNESS, room);
    return fabs(ulb_median_of(room, half) - ulb_median_of(room + series->n - half, half));
}

enum ulb_status ulb_series_pool_noise(struct ulb_series *series, const double *own, size_t n,
                                      struct ulb_error *err)
{
    double *kernels = malloc((n + 1) * sizeof *kernels);
    if (!kernels)
        return no_memory(err);
    for (size_t i = 0; i < n; i++) {
        size_t count = 0;
        for (size_t j = 0; j < n; j++) {
            if (!isnan(own[j]) && strcmp(series[j].kernel, series[i].kernel) == 0)
                kernels[count++] = own[j];
        }
        double usual = MAD_TO_DEVIATION * ulb_median(kernels, count);
        series[i].noise_floor = isnan(own[i]) ? NAN : expm1(fmax(own[i], usual));
    }
    free(kernels);
    return ULB_OK;
}

enum ulb_status ulb_series_judge_noise(struct ulb_series *series, size_t n, struct ulb_error *err)
{
    double *own = malloc((n + 1) * sizeof *own), room[ROUNDS_MAX];
    if (!own)
        return no_memory(err);
    for (size_t i = 0; i < n; i++)
        own[i] = halves(&series[i], room);
    enum ulb_status status = ulb_series_pool_noise(series, own, n, err);
    free(own);
    return status;
}
