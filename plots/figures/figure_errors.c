/* What scales for groups of columns keep: error over the number of columns that share one, with the bits of a
 * weight. */
#include "plots/draw/figure.h"

#include <math.h>
#include <string.h>

enum { MAX_FORMATS = 8 };

struct series {
    const char *formats[MAX_FORMATS];
    size_t n;
};

static bool is_drawn(const json_t *row)
{
    return ulb_row_number(row, "columns") > 0 && ulb_row_number(row, "rmse") > 0;
}

/* The formats, and the range of their errors. */
static void collect(const json_t *groups, struct series *series, double *least, double *most)
{
    const json_t *row;
    size_t i;
    series->n = 0;
    *least = INFINITY;
    *most = 0;
    json_array_foreach(groups, i, row)
    {
        if (!is_drawn(row))
            continue;
        *least = fmin(*least, ulb_row_number(row, "rmse"));
        *most = fmax(*most, ulb_row_number(row, "rmse"));
        const char *format = ulb_row_text(row, "format");
        size_t known = 0;
        while (known < series->n && strcmp(series->formats[known], format) != 0)
            known++;
        if (known == series->n && known < MAX_FORMATS)
            series->formats[series->n++] = format;
    }
}

/* Columns, error, bits: the rows of one format. */
static void put_points(const struct ulb_canvas *canvas, const json_t *groups, size_t f, const char *format)
{
    const json_t *row;
    size_t i;
    fprintf(canvas->script, "$points%zu << END\n", f);
    json_array_foreach(groups, i, row)
    {
        if (is_drawn(row) && strcmp(ulb_row_text(row, "format"), format) == 0)
            fprintf(canvas->script, "%g %g %.2f\n", ulb_row_number(row, "columns"),
                    ulb_row_number(row, "rmse"), ulb_row_number(row, "bits_per_weight"));
    }
    fprintf(canvas->script, "END\n");
}

static void put_hover(const struct ulb_canvas *canvas, const json_t *groups)
{
    const json_t *row;
    size_t i;
    ulb_hover_begin(canvas);
    json_array_foreach(groups, i, row)
    {
        if (is_drawn(row))
            ulb_hover(canvas, ulb_row_number(row, "columns"), ulb_row_number(row, "rmse"),
                      "%s, a scale for %g columns\n%.3f bits a weight\nerror %.4f, at most %.3f",
                      ulb_row_text(row, "format"), ulb_row_number(row, "columns"),
                      ulb_row_number(row, "bits_per_weight"), ulb_row_number(row, "rmse"),
                      ulb_row_number(row, "max_error"));
    }
    ulb_hover_end(canvas);
}

enum ulb_status ulb_draw_errors(const struct ulb_record *record, struct ulb_canvas *canvas,
                                struct ulb_error *err)
{
    const json_t *groups = json_object_get(json_object_get(record->root, "formats"), "groups");
    FILE *script = canvas->script;
    struct series series;
    double least, most;
    collect(groups, &series, &least, &most);
    if (series.n == 0)
        return ulb_fail(
            err, ULB_BAD_INPUT,
            "the record has no errors of formats; 'ulb-bench formats --out DIR' makes one that has");
    ulb_put_title(canvas, record, "What a scale for fewer columns keeps, and its bits a weight", "all");
    ulb_put_frame(canvas, series.n, 5, 1);
    fprintf(script, "set yrange [%g:%g]\n", 0.6 * least, 2 * most);
    fprintf(script, "set logscale x 2\nset logscale y\nset xrange [24:6000]\n"
                    "set xtics (32, 64, 128, 256, 4096)\n"
                    "set xlabel \"columns that share a scale of half precision\"\n"
                    "set ylabel \"root mean square error, standard deviations\"\n");
    for (size_t f = 0; f < series.n; f++)
        put_points(canvas, groups, f, series.formats[f]);
    put_hover(canvas, groups);
    for (size_t f = 0; f < series.n; f++) {
        fprintf(
            script,
            "%s $points%zu using 1:2 with linespoints linewidth 2 pointtype %zu linecolor rgb '%s' title \"",
            f == 0 ? "plot" : ",", f, f + 5, ulb_series_colour(f));
        ulb_put_text(script, series.formats[f]);
        fprintf(script, "\", $points%zu using 1:2:3 with labels offset 0,0.9 notitle", f);
    }
    ulb_hover_plot(canvas);
    return ULB_OK;
}
