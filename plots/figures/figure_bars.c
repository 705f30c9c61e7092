/* Attained bandwidth of the best kernel of each format over the shapes (the form of the paper's figures 5 to
 * 7). */
#include "plots/figures/shape_bars.h"
#include "common/units.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_FORMATS = 24, TITLE = 96 };

struct formats {
    const char *names[MAX_FORMATS];
    size_t n;
};

struct layout {
    const struct ulb_cell **columns;
    size_t n_columns;
    struct formats formats;
    double width; /* of a bar */
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

/* Memory is faster and slower in turn: shares of what it was beside each cell can be compared with one
 * another and with one line, bandwidths cannot. */
static double height(const struct ulb_shape_bars *bars, const struct ulb_cell *cell)
{
    bool known = bars->shares && bars->limit > 0 && isfinite(cell->efficiency);
    return known ? cell->efficiency * bars->limit : cell->gbps;
}

/* The fastest cell of a format at a shape; NULL when it was not measured there. */
static const struct ulb_cell *best_cell(const struct ulb_shape_bars *bars, const char *format,
                                        const struct ulb_cell *shape)
{
    const struct ulb_cell *best = NULL;
    for (size_t i = 0; i < bars->n; i++) {
        if (strcmp(bars->cells[i]->format, format) == 0 && ulb_same_shape(bars->cells[i], shape) &&
            (!best || height(bars, bars->cells[i]) > height(bars, best)))
            best = bars->cells[i];
    }
    return best;
}

static double middle(const struct layout *layout, size_t column, size_t format)
{
    return (double)column - 0.42 + layout->width * ((double)format + 0.5);
}

/* Data of one format. Its legend names the kernel when one is behind all bars. */
static void put_format(FILE *script, const struct ulb_shape_bars *bars, const struct layout *layout, size_t f,
                       char title[TITLE])
{
    const char *format = layout->formats.names[f], *kernel = NULL;
    bool several = false;
    fprintf(script, "$format%zu << END\n", f);
    for (size_t c = 0; c < layout->n_columns; c++) {
        const struct ulb_cell *best = best_cell(bars, format, layout->columns[c]);
        if (!best)
            continue;
        several |= kernel && strcmp(kernel, best->kernel) != 0;
        kernel = best->kernel;
        fprintf(script, "%g %g %g\n", middle(layout, c, f), height(bars, best), layout->width);
    }
    fprintf(script, "END\n");
    snprintf(title, TITLE, "%s: %s", format, several ? "best kernel of each shape" : kernel);
}

static void put_hover(const struct ulb_canvas *canvas, const struct ulb_shape_bars *bars,
                      const struct layout *layout)
{
    ulb_hover_begin(canvas);
    for (size_t c = 0; c < layout->n_columns; c++) {
        for (size_t f = 0; f < layout->formats.n; f++) {
            const struct ulb_cell *best = best_cell(bars, layout->formats.names[f], layout->columns[c]);
            if (best)
                ulb_hover_cell(canvas, middle(layout, c, f), height(bars, best), best);
        }
    }
    ulb_hover_end(canvas);
}

/* Published points, each over the bar of its format and shape. */
static void put_marks(FILE *script, const struct ulb_shape_bars *bars, const struct layout *layout)
{
    for (size_t i = 0; i < bars->n_marks; i++) {
        const struct ulb_bar_mark *mark = &bars->marks[i];
        size_t f = format_index(&layout->formats, mark->format);
        fprintf(script, "$mark%zu << END\n", i);
        for (size_t c = 0; c < layout->n_columns && f < layout->formats.n; c++) {
            if (mark->m == 0 || (mark->m == layout->columns[c]->m && mark->k == layout->columns[c]->k))
                fprintf(script, "%g %g\n", middle(layout, c, f), mark->gbps);
        }
        fprintf(script, "END\n");
    }
}

static void put_plot(const struct ulb_canvas *canvas, const struct ulb_shape_bars *bars,
                     const struct layout *layout, char titles[][TITLE])
{
    FILE *script = canvas->script;
    fprintf(script, "plot ");
    for (size_t f = 0; f < layout->formats.n; f++) {
        fprintf(script, "%s$format%zu using 1:2:3 with boxes linecolor rgb '%s' title \"", f ? ", " : "", f,
                ulb_format_colour(layout->formats.names[f]));
        ulb_put_text(script, titles[f]);
        fprintf(script, "\"");
    }
    if (bars->limit > 0)
        fprintf(
            script,
            ", keyentry with lines linecolor rgb '#000000' linewidth 2 dashtype 2 title \"%s, %.1f GB/s\"",
            bars->limit_name, bars->limit);
    for (size_t i = 0; i < bars->n_marks; i++) {
        fprintf(script,
                ", $mark%zu using 1:2 with points pointtype %d pointsize 1.2 linewidth 1.5 linecolor rgb "
                "'#000000' title \"",
                i, bars->marks[i].point_type);
        ulb_put_text(script, bars->marks[i].title);
        fprintf(script, "\"");
    }
    ulb_hover_plot(canvas);
}

static double highest(const struct ulb_shape_bars *bars)
{
    double top = bars->limit > 0 ? bars->limit : 0;
    for (size_t i = 0; i < bars->n; i++)
        top = fmax(top, height(bars, bars->cells[i]));
    for (size_t i = 0; i < bars->n_marks; i++)
        top = bars->marks[i].gbps > top ? bars->marks[i].gbps : top;
    return top;
}

static void put_figure(struct ulb_canvas *canvas, const struct ulb_shape_bars *bars,
                       const struct layout *layout)
{
    FILE *script = canvas->script;
    char titles[MAX_FORMATS][TITLE];
    size_t longest = strlen(bars->limit_name) + strlen(", 1000.0 GB/s");
    unsigned needed = 90 + ulb_shape_column_width(canvas, layout->n_columns) * (unsigned)layout->n_columns;
    canvas->width = needed > canvas->width ? needed : canvas->width;
    for (size_t f = 0; f < layout->formats.n; f++) {
        put_format(script, bars, layout, f, titles[f]);
        longest = strlen(titles[f]) > longest ? strlen(titles[f]) : longest;
    }
    for (size_t i = 0; i < bars->n_marks; i++)
        longest = strlen(bars->marks[i].title) > longest ? strlen(bars->marks[i].title) : longest;
    put_marks(script, bars, layout);
    put_hover(canvas, bars, layout);
    ulb_put_frame(canvas, layout->formats.n + 1 + bars->n_marks, longest,
                  ulb_shape_tic_lines(canvas, layout->n_columns));
    ulb_put_shape_axis(canvas, layout->columns, layout->n_columns);
    fprintf(script, "set yrange [0:%g]\nset ylabel \"weight bytes read, GB/s (1e9 bytes/s)\"\n",
            1.15 * highest(bars));
    fprintf(script, "set style fill solid 1.0 noborder\nset grid noxtics\n");
    if (bars->limit > 0)
        fprintf(script,
                "set arrow from graph 0, first %g to graph 1, first %g nohead linecolor rgb '#000000' "
                "linewidth 2 dashtype 2 front\n",
                bars->limit, bars->limit);
    put_plot(canvas, bars, layout, titles);
}

enum ulb_status ulb_put_shape_bars(struct ulb_canvas *canvas, const struct ulb_shape_bars *bars,
                                   struct ulb_error *err)
{
    struct layout layout = {.n_columns = 0};
    enum ulb_status status = collect_formats(bars->cells, bars->n, &layout.formats, err);
    if (status != ULB_OK)
        return status;
    layout.columns = calloc(bars->n, sizeof *layout.columns);
    if (!layout.columns)
        return ulb_fail(err, ULB_ENVIRONMENT, "not enough memory for the figure");
    layout.n_columns = ulb_shape_columns(bars->cells, bars->n, layout.columns);
    layout.width = 0.84 / (double)layout.formats.n;
    put_figure(canvas, bars, &layout);
    free(layout.columns);
    return ULB_OK;
}

enum ulb_status ulb_draw_bars(const struct ulb_record *record, struct ulb_canvas *canvas,
                              struct ulb_error *err)
{
    struct ulb_cell *all = NULL;
    const struct ulb_cell **cells = NULL;
    size_t n_all = 0, n = 0;
    enum ulb_status status = ulb_record_cells(record, &all, &n_all, err);
    if (status == ULB_OK)
        status = ulb_choose_cells(record, all, n_all, &cells, &n, err);
    if (status == ULB_OK) {
        char what[128];
        struct ulb_shape_bars bars = {.cells = cells,
                                      .n = n,
                                      .limit = ulb_yardstick_gbps(record, cells[0]->set),
                                      .limit_name =
                                          "yardstick; a bar is the share of it that was reached beside it",
                                      .shares = true};
        snprintf(what, sizeof what, "Attained GEMV bandwidth, %s weights, %u thread%s", cells[0]->mode,
                 cells[0]->threads, ULB_S(cells[0]->threads));
        ulb_put_title(canvas, record, what, cells[0]->set);
        status = ulb_put_shape_bars(canvas, &bars, err);
    }
    free(cells);
    ulb_cells_free(all, n_all);
    return status;
}
