/* Throughput over the number of tokens, beside the compute limit and what the memory allows. Of each format
 * it is the fastest kernel, at the shape that was measured with most N. */
#include "plots/draw/figure.h"
#include "common/units.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_FORMATS = 24, MAX_PEAKS = 3 };

struct gemm {
    const struct ulb_cell *shape;
    const struct ulb_cell **best; /* of each format and N, by format */
    size_t n_best;
    const char *formats[MAX_FORMATS];
    size_t n_formats;
    bool further; /* formats than have room */
    double most;  /* N */
};

static size_t count_shape(const struct ulb_cell *cells, size_t n, const struct ulb_cell *shape)
{
    size_t count = 0;
    for (size_t i = 0; i < n; i++)
        count += cells[i].n > 1 && ulb_same_shape(&cells[i], shape);
    return count;
}

static const struct ulb_cell *find_shape(const struct ulb_cell *cells, size_t n)
{
    const struct ulb_cell *shape = NULL;
    size_t most = 0;
    for (size_t i = 0; i < n; i++) {
        size_t count = cells[i].n > 1 ? count_shape(cells, n, &cells[i]) : 0;
        if (count > most) {
            shape = &cells[i];
            most = count;
        }
    }
    return shape;
}

/* Whether no other cell of its format, shape and N is faster; of equals the first counts. */
static bool is_best(const struct ulb_cell *cells, size_t n, const struct ulb_cell *cell)
{
    for (const struct ulb_cell *other = cells; other < cells + n; other++) {
        if (other != cell && other->n == cell->n && ulb_same_shape(other, cell) &&
            strcmp(other->format, cell->format) == 0 &&
            (other->gops > cell->gops || (other->gops == cell->gops && other < cell)))
            return false;
    }
    return true;
}

/* Whether the format was measured with more than one token at the shape: else it has no curve. */
static bool has_curve(const struct ulb_cell *cells, size_t n, const struct ulb_cell *cell)
{
    for (size_t i = 0; i < n; i++) {
        if (cells[i].n > 1 && ulb_same_shape(&cells[i], cell) && strcmp(cells[i].format, cell->format) == 0)
            return true;
    }
    return false;
}

static int by_tokens(const void *a, const void *b)
{
    const struct ulb_cell *left = *(const struct ulb_cell *const *)a,
                          *right = *(const struct ulb_cell *const *)b;
    return (left->n > right->n) - (left->n < right->n);
}

static enum ulb_status collect(const struct ulb_cell *cells, size_t n, struct gemm *gemm,
                               struct ulb_error *err)
{
    gemm->shape = find_shape(cells, n);
    if (!gemm->shape)
        return ulb_fail(err, ULB_BAD_INPUT,
                        "the record has no results for more than one token; "
                        "'ulb-bench gemm --json' measures them");
    gemm->best = calloc(n, sizeof *gemm->best);
    if (!gemm->best)
        return ulb_fail(err, ULB_ENVIRONMENT, "not enough memory for the figure");
    for (size_t i = 0; i < n; i++) {
        if (!ulb_same_shape(&cells[i], gemm->shape) || !is_best(cells, n, &cells[i]) ||
            !has_curve(cells, n, &cells[i]))
            continue;
        size_t f = 0;
        while (f < gemm->n_formats && strcmp(gemm->formats[f], cells[i].format) != 0)
            f++;
        if (f == MAX_FORMATS) {
            gemm->further = true;
            continue;
        }
        gemm->formats[f] = cells[i].format;
        gemm->n_formats += f == gemm->n_formats;
        gemm->best[gemm->n_best++] = &cells[i];
        gemm->most = fmax(gemm->most, (double)cells[i].n);
    }
    qsort(gemm->best, gemm->n_best, sizeof *gemm->best, by_tokens);
    return ULB_OK;
}

/* One curve with its points; and what the memory allows while every token adds its operations to the same
 * weight bytes. */
static void put_data(const struct ulb_canvas *canvas, const struct gemm *gemm)
{
    FILE *script = canvas->script;
    for (size_t f = 0; f < gemm->n_formats; f++) {
        fprintf(script, "$format%zu << END\n", f);
        for (size_t i = 0; i < gemm->n_best; i++) {
            const struct ulb_cell *cell = gemm->best[i];
            if (strcmp(cell->format, gemm->formats[f]) == 0)
                fprintf(script, "%zu %g %g\n", cell->n, cell->gops,
                        cell->gops / cell->gbps * cell->yardstick_gbps);
        }
        fprintf(script, "END\n");
    }
    ulb_hover_begin(canvas);
    for (size_t i = 0; i < gemm->n_best; i++) {
        const struct ulb_cell *cell = gemm->best[i];
        ulb_hover(canvas, (double)cell->n, cell->gops,
                  "%s\nN = %zu: %.1f GOP/s, %.1f us\n%.0f %% of the compute limit, %.0f %% of the yardstick",
                  cell->kernel, cell->n, cell->gops, cell->us, 100 * cell->peak_share,
                  100 * cell->efficiency);
    }
    ulb_hover_end(canvas);
}

