#include "harness/cli/commands/history.h"

#include "common/stats.h"
#include "harness/cli/table.h"
#include "harness/session/json_number.h"
#include "plots/draw/figure.h"
#include "results/history/change_points.h"

#include <ctype.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- documents --- */

const char ulb_no_commit[] = "the record names none";

static void set_commit(json_t *row, const char *key, const struct ulb_point *point)
{
    ulb_set_text(row, key, *point->commit ? point->commit : NULL, ulb_no_commit);
}

static json_t *points_json(const struct ulb_trend *series)
{
    static const char no_interval[] = "the record has too few samples of it";
    json_t *points = json_array();
    for (size_t i = 0; i < series->n_points; i++) {
        const struct ulb_point *point = &series->points[i];
        json_t *row = json_pack("{s:s, s:f}", "created", point->created, "value", point->value);
        set_commit(row, "commit", point);
        ulb_set_figure(row, "lo", point->lo, no_interval);
        ulb_set_figure(row, "hi", point->hi, no_interval);
        json_array_append_new(points, row);
    }
    return points;
}

static json_t *change_json(const struct ulb_trend *series, const struct ulb_change *change)
{
    const struct ulb_point *before = &series->points[change->at - 1], *after = &series->points[change->at];
    double ratio = change->after / change->before;
    bool better = (ratio > 1) == ulb_metrics[series->metric].bigger_is_better;
    json_t *row =
        json_pack("{s:I, s:s, s:s, s:f, s:f, s:f, s:s}", "at", (json_int_t)change->at, "before_created",
                  before->created, "after_created", after->created, "before", change->before, "after",
                  change->after, "ratio", ratio, "verdict", better ? "improved" : "regressed");
    set_commit(row, "before_commit", before);
    set_commit(row, "after_commit", after);
    return row;
}

static void add_levels(json_t *document, const struct ulb_trend *series, const double *values,
                       const struct ulb_change *changes, size_t n)
{
    json_t *levels = json_array(), *list = json_array();
    for (size_t i = 0; i <= n; i++) {
        size_t from = i > 0 ? changes[i - 1].at : 0, to = i < n ? changes[i].at : series->n_points;
        double median = n == 0  ? ulb_median_of(values, series->n_points)
                        : i < n ? changes[i].before
                                : changes[i - 1].after;
        json_array_append_new(levels, json_pack("{s:I, s:I, s:f}", "from", (json_int_t)from, "to",
                                                (json_int_t)to, "median", median));
        if (i < n)
            json_array_append_new(list, change_json(series, &changes[i]));
    }
    json_object_set_new(document, "levels", levels);
    json_object_set_new(document, "changes", list);
}

/* The smallest change that counts when none is asked for: a count has no noise. */
static double threshold_of(const struct ulb_history_request *request)
{
    if (isfinite(request->threshold))
        return request->threshold;
    return request->metric == ULB_METRIC_INSTRUCTIONS ? 0.001 : 0.05;
}

static enum ulb_status add_document(const struct ulb_history_request *request, const struct ulb_trend *series,
                                    json_t *documents, struct ulb_error *err)
{
    const struct ulb_metric_info *metric = &ulb_metrics[series->metric];
    struct ulb_change *changes = NULL;
    size_t n;
    double *values = calloc(series->n_points, sizeof *values);
    if (!values)
        return ulb_fail(err, ULB_ENVIRONMENT, "not enough memory for the trend");
    for (size_t i = 0; i < series->n_points; i++)
        values[i] = series->points[i].value;
    enum ulb_status status = ulb_find_changes(values, series->n_points, threshold_of(request),
                                              series->metric == ULB_METRIC_INSTRUCTIONS, &changes, &n, err);
    if (status == ULB_OK) {
        json_t *document = json_pack("{s:s, s:s, s:s, s:s, s:s}", "kind", "trend", "metric", metric->name,
                                     "unit", metric->unit, "key", series->key, "place", series->origin_key);
        if (request->json || request->out)
            json_object_set_new(document, "points", points_json(series));
        else if (series->n_points > 1)
            json_object_set_new(document, "step",
                                json_real(values[series->n_points - 1] / values[series->n_points - 2]));
        add_levels(document, series, values, changes, n);
        if (json_array_append_new(documents, document) != 0)
            status = ulb_fail(err, ULB_ENVIRONMENT, "not enough memory for the trend");
    }
    free(changes);
    free(values);
    return status;
}

