/* Attained bandwidth of the best kernel of each format over the shapes (the form of the paper's figures 5 to
 * 7). */
#include "plots/canvas.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_FORMATS = 24, TITLE = 96 };

struct formats {
    const char *names[MAX_FORMATS];
    size_t n;
};

struct bars {
    const struct ulb_cell **cells, **columns;
    size_t n, n_columns;
    struct formats formats;
    double yardstick; /* GB/s, NAN when unknown */
};

static size_t format_index(const struct formats *formats, const char *name)
{
    size_t i = 0;
    while (i < formats->n && strcmp(formats->names[i], name) != 0)
        i++;
    return i;
}

static enum ulb_status collect_formats(const struct ulb_cell *const *cells, size_t n, struct formats *formats,
                                       struct ulb_error *err)
{
    for (size_t i = 0; i < n; i++) {
        if (format_index(formats, cells[i]->format) < formats->n)
            continue;
        if (formats->n == MAX_FORMATS)
            return ulb_fail(err, ULB_BAD_INPUT, "more than %d formats do not fit into one figure",
                            MAX_FORMATS);
        formats->names[formats->n++] = cells[i]->format;
    }
    return ULB_OK;
}

/* The fastest cell of a format at a shape; NULL when it was not measured there. */
static const struct ulb_cell *best_cell(const struct ulb_cell *const *cells, size_t n, const char *format,
                                        const struct ulb_cell *shape)
{
    const struct ulb_cell *best = NULL;
    for (size_t i = 0; i < n; i++) {
        if (strcmp(cells[i]->format, format) == 0 && ulb_same_shape(cells[i], shape) &&
            (!best || cells[i]->gbps > best->gbps))
            best = cells[i];
    }
    return best;
}

/* Data of one format. Its legend names the kernel when one is behind all bars. */
static void put_format(FILE *script, const struct bars *bars, size_t f, char title[TITLE])
{
    double width = 0.84 / (double)bars->formats.n;
    const char *format = bars->formats.names[f], *kernel = NULL;
    bool several = false;
    fprintf(script, "$format%zu << END\n", f);
    for (size_t c = 0; c < bars->n_columns; c++) {
        const struct ulb_cell *best = best_cell(bars->cells, bars->n, format, bars->columns[c]);
        if (!best)
            continue;
        several |= kernel && strcmp(kernel, best->kernel) != 0;
        kernel = best->kernel;
        fprintf(script, "%g %g %g\n", (double)c - 0.42 + width * ((double)f + 0.5), best->gbps, width);
    }
    fprintf(script, "END\n");
    snprintf(title, TITLE, "%s: %s", format, several ? "best kernel of each shape" : kernel);
}

static void put_plot(FILE *script, const struct bars *bars, char titles[][TITLE])
{
    fprintf(script, "plot ");
    for (size_t f = 0; f < bars->formats.n; f++) {
        fprintf(script, "%s$format%zu using 1:2:3 with boxes linecolor rgb '%s' title \"", f ? ", " : "", f,
                ulb_format_colour(bars->formats.names[f]));
        ulb_put_text(script, titles[f]);
        fprintf(script, "\"");
    }
    if (bars->yardstick > 0)
        fprintf(script,
                ", keyentry with lines linecolor rgb '#000000' linewidth 2 dashtype 2 title \"yardstick, "
                "%.1f GB/s\"",
                bars->yardstick);
    fprintf(script, "\n");
}

static double highest(const struct bars *bars)
{
    double top = bars->yardstick > 0 ? bars->yardstick : 0;
    for (size_t i = 0; i < bars->n; i++)
        top = bars->cells[i]->gbps > top ? bars->cells[i]->gbps : top;
    return top;
}

static void put_figure(struct ulb_canvas *canvas, const struct ulb_record *record, const struct bars *bars)
{
    FILE *script = canvas->script;
    const struct ulb_cell *any = bars->cells[0];
    char what[128], titles[MAX_FORMATS][TITLE];
    size_t longest = 0;
    if (90 + 72 * (unsigned)bars->n_columns > canvas->width)
        canvas->width = 90 + 72 * (unsigned)bars->n_columns;
    for (size_t f = 0; f < bars->formats.n; f++) {
        put_format(script, bars, f, titles[f]);
        longest = strlen(titles[f]) > longest ? strlen(titles[f]) : longest;
    }
    snprintf(what, sizeof what, "Attained GEMV bandwidth, %s weights, %u threads", any->mode, any->threads);
    ulb_put_title(canvas, record, what, any->set);
    ulb_put_frame(canvas, bars->formats.n + 1, longest, ULB_SHAPE_TIC_LINES);
    ulb_put_shape_axis(canvas, bars->columns, bars->n_columns);
    fprintf(script, "set yrange [0:%g]\nset ylabel \"weight bytes read, GB/s (1e9 bytes/s)\"\n",
            1.15 * highest(bars));
    fprintf(script, "set style fill solid 1.0 noborder\nset grid noxtics\n");
    if (bars->yardstick > 0)
        fprintf(script,
                "set arrow from graph 0, first %g to graph 1, first %g nohead linecolor rgb '#000000' "
                "linewidth 2 "
                "dashtype 2 front\n",
                bars->yardstick, bars->yardstick);
    put_plot(script, bars, titles);
}

enum ulb_status ulb_draw_bars(const struct ulb_record *record, struct ulb_canvas *canvas,
                              struct ulb_error *err)
{
    struct ulb_cell *all = NULL;
    struct bars bars = {.n = 0};
    size_t n_all = 0;
    enum ulb_status status = ulb_record_cells(record, &all, &n_all, err);
    if (status == ULB_OK)
        status = ulb_choose_cells(record, all, n_all, &bars.cells, &bars.n, err);
    if (status == ULB_OK)
        status = collect_formats(bars.cells, bars.n, &bars.formats, err);
    if (status != ULB_OK)
        goto done;
    bars.columns = calloc(bars.n, sizeof *bars.columns);
    if (!bars.columns) {
        status = ulb_fail(err, ULB_ENVIRONMENT, "not enough memory for the figure");
        goto done;
    }
    bars.n_columns = ulb_shape_columns(bars.cells, bars.n, bars.columns);
    bars.yardstick = ulb_yardstick_gbps(record, bars.cells[0]->set);
    put_figure(canvas, record, &bars);
done:
    free(bars.columns);
    free(bars.cells);
    ulb_cells_free(all, n_all);
    return status;
}
