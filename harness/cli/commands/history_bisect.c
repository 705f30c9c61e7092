#include "harness/cli/commands/history.h"
#include "harness/cli/table.h"

#include "common/stats.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The last change of a trend; NULL when there is none. */
static const json_t *last_change(const json_t *document)
{
    const json_t *changes = json_object_get(document, "changes");
    return json_array_get(changes, json_array_size(changes) - 1);
}

/* One commit, or records of unknown ones made at the same time. */
static bool same_end(const json_t *change, const char *commit, const char *created, const json_t *span,
                     const char *end, const char *end_created)
{
    const json_t *name = json_object_get(change, commit);
    return json_equal(name, json_object_get(span, end)) &&
           (json_is_string(name) ||
            json_equal(json_object_get(change, created), json_object_get(span, end_created)));
}

/* The span of commits that a change lies in, made where it is new. */
static json_t *span_of(json_t *spans, const json_t *change)
{
    size_t i;
    json_t *span;
    json_array_foreach(spans, i, span)
    {
        if (same_end(change, "before_commit", "before_created", span, "good", "good_created") &&
            same_end(change, "after_commit", "after_created", span, "bad", "bad_created"))
            return span;
    }
    span = json_pack("{s:O, s:O, s:O, s:O, s:[]}", "good", json_object_get(change, "before_commit"), "bad",
                     json_object_get(change, "after_commit"), "good_created",
                     json_object_get(change, "before_created"), "bad_created",
                     json_object_get(change, "after_created"), "cells");
    if (json_is_null(json_object_get(span, "good")))
        json_object_set_new(span, "good_reason", json_string(ulb_no_commit));
    if (json_is_null(json_object_get(span, "bad")))
        json_object_set_new(span, "bad_reason", json_string(ulb_no_commit));
    json_array_append_new(spans, span);
    return span;
}

json_t *ulb_change_spans(const json_t *documents)
{
    json_t *spans = json_array();
    size_t i;
    const json_t *document;
    json_array_foreach(documents, i, document)
    {
        const json_t *change = last_change(document);
        if (!change)
            continue;
        json_t *cells = json_object_get(span_of(spans, change), "cells");
        json_array_append_new(
            cells, json_pack("{s:O, s:O, s:O, s:O}", "key", json_object_get(document, "key"), "place",
                             json_object_get(document, "place"), "ratio", json_object_get(change, "ratio"),
                             "verdict", json_object_get(change, "verdict")));
    }
    return spans;
}

static double median_ratio(const json_t *cells)
{
    size_t n = json_array_size(cells);
    double *ratios = calloc(n ? n : 1, sizeof *ratios);
    for (size_t i = 0; ratios && i < n; i++)
        ratios[i] = json_number_value(json_object_get(json_array_get(cells, i), "ratio"));
    double median = ratios ? ulb_median(ratios, n) : NAN;
    free(ratios);
    return median;
}

/* What the repository knows of the commits in between. */
static void ask_repository(json_t *span, const char *repository)
{
    struct ulb_error why = {"a record names no commit"};
    const char *good = json_string_value(json_object_get(span, "good"));
    const char *bad = json_string_value(json_object_get(span, "bad"));
    long between;
    char next[64];
    bool known = good && bad && ulb_git_between(repository, good, bad, &between, next, &why) == ULB_OK;
    json_object_set_new(span, "commits", known ? json_integer(between) : json_null());
    json_object_set_new(span, "next", known && *next ? json_string(next) : json_null());
    if (!known)
        json_object_set_new(span, "commits_reason", json_string(why.message));
    if (!known || !*next)
        json_object_set_new(span, "next_reason",
                            json_string(known ? "no commit lies in between" : why.message));
}

void ulb_print_span(const json_t *span)
{
    const char *good = json_string_value(json_object_get(span, "good"));
    const char *bad = json_string_value(json_object_get(span, "bad"));
    const json_t *cells = json_object_get(span, "cells");
    ulb_print_wrapped_as(
        stdout, "", "between %s (%.10s) and %s (%.10s): %zu cell%s, median %+.1f %%",
        good ? good : "an unknown commit", json_string_value(json_object_get(span, "good_created")),
        bad ? bad : "an unknown commit", json_string_value(json_object_get(span, "bad_created")),
        json_array_size(cells), json_array_size(cells) == 1 ? "" : "s", 100 * (median_ratio(cells) - 1));
}

static void print_with_cells(const json_t *span)
{
    const char *next = json_string_value(json_object_get(span, "next"));
    const json_t *cells = json_object_get(span, "cells"), *cell;
    char line[512];
    size_t i;
    ulb_print_span(span);
    if (next)
        ulb_print_wrapped_as(stdout, "    ", "%lld commits; measure %.12s next: git checkout %.12s",
                             (long long)json_integer_value(json_object_get(span, "commits")), next, next);
    else if (json_is_null(json_object_get(span, "commits"))) {
        snprintf(line, sizeof line, "commits in between unknown: %.400s; see --repo",
                 json_string_value(json_object_get(span, "commits_reason")));
        ulb_print_wrapped(stdout, "    ", line);
    }
    json_array_foreach(cells, i, cell)
    {
        snprintf(line, sizeof line, "%+.1f %% %s: %s",
                 100 * (json_number_value(json_object_get(cell, "ratio")) - 1),
                 json_string_value(json_object_get(cell, "verdict")),
                 json_string_value(json_object_get(cell, "key")));
        ulb_print_wrapped(stdout, "    ", line);
    }
}

enum ulb_status ulb_show_bisect(const struct ulb_history_request *request, struct ulb_history *history,
                                struct ulb_error *err)
{
    json_t *documents;
    enum ulb_status status = ulb_trend_documents(request, history, &documents, err);
    if (status != ULB_OK)
        return status;
    json_t *spans = ulb_change_spans(documents), *span;
    size_t i;
    json_array_foreach(spans, i, span)
    {
        ask_repository(span, request->repository);
        if (!request->json)
            print_with_cells(span);
    }
    if (!request->json && json_array_size(spans) == 0)
        printf("no change in %zu series\n", json_array_size(documents));
    json_decref(documents);
    if (request->json)
        return ulb_print_json(json_pack("{s:o}", "spans", spans), err);
    json_decref(spans);
    return ULB_OK;
}
