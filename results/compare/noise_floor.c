#include "results/compare/noise_floor.h"

#include "common/stats.h"
#include "results/compare/effect_size.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static enum ulb_status no_memory(struct ulb_error *err)
{
    return ulb_fail(err, ULB_ENVIRONMENT, "not enough memory for the noise floor");
}

/* A number of the summary; NAN is null, with the reason. */
static int set_share(json_t *section, const char *key, double value)
{
    char reason[32];
    snprintf(reason, sizeof reason, "%s_reason", key);
    if (!isnan(value))
        return json_object_set_new(section, key, json_real(value));
    return json_object_set_new(section, key, json_null()) |
           json_object_set_new(section, reason, json_string("no cell has enough rounds"));
}

static enum ulb_status write_summary(struct ulb_record *record, const struct ulb_series *series, size_t n,
                                     const char *method, struct ulb_error *err)
{
    double *floors = malloc((n + 1) * sizeof *floors);
    size_t known = 0;
    for (size_t i = 0; floors && i < n; i++) {
        if (!isnan(series[i].noise_floor))
            floors[known++] = series[i].noise_floor;
    }
    if (!floors)
        return no_memory(err);
    ulb_sort(floors, known);
    json_t *section = json_pack("{s:s, s:I}", "method", method, "cells", (json_int_t)known);
    int failed = set_share(section, "median", ulb_quantile(floors, known, 0.5)) |
                 set_share(section, "p95", ulb_quantile(floors, known, 0.95)) |
                 json_object_set_new(record->root, "noise_floor", section);
    free(floors);
    return failed ? no_memory(err) : ULB_OK;
}

/* Puts the floors into the cells, which are in the order of the series. */
static enum ulb_status write_floors(struct ulb_record *record, const struct ulb_series *series, size_t n,
                                    struct ulb_error *err)
{
    json_t *cells = json_object_get(record->root, "cells");
    for (size_t i = 0; i < n; i++) {
        json_t *cell = json_array_get(cells, i);
        if (isnan(series[i].noise_floor))
            continue; /* null already, with its reason */
        if (json_object_set_new(cell, "noise_floor", json_real(series[i].noise_floor)) != 0)
            return no_memory(err);
        json_object_del(cell, "noise_floor_reason");
    }
    return ULB_OK;
}

enum ulb_status ulb_record_judge_noise(struct ulb_record *record, struct ulb_error *err)
{
    struct ulb_series *series;
    size_t n;
    enum ulb_status status = ulb_series_read(record, ULB_METRIC_EFFICIENCY, &series, &n, err);
    if (status == ULB_OK)
        status = ulb_series_judge_noise(series, n, err);
    if (status == ULB_OK)
        status = write_floors(record, series, n, err);
    if (status == ULB_OK)
        status = write_summary(record, series, n, "halves", err);
    ulb_series_free(series, n);
    return status;
}

/* |ln| of how far two passes differ, series by series; NAN where the second has no such cell. */
static enum ulb_status compare_passes(const struct ulb_series *first, size_t n,
                                      const struct ulb_series *second, size_t n_second, double *own,
                                      struct ulb_error *err)
{
    enum ulb_status status = ULB_OK;
    for (size_t i = 0; i < n && status == ULB_OK; i++) {
        const struct ulb_series *other = ulb_series_find(second, n_second, first[i].key);
        struct ulb_effect_size effect = {.shift = {NAN, NAN, NAN}};
        if (other)
            status = ulb_effect_size_of(&first[i], other, false, &effect, err);
        own[i] = fabs(effect.shift.estimate);
    }
    return status;
}

/* The floors become the larger of what they were and what the passes say. */
static enum ulb_status raise_floors(struct ulb_series *series, size_t n, const double *own,
                                    struct ulb_error *err)
{
    double *before = malloc((n + 1) * sizeof *before);
    if (!before)
        return no_memory(err);
    for (size_t i = 0; i < n; i++)
        before[i] = series[i].noise_floor;
    enum ulb_status status = ulb_series_pool_noise(series, own, n, err);
    for (size_t i = 0; i < n && status == ULB_OK; i++)
        series[i].noise_floor = fmax(series[i].noise_floor, before[i]); /* of NAN and a number the number */
    free(before);
    return status;
}

enum ulb_status ulb_record_judge_passes(struct ulb_record *record, const struct ulb_record *second,
                                        struct ulb_error *err)
{
    struct ulb_series *series, *others = NULL;
    size_t n, n_others = 0;
    enum ulb_status status = ulb_series_read(record, ULB_METRIC_EFFICIENCY, &series, &n, err);
    if (status == ULB_OK)
        status = ulb_series_read(second, ULB_METRIC_EFFICIENCY, &others, &n_others, err);
    double *own = malloc((n + 1) * sizeof *own);
    if (status == ULB_OK && !own)
        status = no_memory(err);
    if (status == ULB_OK)
        status = compare_passes(series, n, others, n_others, own, err);
    if (status == ULB_OK)
        status = raise_floors(series, n, own, err);
    if (status == ULB_OK)
        status = write_floors(record, series, n, err);
    if (status == ULB_OK)
        status = write_summary(record, series, n, "passes", err);
    free(own);
    ulb_series_free(series, n);
    ulb_series_free(others, n_others);
    return status;
}