enum ulb_status ulb_trend_documents(const struct ulb_history_request *request, struct ulb_history *history,
                                    json_t **documents, struct ulb_error *err)
{
    enum { LAST_OF_ALL = 1000 }; /* records, when all cells are looked at */
    size_t last = request->last_given ? request->last : request->cell ? 0 : LAST_OF_ALL, n;
    struct ulb_trend *series;
    *documents = NULL;
    enum ulb_status status =
        ulb_history_trends(history, request->metric, request->cell, last, &series, &n, err);
    if (status != ULB_OK)
        return status;
    if (n == 0)
        status =
            ulb_fail(err, ULB_BAD_INPUT, "%s holds no %s%s%.100s; see 'ulb-bench history list' and --metric",
                     request->db, ulb_metrics[request->metric].name,
                     request->cell ? " of a cell that matches " : "", request->cell ? request->cell : "");
    *documents = json_array();
    for (size_t i = 0; i < n && status == ULB_OK; i++)
        status = add_document(request, &series[i], *documents, err);
    ulb_trends_free(series, n);
    if (status != ULB_OK) {
        json_decref(*documents);
        *documents = NULL;
    }
    return status;
}

/* --- figures --- */

/* FOLDER/history-METRIC-KEY-WITHOUT-SPACES; figures of several places differ by a number. */
static enum ulb_status draw_document(const struct ulb_history_request *request, json_t *document,
                                     size_t number, struct ulb_error *err)
{
    struct ulb_record record = {document};
    char prefix[PATH_MAX], path[PATH_MAX], formats[64], *rest = NULL;
    int used = snprintf(prefix, sizeof prefix, "%s/history-%zu-%s-%.150s", request->out, number + 1,
                        ulb_record_text(&record, "metric"), ulb_record_text(&record, "key"));
    for (char *at = prefix + strlen(request->out) + 1; used > 0 && *at; at++)
        *at = isalnum((unsigned char)*at) || strchr("-_.", *at) ? *at : '_';
    snprintf(formats, sizeof formats, "%s", request->formats ? request->formats : "svg");
    json_t *paths = json_array();
    enum ulb_status status = ULB_OK;
    for (char *format = strtok_r(formats, ",", &rest); format && status == ULB_OK;
         format = strtok_r(NULL, ",", &rest)) {
        status = ulb_figure_may_replace("trend", format, prefix, "name another folder with --out", err);
        if (status == ULB_OK)
            status = ulb_figure_draw(&record, "trend", format, prefix, path, sizeof path, err);
        if (status == ULB_OK)
            json_array_append_new(paths, json_string(path));
    }
    json_object_set_new(document, "figures", paths);
    return status;
}

/* --- printing --- */

static void print_document(const json_t *document)
{
    const struct ulb_record record = {(json_t *)(uintptr_t)document};
    const json_t *levels = json_object_get(document, "levels"),
                 *changes = json_object_get(document, "changes");
    const json_t *newest = json_array_get(levels, json_array_size(levels) - 1);
    size_t i;
    const json_t *change;
    long long records = json_integer_value(json_object_get(newest, "to"));
    const char *unit = ulb_record_text(&record, "unit");
    char line[4096]; /* an origin key is a compiler with all its flags */
    ulb_print_wrapped(stdout, "", ulb_record_text(&record, "key"));
    snprintf(line, sizeof line, "%lld record%s, %.3800s: %s %.4g%s%s now%s", records, records == 1 ? "" : "s",
             ulb_record_text(&record, "place"), ulb_record_text(&record, "metric"),
             json_number_value(json_object_get(newest, "median")), *unit ? " " : "", unit,
             json_array_size(changes) ? "" : ", no change");
    ulb_print_wrapped(stdout, "    ", line);
    json_array_foreach(changes, i, change)
    {
        struct ulb_record of = {(json_t *)(uintptr_t)change};
        const char *before = ulb_record_text(&of, "before_commit"),
                   *after = ulb_record_text(&of, "after_commit");
        snprintf(line, sizeof line, "%+.1f %%, %s, between %.40s and %.40s (%.10s)",
                 100 * (ulb_record_number(&of, "ratio") - 1), ulb_record_text(&of, "verdict"),
                 before ? before : "an unknown commit", after ? after : "an unknown commit",
                 ulb_record_text(&of, "after_created"));
        ulb_print_wrapped(stdout, "    ", line);
    }
}

enum ulb_status ulb_show_trend(const struct ulb_history_request *request, struct ulb_history *history,
                               struct ulb_error *err)
{
    json_t *documents;
    enum ulb_status status = ulb_trend_documents(request, history, &documents, err);
    if (status != ULB_OK)
        return status;
    if (request->out)
        status = ulb_make_folder(request->out, "out", err);
    const bool in_detail = request->verbose || request->cell;
    size_t i;
    json_t *document;
    json_array_foreach(documents, i, document)
    {
        if (status == ULB_OK && request->out)
            status = draw_document(request, document, i, err);
        if (status == ULB_OK && !request->json && in_detail)
            print_document(document);
    }
    if (status == ULB_OK && !request->json && !in_detail)
        ulb_print_trend_summary(request, documents);
    if (status == ULB_OK && request->json)
        return ulb_print_json(json_pack("{s:o}", "series", documents), err);
    json_decref(documents);
    return status;
}
