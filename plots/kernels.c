/* Every kernel at every shape: its fraction of the yardstick, as a table of coloured numbers. */
#include "plots/canvas.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static size_t find_rows(const struct ulb_cell *const *cells, size_t n, const char **rows)
{
    size_t used = 0;
    for (size_t i = 0; i < n; i++) {
        size_t r = 0;
        while (r < used && strcmp(rows[r], cells[i]->kernel) != 0)
            r++;
        if (r == used)
            rows[used++] = cells[i]->kernel;
    }
    return used;
}

static void put_data(FILE *script, const struct ulb_cell *const *cells, size_t n,
                     const struct ulb_cell *const *columns, size_t n_columns, const char *const *rows,
                     size_t n_rows)
{
    fprintf(script, "$cells << END\n");
    for (size_t i = 0; i < n; i++) {
        size_t c = 0, r = 0;
        while (c < n_columns && !ulb_same_shape(columns[c], cells[i]))
            c++;
        while (r < n_rows && strcmp(rows[r], cells[i]->kernel) != 0)
            r++;
        if (isfinite(cells[i]->efficiency))
            fprintf(script, "%zu %zu %g\n", c, r, cells[i]->efficiency);
    }
    fprintf(script, "END\n");
}

static void put_figure(struct ulb_canvas *canvas, const struct ulb_record *record,
                       const struct ulb_cell *const *cells, size_t n, const struct ulb_cell *const *columns,
                       size_t n_columns, const char *const *rows, size_t n_rows)
{
    FILE *script = canvas->script;
    char what[128];
    size_t longest = 0;
    for (size_t r = 0; r < n_rows; r++)
        longest = strlen(rows[r]) > longest ? strlen(rows[r]) : longest;
    canvas->width = 130 + 8 * (unsigned)longest + 66 * (unsigned)n_columns;
    canvas->height = canvas->text ? 234 + 18 * (unsigned)n_rows : 210 + 24 * (unsigned)n_rows;
    snprintf(what, sizeof what, "GEMV bandwidth as a fraction of the yardstick, %s weights, %u threads",
             cells[0]->mode, cells[0]->threads);
    ulb_put_title(canvas, record, what, cells[0]->set);
    ulb_put_frame(canvas, 0, 1, ULB_SHAPE_TIC_LINES);
    ulb_put_shape_axis(canvas, columns, n_columns);
    fprintf(script, "set yrange [%g:%g]\nset ytics scale 0 (", (double)n_rows - (canvas->text ? 0 : 0.5),
            canvas->text ? -3 : -1.5);
    for (size_t r = 0; r < n_rows; r++) {
        fprintf(script, "%s\"", r ? ", " : "");
        ulb_put_text(script, rows[r]);
        fprintf(script, "\" %zu", r);
    }
    fprintf(script, ")\nunset key\nset grid noxtics noytics\n");
    fprintf(script, "set cbrange [0:1]\nset cblabel \"GB/s / yardstick GB/s\"\n"
                    "set palette defined (0 '#FFFFFF', 1 '#56B4E9')\n");
    put_data(script, cells, n, columns, n_columns, rows, n_rows);
    fprintf(script, "plot %s$cells using 1:2:(sprintf(\"%%.2f\", $3)) with labels\n",
            canvas->text
                ? ""
                : "$cells using 1:2:(0.5):(0.5):3 with boxxyerror palette fillstyle solid 1.0 noborder, ");
}

enum ulb_status ulb_draw_kernels(const struct ulb_record *record, struct ulb_canvas *canvas,
                                 struct ulb_error *err)
{
    struct ulb_cell *all = NULL;
    const struct ulb_cell **cells = NULL, **columns = NULL;
    const char **rows = NULL;
    size_t n_all = 0, n = 0;
    enum ulb_status status = ulb_record_cells(record, &all, &n_all, err);
    if (status == ULB_OK)
        status = ulb_choose_cells(record, all, n_all, &cells, &n, err);
    if (status != ULB_OK)
        goto done;
    columns = calloc(n, sizeof *columns);
    rows = calloc(n, sizeof *rows);
    if (!columns || !rows) {
        status = ulb_fail(err, ULB_ENVIRONMENT, "not enough memory for the figure");
        goto done;
    }
    size_t n_columns = ulb_shape_columns(cells, n, columns), n_rows = find_rows(cells, n, rows);
    put_figure(canvas, record, cells, n, columns, n_columns, rows, n_rows);
done:
    free(rows);
    free(columns);
    free(cells);
    ulb_cells_free(all, n_all);
    return status;
}
