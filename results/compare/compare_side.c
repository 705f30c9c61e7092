/* What a comparison keeps of a record, whose cells may be more than memory holds. */
#include "common/json.h"
#include "results/compare/compare_private.h"
#include "results/compare/series_private.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A side while its record's cells pass. */
struct filling {
    struct ulb_compare_side *side;
    struct ulb_series_making making;
};

static enum ulb_status take_cell(struct ulb_cell *cell, const json_t *json, void *context,
                                 struct ulb_error *err)
{
    struct filling *filling = context;
    struct ulb_compare_side *side = filling->side;
    side->cells = ulb_json_hash_more(side->cells, json);
    if (!cell->verified && side->wrong++ == 0)
        snprintf(side->wrong_kernel, sizeof side->wrong_kernel, "%s", cell->kernel);
    return ulb_metric_is_of_cells(side->metric) ? ulb_series_add(&filling->making, cell, err) : ULB_OK;
}

static enum ulb_status make_series(struct filling *filling, const struct ulb_record *record,
                                   struct ulb_error *err)
{
    struct ulb_compare_side *side = filling->side;
    if (ulb_metric_is_of_cells(side->metric))
        return ulb_series_finish(&filling->making, record, &side->series, &side->n, err);
    return ulb_series_read(record, side->metric, &side->series, &side->n, err);
}

enum ulb_status ulb_compare_side_read(struct ulb_compare_side *side, const char *path, enum ulb_metric metric,
                                      struct ulb_error *err)
{
    struct filling filling = {side, {.metric = metric}};
    const struct ulb_cell_visitor visitor = {take_cell, &filling};
    *side = (struct ulb_compare_side){.metric = metric, .runs = 1};
    enum ulb_status status = ulb_record_read_visiting(&side->record, path, &visitor, err);
    if (status == ULB_OK && (status = make_series(&filling, &side->record, err)) != ULB_OK)
        ulb_fail_prefix(err, status, "%s", path);
    ulb_series_making_free(&filling.making);
    if (status != ULB_OK)
        ulb_compare_side_free(side);
    return status;
}

enum ulb_status ulb_compare_side_of(struct ulb_compare_side *side, const struct ulb_record *record,
                                    enum ulb_metric metric, struct ulb_error *err)
{
    struct filling filling = {side, {.metric = metric}};
    const struct ulb_cell_visitor visitor = {take_cell, &filling};
    *side = (struct ulb_compare_side){.metric = metric, .runs = 1};
    enum ulb_status status = ulb_record_visit_cells(record, &visitor, err);
    if (status == ULB_OK)
        status = make_series(&filling, record, err);
    ulb_series_making_free(&filling.making);
    side->record.root = json_incref(record->root);
    if (status != ULB_OK)
        ulb_compare_side_free(side);
    return status;
}

/* ---- several runs of one build ---- */

/* The rounds of both, those that were disturbed last; more's are freed. */
static bool join_rounds(struct ulb_series *series, struct ulb_series *more, size_t runs)
{
    const struct ulb_series parts[] = {*series, *more};
    struct ulb_series joined = *series;
    joined.n = 0;
    joined.disturbed = series->disturbed + more->disturbed;
    if (!ulb_series_allocate(&joined, series->n + more->n + joined.disturbed))
        return false;
    for (int disturbed = 0; disturbed < 2; disturbed++) {
        for (size_t p = 0; p < 2; p++) {
            size_t begin = disturbed ? parts[p].n : 0,
                   end = parts[p].n + (disturbed ? parts[p].disturbed : 0);
            for (size_t i = begin; i < end; i++)
                ulb_series_append(&joined, exp(parts[p].log_cost[i]), parts[p].gbps[i], parts[p].hz[i]);
        }
    }
    joined.n -= joined.disturbed;
    joined.value = series->value + (more->value - series->value) / (double)(runs + 1);
    joined.noise_floor = fmax(series->noise_floor, more->noise_floor);
    joined.memory_share = isnan(series->memory_share) ? more->memory_share : series->memory_share;
    free(series->log_cost);
    free(more->log_cost);
    more->log_cost = NULL;
    *series = joined;
    return true;
}

/* Joins what both have and takes what more alone has. */
static bool join_series(struct ulb_compare_side *side, struct ulb_compare_side *more)
{
    size_t n_pairs = 0, n = side->n;
    struct ulb_series *series = realloc(side->series, (side->n + more->n + 1) * sizeof *series);
    if (!series)
        return false;
    side->series = series;
    struct ulb_series_pair *pairs = ulb_pair_series(series, n, more->series, more->n, &n_pairs);
    bool joined = pairs != NULL;
    for (size_t i = 0; i < n_pairs && joined; i++) {
        struct ulb_series *own = pairs[i].base ? &series[pairs[i].base - series] : NULL;
        struct ulb_series *other = pairs[i].fresh ? &more->series[pairs[i].fresh - more->series] : NULL;
        if (own && other)
            joined = join_rounds(own, other, side->runs);
        else if (other) {
            series[side->n++] = *other;
            other->log_cost = NULL;
        }
    }
    free(pairs);
    return joined;
}

enum ulb_status ulb_compare_side_pool(struct ulb_compare_side *side, struct ulb_compare_side *more,
                                      const struct ulb_compare_settings *settings, struct ulb_error *err)
{
    enum ulb_status status = settings->force ? ULB_OK : ulb_check_pooled(&side->record, &more->record, err);
    if (status != ULB_OK)
        return status;
    if (!join_series(side, more))
        return ulb_fail(err, ULB_ENVIRONMENT, "not enough memory for the rounds of %zu runs", side->runs + 1);
    if (side->wrong == 0)
        memcpy(side->wrong_kernel, more->wrong_kernel, sizeof side->wrong_kernel);
    side->wrong += more->wrong;
    side->cells ^= more->cells + side->runs;
    side->runs++;
    return ULB_OK;
}

void ulb_compare_side_free(struct ulb_compare_side *side)
{
    ulb_series_free(side->series, side->n);
    ulb_record_free(&side->record);
    *side = (struct ulb_compare_side){0};
}
