/* What a history holds: its records, and its series. */
#include "results/history/history.h"

#include "common/filter.h"
#include "common/text.h"
#include "results/history/history_private.h"
#include "results/record/renamed.h"

#include <math.h>
#include <regex.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void copy_text(sqlite3_stmt *statement, int column, char *out, size_t bytes)
{
    const unsigned char *text = sqlite3_column_text(statement, column);
    snprintf(out, bytes, "%s", text ? (const char *)text : "");
    ulb_text_mend(out);
    ulb_text_printable(out);
}

static double copy_number(sqlite3_stmt *statement, int column)
{
    return sqlite3_column_type(statement, column) == SQLITE_NULL ? NAN
                                                                 : sqlite3_column_double(statement, column);
}

/* Makes room for one more in an array of n items that grows by doubling. */
static bool grow(void **items, size_t n, size_t bytes)
{
    if (n & (n - 1))
        return true;
    void *larger = realloc(*items, (n ? 2 * n : 1) * bytes);
    if (larger)
        *items = larger;
    return larger != NULL;
}

enum ulb_status ulb_history_records(struct ulb_history *history, struct ulb_history_record **records,
                                    size_t *n, struct ulb_error *err)
{
    sqlite3_stmt *select;
    void *items = NULL;
    int code = SQLITE_DONE;
    *records = NULL;
    *n = 0;
    enum ulb_status status =
        ulb_history_prepare(history,
                            "SELECT created, committed, commit_id, compiler, machine,"
                            " (SELECT count(*) FROM point WHERE point.record = record.id) FROM record"
                            " ORDER BY coalesce(committed, created), created, id",
                            &select, err);
    while (status == ULB_OK && (code = sqlite3_step(select)) == SQLITE_ROW) {
        if (!grow(&items, *n, sizeof **records)) {
            status = ulb_history_no_memory(err);
            break;
        }
        struct ulb_history_record *record = (struct ulb_history_record *)items + (*n)++;
        copy_text(select, 0, record->created, sizeof record->created);
        copy_text(select, 1, record->committed, sizeof record->committed);
        copy_text(select, 2, record->commit, sizeof record->commit);
        copy_text(select, 3, record->compiler, sizeof record->compiler);
        copy_text(select, 4, record->machine, sizeof record->machine);
        record->values = (size_t)sqlite3_column_int64(select, 5);
    }
    if (status == ULB_OK && code != SQLITE_DONE)
        status = ulb_history_fail(history, err);
    sqlite3_finalize(select);
    if (status != ULB_OK)
        free(items);
    else
        *records = items;
    return status;
}

/* A series, and its row's number. A figure whose kernel or layout was renamed has a series of each name. */
struct wanted {
    struct ulb_trend trend; /* its key has the names of this version */
    sqlite3_int64 id;
    sqlite3_int64 first; /* the smallest id of the figure's series, which takes the points of all of them */
    bool matches;        /* the filter */
};

struct wanted_list {
    struct wanted *items; /* by number, smallest first */
    size_t n;
};

static void free_trend(struct ulb_trend *trend)
{
    free(trend->origin_key);
    free(trend->points);
}

/* Whether the filter (NULL: all) matches a series' key, as it is stored or with the names of this version. */
static enum ulb_status match_series(const regex_t *filter, const char *stored, struct wanted *one,
                                    struct ulb_error *err)
{
    enum ulb_status status = ULB_OK;
    one->matches = !filter;
    if (filter)
        status = ulb_filter_match(filter, stored, &one->matches, err);
    if (status == ULB_OK && !one->matches)
        status = ulb_filter_match(filter, one->trend.key, &one->matches, err);
    return status;
}

/* All series of the metric. */
static enum ulb_status read_names(struct ulb_history *history, enum ulb_metric metric, const regex_t *filter,
                                  struct wanted_list *list, struct ulb_error *err)
{
    sqlite3_stmt *select;
    void *items = NULL;
    int code = SQLITE_DONE;
    enum ulb_status status = ulb_history_prepare(
        history, "SELECT id, key, place FROM series WHERE metric = ? ORDER BY id", &select, err);
    ulb_history_bind_text(select, 1, ulb_metrics[metric].name);
    while (status == ULB_OK && (code = sqlite3_step(select)) == SQLITE_ROW) {
        if (!grow(&items, list->n, sizeof *list->items)) {
            status = ulb_history_no_memory(err);
            break;
        }
        struct wanted *one = (struct wanted *)items + list->n++;
        const char *key = (const char *)sqlite3_column_text(select, 1);
        const char *origin_key = (const char *)sqlite3_column_text(select, 2);
        *one =
            (struct wanted){.trend = {.metric = metric, .origin_key = strdup(origin_key ? origin_key : "")},
                            .id = sqlite3_column_int64(select, 0)};
        one->first = one->id;
        ulb_current_key(key ? key : "", one->trend.key, sizeof one->trend.key);
        ulb_text_printable(one->trend.key);
        if (one->trend.origin_key)
            ulb_text_printable(one->trend.origin_key);
        status = one->trend.origin_key ? match_series(filter, key ? key : "", one, err)
                                       : ulb_history_no_memory(err);
    }
    if (status == ULB_OK && code != SQLITE_DONE)
        status = ulb_history_fail(history, err);
    sqlite3_finalize(select);
    list->items = items;
    return status;
}

static bool same_figure(const struct wanted *a, const struct wanted *b)
{
    return strcmp(a->trend.key, b->trend.key) == 0 && strcmp(a->trend.origin_key, b->trend.origin_key) == 0;
}

static int by_figure(const void *a, const void *b)
{
    const struct wanted *x = *(struct wanted *const *)a, *y = *(struct wanted *const *)b;
    int order = strcmp(x->trend.key, y->trend.key);
    order = order ? order : strcmp(x->trend.origin_key, y->trend.origin_key);
    return order ? order : (x->id > y->id) - (x->id < y->id);
}

