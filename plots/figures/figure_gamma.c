/* gamma of every kernel beside the lower limit that the core's ports set to it. */
#include "plots/draw/figure.h"

#include <math.h>
#include <string.h>

/* The port bound of a kernel on a class, cycles; NAN when the record has none. */
static double bound_of(const struct ulb_record *record, const struct ulb_gamma_cell *cell)
{
    const json_t *rows = json_object_get(record->root, "port_bounds"), *row;
    size_t i;
    json_array_foreach(rows, i, row)
    {
        const char *kernel = json_string_value(json_object_get(row, "kernel"));
        const char *class = json_string_value(json_object_get(row, "class"));
        const json_t *cycles = json_object_get(row, "bound_cycles");
        if (kernel && class && strcmp(kernel, cell->kernel) == 0 && strcmp(class, cell->cls) == 0)
            return json_is_number(cycles) ? json_number_value(cycles) : NAN;
    }
    return NAN;
}

/* Puts the measured cells to the front; returns how many there are. */
static size_t keep_measured(struct ulb_gamma_cell *cells, size_t n)
{
    size_t kept = 0;
    for (size_t i = 0; i < n; i++) {
        if (!(cells[i].gamma_cycles > 0))
            continue;
        struct ulb_gamma_cell cell = cells[kept];
        cells[kept++] = cells[i];
        cells[i] = cell;
    }
    return kept;
}

static bool several_classes(const struct ulb_gamma_cell *cells, size_t n)
{
    for (size_t i = 1; i < n; i++) {
        if (strcmp(cells[i].cls, cells[0].cls) != 0)
            return true;
    }
    return false;
}

/* Cells that are faster than their bound by more than their noise: the model of the ports is too strict. */
static size_t count_below(const struct ulb_record *record, const struct ulb_gamma_cell *cells, size_t n)
{
    size_t below = 0;
    for (size_t i = 0; i < n; i++)
        below +=
            cells[i].gamma_cycles + fmax(cells[i].gamma_mad_cycles, 0) < 0.99 * bound_of(record, &cells[i]);
    return below;
}

/* Returns how many cells have a port bound. */
static size_t put_data(const struct ulb_canvas *canvas, const struct ulb_record *record,
                       const struct ulb_gamma_cell *cells, size_t n)
{
    FILE *script = canvas->script;
    size_t bounds = 0;
    fprintf(script, "$gamma << END\n");
    for (size_t i = 0; i < n; i++)
        fprintf(script, "%g %zu 0x%s\n", cells[i].gamma_cycles, i, ulb_format_colour(cells[i].format) + 1);
    fprintf(script, "END\n$bound << END\n");
    for (size_t i = 0; i < n; i++) {
        double bound = bound_of(record, &cells[i]);
        if (isfinite(bound)) {
            fprintf(script, "%g %zu\n", bound, i);
            bounds++;
        }
    }
    fprintf(script, "END\n");
    ulb_hover_begin(canvas);
    for (size_t i = 0; i < n; i++) {
        double bound = bound_of(record, &cells[i]);
        char limit[64] = "its port bound is not known";
        if (isfinite(bound))
            snprintf(limit, sizeof limit, "port bound %.3f: %.2f of it", bound,
                     cells[i].gamma_cycles / bound);
        ulb_hover(canvas, cells[i].gamma_cycles, (double)i,
                  "%s, class %s\ngamma %.3f, minimum %.3f, MAD %.3f\n%s\n"
                  "B/gamma %.2f bytes/cycle",
                  cells[i].kernel, cells[i].cls, cells[i].gamma_cycles, cells[i].gamma_min_cycles,
                  cells[i].gamma_mad_cycles, limit, cells[i].bytes_per_step / cells[i].gamma_cycles);
    }
    ulb_hover_end(canvas);
    return bounds;
}

static void put_names(FILE *script, const struct ulb_gamma_cell *cells, size_t n)
{
    bool classes = several_classes(cells, n);
    fprintf(script, "set ytics scale 0 (");
    for (size_t i = 0; i < n; i++) {
        fprintf(script, "%s\"", i ? ", " : "");
        ulb_put_tic_text(script, cells[i].kernel, sizeof cells[i].kernel);
        if (classes) {
            fprintf(script, ", ");
            ulb_put_tic_text(script, cells[i].cls, sizeof cells[i].cls);
        }
        fprintf(script, "\" %zu", i);
    }
    fprintf(script, ")\n");
}

static void put_figure(struct ulb_canvas *canvas, const struct ulb_record *record,
                       const struct ulb_gamma_cell *cells, size_t n)
{
    FILE *script = canvas->script;
    double largest = 0;
    for (size_t i = 0; i < n; i++)
        largest = fmax(largest, cells[i].gamma_cycles);
    canvas->height = 170 + 20 * (unsigned)n;
    ulb_put_title(canvas, record, "Compute cost of each kernel and what the core's ports allow", "all");
    ulb_put_frame(canvas, 3, 50, 1);
    put_names(script, cells, n);
    fprintf(script, "set yrange [%g:-0.7]\nset xrange [0:%g]\nset grid noytics\n", (double)n - 0.3,
            1.12 * largest);
    fprintf(script, "set xlabel \"gamma: core cycles per 32 weights, weights in L1\"\n");
    size_t bounds = put_data(canvas, record, cells, n);
    fprintf(script,
            "set style fill solid 1.0 noborder\n"
            "plot $gamma using ($1/2.):2:(0):1:($2-0.38):($2+0.38):3 with boxxyerror linecolor rgb variable "
            "notitle, $gamma using 1:2:(sprintf(\"%%.2f\", $1)) with labels left offset 0.6 notitle, "
            "keyentry with boxes linecolor rgb '#0072B2' title \"measured, one colour a format\"");
    size_t below = count_below(record, cells, n);
    if (bounds > 0)
        fprintf(script, ", $bound using 1:($2-0.46):(0):(0.92) with vectors nohead linewidth 3 linecolor rgb "
                        "'#000000' notitle, keyentry with lines linewidth 3 linecolor rgb '#000000' title "
                        "\"port bound, by a model of this core's ports\"");
    if (bounds > 0 && below > 0)
        fprintf(script,
                ", keyentry with points pointtype 0 linecolor rgb '#000000' title \"%zu of %zu are faster: "
                "there the model is too strict\"",
                below, n);
    if (bounds == 0)
        fprintf(script,
                ", keyentry with points pointtype 0 linecolor rgb '#000000' title \"the ports of this "
                "core are not known\"");
    ulb_hover_plot(canvas);
}

enum ulb_status ulb_draw_gamma(const struct ulb_record *record, struct ulb_canvas *canvas,
                               struct ulb_error *err)
{
    struct ulb_gamma_cell *cells;
    size_t n;
    enum ulb_status status = ulb_record_gamma_cells(record, &cells, &n, err);
    if (status != ULB_OK)
        return status;
    size_t measured = keep_measured(cells, n);
    if (measured > 0)
        put_figure(canvas, record, cells, measured);
    else
        status = ulb_fail(err, ULB_BAD_INPUT, "the record has no gamma to draw");
    ulb_gamma_cells_free(cells, n);
    return status;
}
