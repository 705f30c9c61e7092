#include "results/compare/series.h"

#include "common/stats.h"
#include "results/compare/series_private.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROUNDS_FOR_HALVES = 4 };
static const double MAD_TO_DEVIATION = 1.4826;

static enum ulb_status no_memory(struct ulb_error *err)
{
    return ulb_fail(err, ULB_ENVIRONMENT, "not enough memory for the samples of the record");
}

bool ulb_series_allocate(struct ulb_series *series, size_t n)
{
    series->log_cost = malloc((3 * n + 1) * sizeof *series->log_cost);
    if (!series->log_cost)
        return false;
    series->gbps = series->log_cost + n;
    series->hz = series->gbps + n;
    for (size_t i = 0; i < 2 * n; i++)
        series->gbps[i] = NAN;
    return true;
}

void ulb_series_append(struct ulb_series *series, double cost, double gbps, double hz)
{
    series->log_cost[series->n] = log(cost);
    series->gbps[series->n] = gbps;
    series->hz[series->n++] = hz;
}

enum ulb_status ulb_series_from_costs(struct ulb_series *series, const double *costs, size_t n,
                                      struct ulb_error *err)
{
    size_t step = (n + ULB_ROUNDS_MAX - 1) / ULB_ROUNDS_MAX; /* of very many every so manieth */
    series->memory_share = series->noise_floor = NAN;
    if (!ulb_series_allocate(series, n))
        return no_memory(err);
    for (size_t i = 0; i < n; i += step) {
        if (costs[i] > 0 && isfinite(costs[i]))
            ulb_series_append(series, costs[i], NAN, NAN);
    }
    return ULB_OK;
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
        status = ulb_series_read_cells(record, metric, out, n, err);
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

static int by_kernel(const void *a, const void *b)
{
    const struct ulb_series *const *x = a, *const *y = b;
    int order = strcmp((*x)->kernel, (*y)->kernel);
    return order ? order : (*x > *y) - (*x < *y);
}

enum ulb_status ulb_series_pool_noise(struct ulb_series *series, const double *own, size_t n,
                                      struct ulb_error *err)
{
    double *kernel = malloc((n + 1) * sizeof *kernel);
    struct ulb_series **order = malloc((n + 1) * sizeof *order);
    enum ulb_status status = kernel && order ? ULB_OK : no_memory(err);
    for (size_t i = 0; i < n && status == ULB_OK; i++)
        order[i] = &series[i];
    if (status == ULB_OK)
        qsort(order, n, sizeof *order, by_kernel);
    for (size_t i = 0, end; i < n && status == ULB_OK; i = end) {
        size_t count = 0;
        for (end = i; end < n && strcmp(order[end]->kernel, order[i]->kernel) == 0; end++) {
            if (!isnan(own[order[end] - series]))
                kernel[count++] = own[order[end] - series];
        }
        double usual = MAD_TO_DEVIATION * ulb_median(kernel, count);
        for (size_t j = i; j < end; j++) {
            double self = own[order[j] - series];
            order[j]->noise_floor = isnan(self) ? NAN : expm1(fmax(self, usual));
        }
    }
    free(kernel);
    free(order);
    return status;
}

enum ulb_status ulb_series_judge_noise(struct ulb_series *series, size_t n, struct ulb_error *err)
{
    double *own = malloc((n + 1) * sizeof *own), room[ULB_ROUNDS_MAX];
    if (!own)
        return no_memory(err);
    for (size_t i = 0; i < n; i++)
        own[i] = halves(&series[i], room);
    enum ulb_status status = ulb_series_pool_noise(series, own, n, err);
    free(own);
    return status;
}
