/* Every kernel at every shape: its fraction of the yardstick, as a table of coloured numbers, the best on
 * top. */
#include "plots/draw/figure.h"
#include "common/units.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Kernels in descending order of their mean share; few, so that each is put in its place. */
static size_t find_rows(const struct ulb_cell *const *cells, size_t n, const char **rows)
{
    size_t used = 0;
    for (size_t i = 0; i < n; i++) {
        size_t r = 0;
        while (r < used && strcmp(rows[r], cells[i]->kernel) != 0)
            r++;
        if (r < used)
            continue;
        double mean = fmax(ulb_kernel_share(cells, n, cells[i]->kernel), 0);
        for (r = used++; r > 0 && fmax(ulb_kernel_share(cells, n, rows[r - 1]), 0) < mean; r--)
            rows[r] = rows[r - 1];
        rows[r] = cells[i]->kernel;
    }
    return used;
}

struct table {
    const struct ulb_cell **cells, **columns;
    const char **rows;
    size_t n, n_columns, n_rows;
    struct ulb_cell_groups groups;
};

/* Column and row of a cell. */
static void find_place(const struct table *table, const struct ulb_cell *cell, size_t *column, size_t *row)
{
    *column = *row = 0;
    while (!ulb_same_shape(table->columns[*column], cell))
        ++*column;
    while (strcmp(table->rows[*row], cell->kernel) != 0)
        ++*row;
}

/* Whether none of its format has a larger share at its shape. */
static bool is_best(const struct table *table, const struct ulb_cell *cell)
{
    const struct ulb_cell_groups like = ulb_cells_like(&table->groups, cell->format, cell);
    for (size_t i = 0; i < like.n; i++) {
        if (like.cells[i]->efficiency > cell->efficiency)
            return false;
    }
    return true;
}

/* One colour, the clearer the smaller the share: what lies below shows, light or dark. As gnuplot takes it,
 * with the transparency in the upper byte. */
static unsigned long colour_of(double share)
{
    const unsigned long blue = 0x56B4E9, clear = (unsigned long)(255 * (1 - fmin(fmax(share, 0), 1)));
    return clear << 24 | blue;
}

static void put_data(const struct table *table, const struct ulb_canvas *canvas)
{
    size_t column, row;
    fprintf(canvas->script, "$cells << END\n");
    for (size_t i = 0; i < table->n; i++) {
        find_place(table, table->cells[i], &column, &row);
        if (isfinite(table->cells[i]->efficiency))
            fprintf(canvas->script, "%zu %zu %g %d %lu\n", column, row, table->cells[i]->efficiency,
                    is_best(table, table->cells[i]), colour_of(table->cells[i]->efficiency));
    }
    fprintf(canvas->script, "END\n");
    ulb_hover_begin(canvas);
    for (size_t i = 0; i < table->n; i++) {
        find_place(table, table->cells[i], &column, &row);
        ulb_hover_cell(canvas, (double)column, (double)row, table->cells[i]);
    }
    ulb_hover_end(canvas);
}

static void put_figure(const struct table *table, const struct ulb_record *record, struct ulb_canvas *canvas)
{
    FILE *script = canvas->script;
    char what[160];
    size_t longest = 0, n_rows = table->n_rows;
    for (size_t r = 0; r < n_rows; r++)
        longest = strlen(table->rows[r]) > longest ? strlen(table->rows[r]) : longest;
    canvas->width = 130 + 8 * (unsigned)longest +
                    ulb_shape_column_width(canvas, table->n_columns) * (unsigned)table->n_columns;
    canvas->height = canvas->text ? 234 + 18 * (unsigned)n_rows : 230 + 24 * (unsigned)n_rows;
    snprintf(what, sizeof what, "%s weights, %u thread%s: share of the yardstick; *: best of its format",
             table->cells[0]->mode, table->cells[0]->threads, ULB_S(table->cells[0]->threads));
    ulb_put_title(canvas, record, what, table->cells[0]->set);
    ulb_put_frame(canvas, 0, 1, ulb_shape_tic_lines(canvas, table->n_columns));
    ulb_put_shape_axis(canvas, table->columns, table->n_columns);
    fprintf(script, "set yrange [%g:%g]\nset ytics scale 0 (", (double)n_rows - (canvas->text ? 0 : 0.5),
            canvas->text ? -3 : -1.8);
    for (size_t r = 0; r < n_rows; r++) {
        fprintf(script, "%s\"", r ? ", " : "");
        ulb_put_tic_text(script, table->rows[r], strlen(table->rows[r]));
        fprintf(script, "\" %zu", r);
    }
    fprintf(script, ")\nunset key\nset grid noxtics noytics\n");
    put_data(table, canvas);
    fprintf(script, "plot %s$cells using 1:2:(sprintf($4 > 0 ? \"%%.2f*\" : \"%%.2f\", $3)) with labels",
            canvas->text ? ""
                         : "$cells using 1:2:(0.5):(0.5):5 with boxxyerror lc rgb variable fillstyle solid "
                           "1.0 noborder, ");
    ulb_hover_plot(canvas);
}

enum ulb_status ulb_draw_kernels(const struct ulb_record *record, struct ulb_canvas *canvas,
                                 struct ulb_error *err)
{
    struct ulb_cell *all = NULL;
    struct table table = {.n = 0};
    size_t n_all = 0;
    enum ulb_status status = ulb_record_cells(record, &all, &n_all, err);
    if (status == ULB_OK)
        status = ulb_choose_cells(record, all, n_all, &table.cells, &table.n, err);
    if (status != ULB_OK)
        goto done;
    table.columns = calloc(table.n, sizeof *table.columns);
    table.rows = calloc(table.n, sizeof *table.rows);
    if (!table.columns || !table.rows ||
        !ulb_group_cells(&table.groups, (const struct ulb_cell *const *)table.cells, table.n)) {
        status = ulb_fail(err, ULB_ENVIRONMENT, "not enough memory for the figure");
        goto done;
    }
    table.n_columns = ulb_shape_columns((const struct ulb_cell *const *)table.cells, table.n, table.columns);
    table.n_rows = find_rows((const struct ulb_cell *const *)table.cells, table.n, table.rows);
    put_figure(&table, record, canvas);
done:
    ulb_cell_groups_free(&table.groups);
    free(table.rows);
    free(table.columns);
    free(table.cells);
    ulb_cells_free(all, n_all);
    return status;
}
