/* What changed, on one screen. */
#include "harness/cli/commands/history.h"
#include "harness/cli/table.h"

#include "common/stats.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_SPANS = 3, MOST_CELLS = 2, MOST_STEPS = 5, RECORDS_OF_A_CHANGE = 6 };

static double size_of(const json_t *item, const char *ratio)
{
    double value = json_number_value(json_object_get(item, ratio));
    return value > 0 ? fabs(log(value)) : 0;
}

static int by_ratio(const void *a, const void *b)
{
    double x = size_of(*(json_t *const *)a, "ratio"), y = size_of(*(json_t *const *)b, "ratio");
    return (x < y) - (x > y);
}

static int by_step(const void *a, const void *b)
{
    double x = size_of(*(json_t *const *)a, "step"), y = size_of(*(json_t *const *)b, "step");
    return (x < y) - (x > y);
}

static int by_time(const void *a, const void *b)
{
    return strcmp(json_string_value(json_object_get(*(json_t *const *)b, "bad_created")),
                  json_string_value(json_object_get(*(json_t *const *)a, "bad_created")));
}

/* The items in another order; they stay the array's. NULL without memory. */
static json_t **sorted(const json_t *array, int (*order)(const void *a, const void *b))
{
    size_t n = json_array_size(array);
    json_t **items = calloc(n ? n : 1, sizeof(json_t *));
    for (size_t i = 0; items && i < n; i++)
        items[i] = json_array_get(array, i);
    if (items)
        qsort(items, n, sizeof *items, order);
    return items;
}

static void print_cells(const json_t *cells)
{
    size_t n = json_array_size(cells);
    json_t **worst = sorted(cells, by_ratio);
    for (size_t i = 0; worst && i < n && i < MOST_CELLS; i++) {
        char line[512];
        snprintf(line, sizeof line, "%+.1f %% %s: %s",
                 100 * (json_number_value(json_object_get(worst[i], "ratio")) - 1),
                 json_string_value(json_object_get(worst[i], "verdict")),
                 json_string_value(json_object_get(worst[i], "key")));
        ulb_print_wrapped(stdout, "    ", line);
    }
    if (n > MOST_CELLS)
        printf("    and %zu more\n", n - MOST_CELLS);
    free(worst);
}

static void print_spans(const json_t *spans)
{
    size_t n = json_array_size(spans);
    json_t **newest = sorted(spans, by_time);
    for (size_t i = 0; newest && i < n && i < MOST_SPANS; i++) {
        ulb_print_span(newest[i]);
        print_cells(json_object_get(newest[i], "cells"));
    }
    if (n > MOST_SPANS)
        printf("and %zu earlier span%s of commits\n", n - MOST_SPANS, n - MOST_SPANS == 1 ? "" : "s");
    free(newest);
}

/* With too few records to judge: how the newest differs from the one before. */
static void print_steps(const json_t *documents)
{
    size_t n = json_array_size(documents), known = 0;
    json_t **largest = sorted(documents, by_step);
    double *ratios = calloc(n ? n : 1, sizeof *ratios);
    for (size_t i = 0; largest && ratios && i < n; i++) {
        const json_t *step = json_object_get(largest[i], "step");
        if (step)
            ratios[known++] = json_number_value(step);
    }
    if (known > 0)
        ulb_print_wrapped_as(stdout, "",
                             "newest record against the one before, not judged: median %+.1f %%, largest",
                             100 * (ulb_median(ratios, known) - 1));
    for (size_t i = 0; i < known && i < MOST_STEPS; i++) {
        char line[512];
        snprintf(line, sizeof line, "%+.1f %%: %s",
                 100 * (json_number_value(json_object_get(largest[i], "step")) - 1),
                 json_string_value(json_object_get(largest[i], "key")));
        ulb_print_wrapped(stdout, "    ", line);
    }
    free(ratios);
    free(largest);
}

static size_t most_records(const json_t *documents)
{
    size_t most = 0, i;
    const json_t *document;
    json_array_foreach(documents, i, document)
    {
        const json_t *levels = json_object_get(document, "levels");
        const json_t *newest = json_array_get(levels, json_array_size(levels) - 1);
        size_t records = (size_t)json_integer_value(json_object_get(newest, "to"));
        most = records > most ? records : most;
    }
    return most;
}

void ulb_print_trend_summary(const struct ulb_history_request *request, const json_t *documents)
{
    json_t *spans = ulb_change_spans(documents);
    const json_t *span;
    size_t n = json_array_size(documents), changed = 0, records = most_records(documents), i;
    json_array_foreach(spans, i, span)
    {
        changed += json_array_size(json_object_get(span, "cells"));
    }
    ulb_print_wrapped_as(stdout, "", "%s: %zu series of %zu record%s, %zu changed",
                         ulb_metrics[request->metric].name, n, records, records == 1 ? "" : "s", changed);
    print_spans(spans);
    if (request->metric != ULB_METRIC_INSTRUCTIONS && records < RECORDS_OF_A_CHANGE) {
        ulb_print_wrapped(
            stdout, "", "too few records: a change has three before it and three after; compare judges two");
        print_steps(documents);
    }
    ulb_print_wrapped(stdout, "", "-v says more of each series, --cell REGEX of those that match");
    json_decref(spans);
}
