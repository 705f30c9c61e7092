#include "results/record/tracked_values.h"

#include "common/stats.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const struct ulb_metric_info ulb_metrics[ULB_METRICS] = {
    [ULB_METRIC_EFFICIENCY] = {"efficiency", "", "fraction of the yardstick, measured beside the cell", true},
    [ULB_METRIC_US] = {"us", "us", "microseconds of a call", false},
    [ULB_METRIC_GAMMA] = {"gamma", "cycles", "core cycles per 32 weights", false},
    [ULB_METRIC_INSTRUCTIONS] = {"instructions", "instructions", "instructions per 32 weights", false},
    [ULB_METRIC_GBPS] = {"gbps", "GB/s", "1e9 bytes of weights per second", true},
    [ULB_METRIC_P95] = {"p95", "us", "microseconds that 95 of 100 calls stay below", false},
    [ULB_METRIC_TPS] = {"tps", "tokens/s", "tokens decoded per second", true},
    [ULB_METRIC_JOULE] = {"joule", "J", "energy per token decoded", false},
};

enum ulb_status ulb_metric_find(const char *name, enum ulb_metric *metric, struct ulb_error *err)
{
    char known[128] = "";
    for (int i = 0; i < ULB_METRICS; i++) {
        if (strcmp(ulb_metrics[i].name, name) == 0) {
            *metric = (enum ulb_metric)i;
            return ULB_OK;
        }
        size_t used = strlen(known);
        snprintf(known + used, sizeof known - used, "%s%s", i ? ", " : "", ulb_metrics[i].name);
    }
    return ulb_fail(err, ULB_BAD_INPUT, "unknown metric '%.64s'; metrics are %s", name, known);
}

/* The values of one cell; returns how many. */
static size_t cell_values(const struct ulb_cell *cell, const char *cycles, struct ulb_value out[2])
{
    struct ulb_value value = {.metric = ULB_METRIC_US, .value = cell->us, cell->us_ci_lo, cell->us_ci_hi};
    size_t n = 0;
    ulb_cell_key(cell, cycles, value.key);
    snprintf(value.note, sizeof value.note, "%s", cell->verdict);
    out[n++] = value;
    if (isnan(cell->efficiency))
        return n;
    value.metric = ULB_METRIC_EFFICIENCY;
    value.value = cell->efficiency;
    value.lo = cell->efficiency * cell->us / cell->us_ci_hi;
    value.hi = cell->efficiency * cell->us / cell->us_ci_lo;
    out[n++] = value;
    return n;
}

static size_t gamma_values(const struct ulb_gamma_cell *cell, const char *cycles, struct ulb_value *out)
{
    if (isnan(cell->gamma_cycles))
        return 0;
    *out = (struct ulb_value){.metric = ULB_METRIC_GAMMA, .value = cell->gamma_cycles};
    ulb_gamma_key(cell, cycles, out->key);
    struct ulb_stats stats = ulb_stats_of(cell->gamma_samples, cell->n_samples, 1);
    out->lo = stats.ci_lo;
    out->hi = stats.ci_hi;
    return 1;
}

static size_t count_values(const struct ulb_count_cell *cell, struct ulb_value *out)
{
    double count = cell->instructions_per_step;
    if (isnan(count))
        return 0;
    *out = (struct ulb_value){.metric = ULB_METRIC_INSTRUCTIONS, .value = count, .lo = count, .hi = count};
    ulb_count_key(cell, out->key);
    return 1;
}

enum ulb_status ulb_record_values(const struct ulb_record *record, struct ulb_value **values, size_t *n,
                                  struct ulb_error *err)
{
    struct ulb_cell *cells = NULL;
    struct ulb_gamma_cell *gammas = NULL;
    struct ulb_count_cell *counts = NULL;
    size_t n_cells = 0, n_gammas = 0, n_counts = 0;
    *values = NULL;
    *n = 0;
    enum ulb_status status = ulb_record_cells(record, &cells, &n_cells, err);
    if (status == ULB_OK)
        status = ulb_record_gamma_cells(record, &gammas, &n_gammas, err);
    if (status == ULB_OK)
        status = ulb_record_counts(record, &counts, &n_counts, err);
    if (status == ULB_OK && !(*values = calloc(2 * n_cells + n_gammas + n_counts + 1, sizeof **values)))
        status = ulb_fail(err, ULB_ENVIRONMENT, "not enough memory for the values of the record");
    if (status == ULB_OK) {
        const char *clock = ulb_record_text(record, "clock.cycles_source");
        const char *gamma_clock = ulb_record_text(record, "gamma.cycles_source");
        for (size_t i = 0; i < n_cells; i++)
            *n += cell_values(&cells[i], clock, *values + *n);
        for (size_t i = 0; i < n_gammas; i++)
            *n += gamma_values(&gammas[i], gamma_clock, *values + *n);
        for (size_t i = 0; i < n_counts; i++)
            *n += count_values(&counts[i], *values + *n);
    }
    ulb_cells_free(cells, n_cells);
    ulb_gamma_cells_free(gammas, n_gammas);
    ulb_counts_free(counts, n_counts);
    return status;
}

static int digest_more(const char *text, size_t bytes, void *data)
{
    uint64_t *hash = data;
    for (size_t i = 0; i < bytes; i++)
        *hash = (*hash ^ (unsigned char)text[i]) * 0x100000001b3;
    return 0;
}

char *ulb_record_digest(const struct ulb_record *record, char out[17])
{
    uint64_t hash = 0xcbf29ce484222325;
    if (json_dump_callback(record->root, digest_more, &hash,
                           JSON_COMPACT | JSON_SORT_KEYS | JSON_REAL_PRECISION(9)) != 0)
        return NULL;
    snprintf(out, 17, "%016llx", (unsigned long long)hash);
    return out;
}
