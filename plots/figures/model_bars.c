/* GEMV bandwidth of a modelled platform over the shapes (the form of the paper's figures 5 to 7), from the
 * document of its models, with what the text publishes as points. */
#include "plots/figures/shape_bars.h"

#include "common/units.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

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
static size_t find_marks(const json_t *document, struct ulb_bar_mark marks[MAX_MARKS])
{
    const char *platform = json_string_value(json_object_get(json_object_get(document, "platform"), "name"));
    size_t n = 0;
    if (!platform)
        return 0;
    double us = published(document, platform, "small.measured");
    if (us > 0)
        marks[n++] = (struct ulb_bar_mark){
            "int2", "published: int2 1600 x 1600 as measured", 1600, 1600, 1600.0 * 1600 / 4 / us * 1e-3,
            CROSS};
    double observed = published(document, platform, "int1.observed");
    double total = published(document, platform, "int1.total");
    if (observed > 0)
        marks[n++] = (struct ulb_bar_mark){
            "int1", "published: int1 as observed, all shapes", 0, 0, observed * ULB_GIB / ULB_GB, DIAMOND};
    else if (total > 0)
        marks[n++] = (struct ulb_bar_mark){
            "int1", "published: int1 as modelled there, large shapes", 0, 0, total * ULB_GIB / ULB_GB,
            DIAMOND};
    return n;
}

static enum ulb_status draw(const json_t *document, struct ulb_canvas *canvas, struct ulb_cell *cells,
                            const struct ulb_cell **chosen, struct ulb_error *err)
{
    const json_t *platform = json_object_get(document, "platform"), *row;
    struct ulb_bar_mark marks[MAX_MARKS];
    char title[96];
    size_t n = 0, i;
    json_array_foreach(json_object_get(document, "gemv"), i, row)
    {
        chosen[n] = &cells[n];
        n += to_cell(row, &cells[n]);
    }
    if (n == 0)
        return ulb_fail(err, ULB_BAD_INPUT, "the document has no GEMVs to draw");
    struct ulb_shape_bars bars = {.cells = chosen,
                                  .n = n,
                                  .limit = ulb_row_number(platform, "bandwidth_gbps"),
                                  .limit_name = "read bandwidth of the platform",
                                  .marks = marks,
                                  .n_marks = find_marks(document, marks)};
    copy_text(platform, "title", title, sizeof title);
    double fork_join = ulb_row_number(platform, "fork_join_us");
    fprintf(canvas->script, "set title \"Modelled GEMV bandwidth, cold weights, all cores, ");
    if (fork_join >= 0)
        fprintf(canvas->script, "with %g us of fork/join\\n", fork_join);
    else
        fprintf(canvas->script, "without fork/join, which is not published\\n");
    ulb_put_short_text(canvas->script, title, 60);
    fprintf(canvas->script, "; read bandwidth %.1f GB/s\"\n", bars.limit);
    return ulb_put_shape_bars(canvas, &bars, err);
}

enum ulb_status ulb_draw_model_bars(const struct ulb_record *record, struct ulb_canvas *canvas,
                                    struct ulb_error *err)
{
    size_t room = json_array_size(json_object_get(record->root, "gemv")) + 1;
    struct ulb_cell *cells = calloc(room, sizeof *cells);
    const struct ulb_cell **chosen = calloc(room, sizeof *chosen);
    enum ulb_status status = cells && chosen
                                 ? draw(record->root, canvas, cells, chosen, err)
                                 : ulb_fail(err, ULB_ENVIRONMENT, "not enough memory for the figure");
    free(chosen);
    free(cells);
    return status;
}