/* Keeps the series of figures that match, each with the first one's number. */
static enum ulb_status join_renamed(struct wanted_list *list, struct ulb_error *err)
{
    struct wanted **order = malloc((list->n + 1) * sizeof *order);
    if (!order)
        return ulb_history_no_memory(err);
    for (size_t i = 0; i < list->n; i++)
        order[i] = &list->items[i];
    qsort(order, list->n, sizeof *order, by_figure);
    for (size_t begin = 0, end; begin < list->n; begin = end) {
        bool matches = false;
        for (end = begin; end < list->n && same_figure(order[begin], order[end]); end++)
            matches |= order[end]->matches;
        for (size_t i = begin; i < end; i++) {
            order[i]->first = order[begin]->id;
            order[i]->matches = matches;
        }
    }
    free(order);
    size_t kept = 0;
    for (size_t i = 0; i < list->n; i++) {
        if (list->items[i].matches)
            list->items[kept++] = list->items[i];
        else
            free_trend(&list->items[i].trend);
    }
    list->n = kept;
    return ULB_OK;
}

static int by_id(const void *id, const void *item)
{
    sqlite3_int64 a = *(const sqlite3_int64 *)id, b = ((const struct wanted *)item)->id;
    return (a > b) - (a < b);
}

static struct wanted *find_series(const struct wanted_list *list, sqlite3_int64 id)
{
    return bsearch(&id, list->items, list->n, sizeof *list->items, by_id);
}

/* A figure that is not positive, as a gamma in noise may be, has no ratio to others: it is left out. */
static bool add_point(struct ulb_trend *trend, sqlite3_stmt *select)
{
    void *points = trend->points;
    if (!(sqlite3_column_double(select, 3) > 0))
        return true;
    if (!grow(&points, trend->n_points, sizeof *trend->points))
        return false;
    trend->points = points;
    struct ulb_point *point = &trend->points[trend->n_points++];
    copy_text(select, 1, point->created, sizeof point->created);
    copy_text(select, 2, point->commit, sizeof point->commit);
    point->value = sqlite3_column_double(select, 3);
    point->lo = copy_number(select, 4);
    point->hi = copy_number(select, 5);
    return true;
}

/* One pass over the newest records, oldest first, each with its points from the first series to the last. */
static enum ulb_status read_points(struct ulb_history *history, struct wanted_list *list, size_t last,
                                   struct ulb_error *err)
{
    sqlite3_stmt *select;
    int code = SQLITE_DONE;
    enum ulb_status status =
        ulb_history_prepare(history,
                            "SELECT series, created, commit_id, value, lo, hi FROM record"
                            " CROSS JOIN point ON point.record = record.id AND point.series BETWEEN ?1 AND ?2"
                            " WHERE (coalesce(committed, created), created, id) >="
                            " (SELECT coalesce(committed, created) AS moment, created, id FROM record"
                            " ORDER BY moment DESC, created DESC, id DESC"
                            " LIMIT 1 OFFSET (SELECT min(?3, count(*)) - 1 FROM record))"
                            " ORDER BY coalesce(committed, created), created, id",
                            &select, err);
    sqlite3_bind_int64(select, 1, list->items[0].id);
    sqlite3_bind_int64(select, 2, list->items[list->n - 1].id);
    sqlite3_bind_int64(select, 3, last > 0 && last < INT64_MAX ? (sqlite3_int64)last : INT64_MAX);
    while (status == ULB_OK && (code = sqlite3_step(select)) == SQLITE_ROW) {
        const struct wanted *one = find_series(list, sqlite3_column_int64(select, 0));
        if (one && !add_point(&find_series(list, one->first)->trend, select))
            status = ulb_history_no_memory(err);
    }
    if (status == ULB_OK && code != SQLITE_DONE)
        status = ulb_history_fail(history, err);
    sqlite3_finalize(select);
    return status;
}

/* Those that have points become the caller's. */
static enum ulb_status hand_over(struct wanted_list *list, struct ulb_trend **series, size_t *n,
                                 struct ulb_error *err)
{
    *series = calloc(list->n + 1, sizeof **series);
    if (!*series)
        return ulb_history_no_memory(err);
    for (size_t i = 0; i < list->n; i++) {
        if (list->items[i].trend.n_points == 0)
            continue;
        (*series)[(*n)++] = list->items[i].trend;
        list->items[i].trend = (struct ulb_trend){.n_points = 0};
    }
    return ULB_OK;
}

enum ulb_status ulb_history_trends(struct ulb_history *history, enum ulb_metric metric, const char *regex,
                                   size_t last, struct ulb_trend **series, size_t *n, struct ulb_error *err)
{
    regex_t filter;
    struct wanted_list list = {NULL, 0};
    *series = NULL;
    *n = 0;
    enum ulb_status status = regex ? ulb_filter_compile(&filter, "--cell", regex, err) : ULB_OK;
    if (status != ULB_OK)
        return status;
    status = read_names(history, metric, regex ? &filter : NULL, &list, err);
    if (regex)
        regfree(&filter);
    if (status == ULB_OK)
        status = join_renamed(&list, err);
    if (status == ULB_OK && list.n > 0)
        status = read_points(history, &list, last, err);
    if (status == ULB_OK)
        status = hand_over(&list, series, n, err);
    for (size_t i = 0; i < list.n; i++)
        free_trend(&list.items[i].trend);
    free(list.items);
    return status;
}

void ulb_trends_free(struct ulb_trend *series, size_t n)
{
    for (size_t i = 0; i < n; i++)
        free_trend(&series[i]);
    free(series);
}
