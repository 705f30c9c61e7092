/* Bandwidth of each format over the shapes of models (the form of the paper's figures 5 to 7). It is attained
 * by its best kernel, or of a modelled platform. */
#include "common/units.h"
#include "plots/draw/figure.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_FORMATS = 24, TITLE = 96 };

/* What somebody published of a format at one shape; m 0: at every shape. */
struct bar_mark {
    const char *format, *title;
    size_t m, k;
    double gbps;
    int point_type; /* gnuplot's */
};

struct shape_bars {
    const struct ulb_cell *const *cells; /* at least one; the fastest of each format and shape is drawn */
    size_t n;
    double limit; /* GB/s, a line across; NAN when unknown */
    const char *limit_name;
    bool shares; /* a bar is the cell's share of the yardstick beside it, times the limit; else its GB/s */
    const struct bar_mark *marks;
    size_t n_marks;
};

struct formats {
    const char *names[MAX_FORMATS];
    size_t n;
};

struct layout {
    const struct ulb_cell **columns;
    size_t n_columns;
    struct formats formats;
    struct ulb_cell_groups groups; /* of the bars' cells */
    double width;                  /* of a bar */
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

/* Memory is faster and slower in turn. Shares of what it was beside each cell can be compared with one
 * another and with one line; bandwidths cannot. */
static double height(const struct shape_bars *bars, const struct ulb_cell *cell)
{
    bool known = bars->shares && bars->limit > 0 && isfinite(cell->efficiency);
    return known ? cell->efficiency * bars->limit : cell->gbps;
}

/* The fastest cell of a format at a shape; NULL when it was not measured there. */
static const struct ulb_cell *best_cell(const struct shape_bars *bars, const struct layout *layout,
                                        const char *format, const struct ulb_cell *shape)
{
    const struct ulb_cell_groups like = ulb_cells_like(&layout->groups, format, shape);
    const struct ulb_cell *best = NULL;
    for (size_t i = 0; i < like.n; i++)
        best = !best || height(bars, like.cells[i]) > height(bars, best) ? like.cells[i] : best;
    return best;
}

static double middle(const struct layout *layout, size_t column, size_t format)
{
    return (double)column - 0.42 + layout->width * ((double)format + 0.5);
}

/* Data of one format. Its legend names the kernel when one is behind all bars. */
static void put_format(FILE *script, const struct shape_bars *bars, const struct layout *layout, size_t f,
                       char title[TITLE])
{
    const char *format = layout->formats.names[f], *kernel = NULL;
    bool several = false;
    fprintf(script, "$format%zu << END\n", f);
    for (size_t c = 0; c < layout->n_columns; c++) {
        const struct ulb_cell *best = best_cell(bars, layout, format, layout->columns[c]);
        if (!best)
            continue;
        several |= kernel && strcmp(kernel, best->kernel) != 0;
        kernel = best->kernel;
        fprintf(script, "%g %g %g\n", middle(layout, c, f), height(bars, best), layout->width);
    }
    fprintf(script, "END\n");
    const char *by = several ? "best kernel of each shape" : kernel ? kernel : "";
    snprintf(title, TITLE, "%s%s%s", format, by[0] ? ": " : "", by);
}

static void put_hover(const struct ulb_canvas *canvas, const struct shape_bars *bars,
                      const struct layout *layout)
{
    ulb_hover_begin(canvas);
    for (size_t c = 0; c < layout->n_columns; c++) {
        for (size_t f = 0; f < layout->formats.n; f++) {
            const struct ulb_cell *best =
                best_cell(bars, layout, layout->formats.names[f], layout->columns[c]);
            if (best)
                ulb_hover_cell(canvas, middle(layout, c, f), height(bars, best), best);
        }
    }
    ulb_hover_end(canvas);
}

/* Published points, each over the bar of its format and shape. */
static void put_marks(FILE *script, const struct shape_bars *bars, const struct layout *layout)
{
    for (size_t i = 0; i < bars->n_marks; i++) {
        const struct bar_mark *mark = &bars->marks[i];
        size_t f = format_index(&layout->formats, mark->format);
        fprintf(script, "$mark%zu << END\n", i);
        for (size_t c = 0; c < layout->n_columns && f < layout->formats.n; c++) {
            if (mark->m == 0 || (mark->m == layout->columns[c]->m && mark->k == layout->columns[c]->k))
                fprintf(script, "%g %g\n", middle(layout, c, f), mark->gbps);
        }
        fprintf(script, "END\n");
    }
}

static void put_plot(const struct ulb_canvas *canvas, const struct shape_bars *bars,
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

static double highest(const struct shape_bars *bars)
{
    double top = bars->limit > 0 ? bars->limit : 0;
    for (size_t i = 0; i < bars->n; i++)
        top = fmax(top, height(bars, bars->cells[i]));
    for (size_t i = 0; i < bars->n_marks; i++)
        top = bars->marks[i].gbps > top ? bars->marks[i].gbps : top;
    return top;
}

static void put_figure(struct ulb_canvas *canvas, const struct shape_bars *bars, const struct layout *layout)
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

/* Frame, axes and plot command; the title is the caller's. ULB_BAD_INPUT: more formats than fit. */
static enum ulb_status put_shape_bars(struct ulb_canvas *canvas, const struct shape_bars *bars,
                                      struct ulb_error *err)
{
    struct layout layout = {.n_columns = 0};
    enum ulb_status status = collect_formats(bars->cells, bars->n, &layout.formats, err);
    if (status != ULB_OK)
        return status;
    layout.columns = calloc(bars->n, sizeof *layout.columns);
    if (!layout.columns || !ulb_group_cells(&layout.groups, bars->cells, bars->n)) {
        free(layout.columns);
        return ulb_fail(err, ULB_ENVIRONMENT, "not enough memory for the figure");
    }
    layout.n_columns = ulb_shape_columns(bars->cells, bars->n, layout.columns);
    layout.width = 0.84 / (double)layout.formats.n;
    put_figure(canvas, bars, &layout);
    ulb_cell_groups_free(&layout.groups);
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
        struct shape_bars bars = {.cells = cells,
                                  .n = n,
                                  .limit = ulb_yardstick_gbps(record, cells[0]->set),
                                  .limit_name =
                                      "yardstick; a bar is the share of it that was reached beside it",
                                  .shares = true};
        if (cells[0]->threads > 0)
            snprintf(what, sizeof what, "Attained GEMV bandwidth, %s weights, %u thread%s", cells[0]->mode,
                     cells[0]->threads, ULB_S(cells[0]->threads));
        else
            snprintf(what, sizeof what, "Attained GEMV bandwidth, %s weights, device %.32s", cells[0]->mode,
                     cells[0]->set);
        ulb_put_title(canvas, record, what, cells[0]->set);
        status = put_shape_bars(canvas, &bars, err);
    }
    free(cells);
    ulb_cells_free(all, n_all);
    return status;
}

/* ---- of a modelled platform, from the document of its models, with what the text publishes as points ----
 */

enum { MAX_MARKS = 2, CROSS = 2, DIAMOND = 13 };

static void copy_text(const json_t *row, const char *key, char *out, size_t bytes)
{
    snprintf(out, bytes, "%s", ulb_row_text(row, key));
}

/* The source's figures show these, however many the catalogue holds. */
static bool is_paper_model(const char *model)
{
    static const char *const models[] = {"falcon3-1b", "mobilellm-1.5b", "llama3-8b"};
    for (size_t i = 0; i < sizeof models / sizeof *models; i++) {
        if (strcmp(model, models[i]) == 0)
            return true;
    }
    return false;
}

static bool to_cell(const json_t *row, struct ulb_cell *cell)
{
    double m = ulb_row_number(row, "m"), k = ulb_row_number(row, "k");
    double gbps = ulb_row_number(row, "gbps"), us = ulb_row_number(row, "predicted_us");
    if (isnan(gbps)) { /* fork/join is not known */
        us = ulb_row_number(row, "ideal_us");
        gbps = ulb_row_number(row, "weight_mb") / us * 1e3;
    }
    *cell = (struct ulb_cell){.n = 1, .gbps = gbps, .efficiency = NAN, .residual = NAN, .us = us};
    copy_text(row, "sequence", cell->kernel, sizeof cell->kernel);
    copy_text(row, "format", cell->format, sizeof cell->format);
    copy_text(row, "model", cell->model, sizeof cell->model);
    copy_text(row, "layer", cell->layer, sizeof cell->layer);
    snprintf(cell->verdict, sizeof cell->verdict, "modelled");
    if (!is_paper_model(cell->model) || !(m >= 1) || !(k >= 1) || m > 1e9 || k > 1e9 || !(gbps > 0))
        return false;
    cell->m = (size_t)m;
    cell->k = (size_t)k;
    return true;
}

static double published(const json_t *document, const char *platform, const char *what)
{
    const json_t *rows = json_object_get(document, "published"), *row;
    char wanted[96];
    size_t i;
    snprintf(wanted, sizeof wanted, "%s.%s", platform, what);
    json_array_foreach(rows, i, row)
    {
        const char *id = json_string_value(json_object_get(row, "id"));
        if (id && strcmp(id, wanted) == 0)
            return ulb_row_number(row, "value");
    }
    return NAN;
}

/* One measured time of a small int2 matrix, and the int1 GEMV of whole chips; both in the paper's units. */
static size_t find_marks(const json_t *document, struct bar_mark marks[MAX_MARKS])
{
    const char *platform = json_string_value(json_object_get(json_object_get(document, "platform"), "name"));
    size_t n = 0;
    if (!platform)
        return 0;
    double us = published(document, platform, "small.measured");
    if (us > 0)
        marks[n++] = (struct bar_mark){
            "int2", "published: int2 1600 x 1600 as measured", 1600, 1600, 1600.0 * 1600 / 4 / us * 1e-3,
            CROSS};
    double observed = published(document, platform, "int1.observed");
    double total = published(document, platform, "int1.total");
    if (observed > 0)
        marks[n++] = (struct bar_mark){
            "int1", "published: int1 as observed, all shapes", 0, 0, observed * ULB_GIB / ULB_GB, DIAMOND};
    else if (total > 0)
        marks[n++] = (struct bar_mark){
            "int1", "published: int1 as modelled there, large shapes", 0, 0, total * ULB_GIB / ULB_GB,
            DIAMOND};
    return n;
}

static enum ulb_status draw_model(const json_t *document, struct ulb_canvas *canvas, struct ulb_cell *cells,
                                  const struct ulb_cell **chosen, struct ulb_error *err)
{
    const json_t *platform = json_object_get(document, "platform"), *row;
    struct bar_mark marks[MAX_MARKS];
    char title[96];
    size_t n = 0, i;
    json_array_foreach(json_object_get(document, "gemv"), i, row)
    {
        chosen[n] = &cells[n];
        n += to_cell(row, &cells[n]);
    }
    if (n == 0)
        return ulb_fail(err, ULB_BAD_INPUT, "the document has no GEMVs to draw");
    struct shape_bars bars = {.cells = chosen,
                              .n = n,
                              .limit = ulb_row_number(platform, "bandwidth_gbps"),
                              .limit_name = "read bandwidth of the platform",
                              .marks = marks,
                              .n_marks = find_marks(document, marks)};
    copy_text(platform, "title", title, sizeof title);
    bool device = strcmp(ulb_row_text(platform, "kind"), "device") == 0;
    const char *beside = device ? "launch" : "fork/join";
    double us = ulb_row_number(platform, device ? "launch_us" : "fork_join_us");
    fprintf(canvas->script, "set title \"Modelled GEMV bandwidth, cold weights, %s, ",
            device ? "the device" : "all cores");
    if (us >= 0)
        fprintf(canvas->script, "with %g us of %s\\n", us, beside);
    else
        fprintf(canvas->script, "without %s, which is not published\\n", beside);
    ulb_put_short_text(canvas->script, title, 60);
    fprintf(canvas->script, "; read bandwidth %.1f GB/s\"\n", bars.limit);
    return put_shape_bars(canvas, &bars, err);
}

enum ulb_status ulb_draw_model_bars(const struct ulb_record *record, struct ulb_canvas *canvas,
                                    struct ulb_error *err)
{
    size_t room = json_array_size(json_object_get(record->root, "gemv")) + 1;
    struct ulb_cell *cells = calloc(room, sizeof *cells);
    const struct ulb_cell **chosen = calloc(room, sizeof *chosen);
    enum ulb_status status = cells && chosen
                                 ? draw_model(record->root, canvas, cells, chosen, err)
                                 : ulb_fail(err, ULB_ENVIRONMENT, "not enough memory for the figure");
    free(chosen);
    free(cells);
    return status;
}