/* The largest limit for each kind of activation, as lines and for the range. */
static double put_peaks(const struct ulb_record *record, FILE *script)
{
    static const char *const kinds[MAX_PEAKS][2] = {
        {"a8", "int8 dot products"}, {"f32", "single precision"}, {"bf16", "bfloat16"}};
    struct ulb_peak_cell *peaks;
    struct ulb_error err;
    size_t n;
    double highest = 0;
    if (ulb_record_peaks(record, &peaks, &n, &err) != ULB_OK)
        return 0;
    for (size_t k = 0; k < MAX_PEAKS; k++) {
        const struct ulb_peak_cell *best = NULL;
        for (size_t i = 0; i < n; i++) {
            if (strcmp(peaks[i].activation, kinds[k][0]) == 0 && (!best || peaks[i].gops > best->gops))
                best = &peaks[i];
        }
        if (!best)
            continue;
        highest = fmax(highest, best->gops);
        fprintf(script,
                "set arrow from graph 0, first %g to graph 1, first %g nohead linecolor rgb '#000000' "
                "linewidth 1.5 dashtype 2 front\nset label \"compute limit, %s: %.0f GOP/s\" at graph 0.02, "
                "first %g offset 0, 0.5 front\n",
                best->gops, best->gops, kinds[k][1], best->gops, best->gops);
    }
    ulb_peaks_free(peaks, n);
    return highest;
}

static void put_figure(struct ulb_canvas *canvas, const struct ulb_record *record, const struct gemm *gemm)
{
    FILE *script = canvas->script;
    const struct ulb_cell *shape = gemm->shape;
    char what[160];
    double low = INFINITY, high = put_peaks(record, script);
    for (size_t i = 0; i < gemm->n_best; i++) {
        low = fmin(low, gemm->best[i]->gops);
        high = fmax(high, gemm->best[i]->gops);
    }
    snprintf(what, sizeof what, "Throughput over the number of tokens, %.31s %.31s %zu x %zu, %u thread%s",
             shape->model, shape->layer, shape->m, shape->k, shape->threads, ULB_S(shape->threads));
    ulb_put_title(canvas, record, what, shape->set);
    ulb_put_frame(canvas, gemm->n_formats + 1 + gemm->further, 40, 1);
    fprintf(script, "set logscale xy\nset logscale x 2\nset xrange [0.9:%g]\nset yrange [%g:%g]\n",
            1.15 * gemm->most, low / 1.5, high * 1.6);
    fprintf(script,
            "set xlabel \"N: tokens at once\"\nset ylabel \"GOP/s (1e9 operations/s, 2 M K N of them)\"\n");
    put_data(canvas, gemm);
    fprintf(script, "plot ");
    for (size_t f = 0; f < gemm->n_formats; f++) {
        const char *colour = ulb_format_colour(gemm->formats[f]);
        fprintf(script,
                "$format%zu using 1:3 with lines linewidth 1 dashtype 3 linecolor rgb '%s' notitle, "
                "$format%zu using "
                "1:2 with linespoints linewidth 2 pointtype %zu pointsize 1 linecolor rgb '%s' title \"",
                f, colour, f, 4 + f % 10, colour);
        ulb_put_text(script, gemm->formats[f]);
        fprintf(script, "\", ");
    }
    fprintf(script,
            "keyentry with lines dashtype 3 linecolor rgb '#000000' title \"what the yardstick allows\"");
    if (gemm->further)
        fprintf(script, ", keyentry with points pointtype 0 linecolor rgb '#000000' title "
                        "\"further formats are left out\"");
    ulb_hover_plot(canvas);
}

enum ulb_status ulb_draw_gemm(const struct ulb_record *record, struct ulb_canvas *canvas,
                              struct ulb_error *err)
{
    struct ulb_cell *cells;
    struct gemm gemm = {.n_best = 0};
    size_t n;
    enum ulb_status status = ulb_record_cells(record, &cells, &n, err);
    if (status != ULB_OK)
        return status;
    status = collect(cells, n, &gemm, err);
    if (status == ULB_OK)
        put_figure(canvas, record, &gemm);
    free(gemm.best);
    ulb_cells_free(cells, n);
    return status;
}
