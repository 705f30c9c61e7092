/* Observed against predicted time of every cell: their ratio, with the band of 5 %. */
#include "plots/draw/figure.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_FORMATS = 24 };

struct names {
    const char *items[MAX_FORMATS];
    size_t n;
};

/* Index of the format, MAX_FORMATS when there is no room for it. */
static size_t index_of(struct names *formats, const char *format)
{
    size_t i = 0;
    while (i < formats->n && strcmp(formats->items[i], format) != 0)
        i++;
    if (i == formats->n && i < MAX_FORMATS)
        formats->items[formats->n++] = format;
    return i;
}

static bool is_predicted(const struct ulb_cell *cell)
{
    return cell->predicted_us > 0 && isfinite(cell->residual);
}

static bool is_noisy(const struct ulb_cell *cell)
{
    return cell->noise > ULB_NOISE_MAX;
}

struct range {
    double low_x, high_x, low_y, high_y;
};

static struct range range_of(const struct ulb_cell *cells, size_t n)
{
    struct range range = {INFINITY, 0, 0.85, 1.15};
    for (size_t i = 0; i < n; i++) {
        if (!is_predicted(&cells[i]))
            continue;
        range.low_x = fmin(range.low_x, cells[i].predicted_us / 1.3);
        range.high_x = fmax(range.high_x, cells[i].predicted_us * 1.3);
        range.low_y = fmin(range.low_y, 0.97 * (1 + cells[i].residual));
        range.high_y = fmax(range.high_y, 1.03 * (1 + cells[i].residual));
    }
    return range;
}

/* Points of one format, f MAX_FORMATS: of all without room, MAX_FORMATS + 1: of all noisy cells. */
static void put_points(FILE *script, const struct ulb_cell *cells, size_t n, struct names *formats, size_t f)
{
    fprintf(script, "$points%zu << END\n", f);
    for (size_t i = 0; i < n; i++) {
        size_t own = is_noisy(&cells[i]) ? MAX_FORMATS + 1 : index_of(formats, cells[i].format);
        if (is_predicted(&cells[i]) && own == f)
            fprintf(script, "%g %g\n", cells[i].predicted_us, 1 + cells[i].residual);
    }
    fprintf(script, "END\n");
}

static void put_hover(const struct ulb_canvas *canvas, const struct ulb_cell *cells, size_t n)
{
    ulb_hover_begin(canvas);
    for (size_t i = 0; i < n; i++) {
        if (is_predicted(&cells[i]))
            ulb_hover_cell(canvas, cells[i].predicted_us, 1 + cells[i].residual, &cells[i]);
    }
    ulb_hover_end(canvas);
}

static void put_title(const struct ulb_canvas *canvas, const struct ulb_record *record, const char *set)
{
    char what[160];
    double median = ulb_record_number(record, "prediction.median_abs_residual");
    double p95 = ulb_record_number(record, "prediction.p95_abs_residual");
    if (isfinite(median) && isfinite(p95))
        snprintf(what, sizeof what,
                 "Predicted against observed time: |residual| %.1f %% median, %.1f %% at the 95th percentile",
                 100 * median, 100 * p95);
    else
        snprintf(what, sizeof what, "Predicted against observed time");
    ulb_put_title(canvas, record, what, set);
}

static void put_figure(struct ulb_canvas *canvas, const struct ulb_record *record,
                       const struct ulb_cell *cells, size_t n)
{
    FILE *script = canvas->script;
    struct names formats = {.n = 0};
    struct range range = range_of(cells, n);
    size_t noisy = 0, further = 0;
    put_title(canvas, record, cells[0].set);
    for (size_t i = 0; i < n; i++) {
        if (is_predicted(&cells[i]) && is_noisy(&cells[i]))
            noisy++;
        else if (is_predicted(&cells[i]))
            further += index_of(&formats, cells[i].format) == MAX_FORMATS;
    }
    ulb_put_frame(canvas, formats.n + 2 + (further > 0), 30, 1);
    fprintf(script, "set logscale x\nset xrange [%g:%g]\nset yrange [%g:%g]\n", range.low_x, range.high_x,
            range.low_y, range.high_y);
    fprintf(script,
            "set xlabel \"predicted time of one GEMV, us\"\nset ylabel \"observed / predicted time\"\n");
    if (!canvas->text)
        fprintf(script,
                "set object rectangle from graph 0, first 0.95 to graph 1, first 1.05 behind fillcolor "
                "rgb '#E0EAF4' fillstyle solid noborder\n");
    for (size_t f = 0; f < formats.n; f++)
        put_points(script, cells, n, &formats, f);
    put_points(script, cells, n, &formats, MAX_FORMATS);
    put_points(script, cells, n, &formats, MAX_FORMATS + 1);
    put_hover(canvas, cells, n);
    fprintf(script, "plot 1 with lines linecolor rgb '#000000' linewidth 1 notitle, keyentry with boxes "
                    "fillstyle solid 1.0 linecolor rgb '#E0EAF4' title \"within 5 %%\"");
    for (size_t f = 0; f < formats.n; f++) {
        fprintf(script,
                ", $points%zu using 1:2 with points pointtype %zu pointsize 0.9 linecolor rgb '%s' title \"",
                f, 4 + f % 10, ulb_format_colour(formats.items[f]));
        ulb_put_text(script, formats.items[f]);
        fprintf(script, "\"");
    }
    if (further > 0)
        fprintf(script,
                ", $points%d using 1:2 with points pointtype 1 pointsize 0.7 linecolor rgb '#555555' title "
                "\"further formats\"",
                MAX_FORMATS);
    if (noisy > 0)
        fprintf(script,
                ", $points%d using 1:2 with points pointtype 2 pointsize 0.7 linecolor rgb '#999999' title "
                "\"noise of the cell beyond %.0f %%\"",
                MAX_FORMATS + 1, 100 * ULB_NOISE_MAX);
    ulb_hover_plot(canvas);
}

enum ulb_status ulb_draw_prediction(const struct ulb_record *record, struct ulb_canvas *canvas,
                                    struct ulb_error *err)
{
    struct ulb_cell *cells;
    size_t n, predicted = 0;
    enum ulb_status status = ulb_record_cells(record, &cells, &n, err);
    if (status != ULB_OK)
        return status;
    for (size_t i = 0; i < n; i++)
        predicted += is_predicted(&cells[i]);
    if (predicted > 0)
        put_figure(canvas, record, cells, n);
    else
        status = ulb_fail(err, ULB_BAD_INPUT, "the record has no predictions to draw");
    ulb_cells_free(cells, n);
    return status;
}
