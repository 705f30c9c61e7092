/* One figure of the history over its records, with its levels and where they change. The document is made by
 * `ulb-bench history trend` ("kind": "trend"). */
#include "plots/draw/figure.h"

#include <math.h>
#include <string.h>

enum { COMMIT_ROOM = 12, LABELLED_TICS = 12, KEY_ROOM = 110 };

/* Points by number, with their intervals; one without an interval has one of no length. */
static void put_points(FILE *script, const json_t *points, double factor)
{
    size_t i;
    const json_t *point;
    fprintf(script, "$points << END\n");
    json_array_foreach(points, i, point)
    {
        double value = ulb_row_number(point, "value"), lo = ulb_row_number(point, "lo"),
               hi = ulb_row_number(point, "hi");
        fprintf(script, "%zu %g %g %g\n", i + 1, factor * value, factor * (isnan(lo) ? value : lo),
                factor * (isnan(hi) ? value : hi));
    }
    fprintf(script, "END\n");
}

/* Horizontal lines at the medians of the levels; levels are parted by empty lines. */
static void put_levels(FILE *script, const json_t *levels, double factor)
{
    size_t i;
    const json_t *level;
    fprintf(script, "$levels << END\n");
    json_array_foreach(levels, i, level)
        fprintf(script, "%g %g\n%g %g\n\n", ulb_row_number(level, "from") + 0.5,
                factor * ulb_row_number(level, "median"), ulb_row_number(level, "to") + 0.5,
                factor * ulb_row_number(level, "median"));
    fprintf(script, "END\n");
}

/* A vertical line between the last record of the old level and the first of the new one. */
static void put_changes(const struct ulb_canvas *canvas, const json_t *changes)
{
    FILE *script = canvas->script;
    size_t i;
    const json_t *change;
    json_array_foreach(changes, i, change)
    {
        double x = ulb_row_number(change, "at") + 0.5;
        fprintf(
            script,
            "set arrow from first %g, graph 0 to first %g, graph 1 nohead linecolor rgb '%s' dashtype 2\n", x,
            x, ulb_series_colour(5));
        fprintf(script, "set label \"%+.1f %%\\n", 100 * (ulb_row_number(change, "ratio") - 1));
        ulb_put_short_text(script, ulb_row_text(change, "before_commit"), COMMIT_ROOM);
        fprintf(script, "\\n");
        ulb_put_short_text(script, ulb_row_text(change, "after_commit"), COMMIT_ROOM);
        fprintf(script, "\" at first %g, graph %g right offset -0.5, 0\n", x, i % 2 ? 0.22 : 0.96);
    }
}

static void put_tics(FILE *script, const json_t *points)
{
    size_t n = json_array_size(points), every = n / LABELLED_TICS + 1;
    fprintf(script, "set xtics rotate by -30 (");
    for (size_t i = 0; i < n; i += every) {
        fprintf(script, "%s\"", i ? ", " : "");
        ulb_put_tic_text(script, ulb_row_text(json_array_get(points, i), "commit"), COMMIT_ROOM);
        fprintf(script, "\" %zu", i + 1);
    }
    fprintf(script, ")\nset xrange [0.5:%g]\n", (double)n + 0.5);
}

static bool any_interval(const json_t *points)
{
    for (size_t i = 0; i < json_array_size(points); i++) {
        if (ulb_row_number(json_array_get(points, i), "hi") > ulb_row_number(json_array_get(points, i), "lo"))
            return true;
    }
    return false;
}

enum ulb_status ulb_draw_trend(const struct ulb_record *record, struct ulb_canvas *canvas,
                               struct ulb_error *err)
{
    FILE *script = canvas->script;
    const json_t *points = json_object_get(record->root, "points");
    const char *metric = ulb_row_text(record->root, "metric"), *unit = ulb_row_text(record->root, "unit");
    bool fraction = !*unit;
    if (json_array_size(points) == 0)
        return ulb_fail(err, ULB_BAD_INPUT, "the document has no points to draw");
    fprintf(script, "set title \"");
    ulb_put_short_text(script, ulb_row_text(record->root, "key"), KEY_ROOM);
    fprintf(script, "\\n");
    ulb_put_short_text(script, ulb_row_text(record->root, "place"), KEY_ROOM);
    fprintf(script, "\"\n");
    ulb_put_frame(canvas, 2, 30, 3);
    fprintf(script, "set xlabel \"commits, oldest first\"\nset ylabel \"");
    ulb_put_text(script, metric);
    fprintf(script, ", ");
    ulb_put_text(script, fraction ? "%" : unit);
    fprintf(script, "\"\nset offsets 0, 0, graph 0.15, graph 0.15\n");
    put_tics(script, points);
    put_points(script, points, fraction ? 100 : 1);
    put_levels(script, json_object_get(record->root, "levels"), fraction ? 100 : 1);
    put_changes(canvas, json_object_get(record->root, "changes"));
    fprintf(script,
            "plot $points using 1:2%s linecolor rgb '%s' pointtype 7 pointsize 0.7 title \"records\", ",
            any_interval(points) ? ":3:4 with yerrorbars" : " with points", ulb_series_colour(0));
    fprintf(script,
            "$levels using 1:2 with lines linecolor rgb '%s' linewidth 2 title \"median of a level\"\n",
            ulb_series_colour(1));
    return ULB_OK;
}
