/* Effective-bandwidth rooflines e_bw = min(beta, B/gamma) of measured kernels (the form of the paper's figure
 * 4). Vertical lines are the machine's own beta of each core class. Points are the measured GEMV results. */
#include "common/stats.h"
#include "plots/draw/figure.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_BETAS = 4, TITLE = 128 };
enum { SQUARE = 4, CIRCLE = 6 }; /* gnuplot's point types */

struct curve {
    const struct ulb_gamma_cell *cell;
    double ceiling;     /* B/gamma */
    size_t class_index; /* of its core class, in the order of the record */
    bool fastest;       /* of its format and class; else one of the paper's sequences */
    size_t points;      /* measured GEMVs drawn for it */
};

struct roofline {
    struct ulb_gamma_cell *gammas;
    struct ulb_beta_cell *betas;
    struct ulb_cell *all;
    const struct ulb_cell **cells;
    size_t n_gammas, n_betas, n_all, n_cells;
    struct curve *curves; /* room for n_gammas */
    size_t n_curves;
    struct ulb_beta_line classes[MAX_BETAS]; /* beta NAN when unknown */
    size_t n_classes;
    struct ulb_resolved_beta sound; /* of the set of the GEMV results */
    double per_gbps; /* bytes/cycle of one of its cores when all of them read 1 GB/s; NAN when unknown */
    struct ulb_extent extent; /* of all that is drawn */
};

static size_t class_index(struct roofline *figure, const char *cls)
{
    size_t i = 0;
    while (i < figure->n_classes && strcmp(figure->classes[i].cls, cls) != 0)
        i++;
    if (i == figure->n_classes && i < MAX_BETAS)
        figure->classes[figure->n_classes++] = (struct ulb_beta_line){cls, NAN};
    return i;
}

static double ceiling(const struct ulb_gamma_cell *cell)
{
    return cell->bytes_per_step / cell->gamma_cycles;
}

/* The paper's own sequences are those on 256-bit vectors with a dot-product instruction, in any of its
 * encodings. */
static bool is_paper_sequence(const struct ulb_gamma_cell *cell)
{
    static const char *const encodings[] = {"avxvnni", "avx512vnni256", "avxvnniint8"};
    if (!strstr(cell->kernel, "-pshufb-") && !strstr(cell->kernel, "-blend-"))
        return false;
    for (size_t i = 0; i < sizeof encodings / sizeof *encodings; i++) {
        if (strcmp(cell->isa, encodings[i]) == 0)
            return true;
    }
    return false;
}

/* By what GEMVs reached, where either has some; else, and of equals, by the ceiling. */
static bool is_faster(const struct roofline *figure, const struct ulb_gamma_cell *a,
                      const struct ulb_gamma_cell *b)
{
    const struct ulb_cell *const *cells = (const struct ulb_cell *const *)figure->cells;
    double left = ulb_kernel_share(cells, figure->n_cells, a->kernel),
           right = ulb_kernel_share(cells, figure->n_cells, b->kernel);
    if (isnan(left) != isnan(right))
        return isnan(right);
    if (fabs(left - right) > 0)
        return left > right;
    return ceiling(a) > ceiling(b) || (ceiling(a) == ceiling(b) && a < b);
}

/* Whether no other kernel of the same format and class is faster; of equals the first counts. */
static bool is_fastest(const struct roofline *figure, const struct ulb_gamma_cell *cell, bool among_paper)
{
    for (const struct ulb_gamma_cell *other = figure->gammas; other < figure->gammas + figure->n_gammas;
         other++) {
        if (strcmp(other->format, cell->format) != 0 || strcmp(other->cls, cell->cls) != 0 ||
            (among_paper && !is_paper_sequence(other)))
            continue;
        if (other != cell && ceiling(other) > 0 && is_faster(figure, other, cell))
            return false;
    }
    return true;
}

static void collect_curves(struct roofline *figure)
{
    for (size_t i = 0; i < figure->n_gammas; i++) {
        const struct ulb_gamma_cell *cell = &figure->gammas[i];
        if (!(ceiling(cell) > 0))
            continue;
        size_t c = class_index(figure, cell->cls);
        bool fastest = is_fastest(figure, cell, false);
        if (c < MAX_BETAS && (fastest || (is_paper_sequence(cell) && is_fastest(figure, cell, true))))
            figure->curves[figure->n_curves++] = (struct curve){cell, ceiling(cell), c, fastest, 0};
    }
}

static const struct ulb_beta_cell *memory_cell(const struct roofline *figure, const char *set)
{
    for (size_t i = 0; i < figure->n_betas; i++) {
        if (strcmp(figure->betas[i].level, "mem") == 0 && strcmp(figure->betas[i].set, set) == 0)
            return &figure->betas[i];
    }
    return NULL;
}

/* Bytes/cycle of one core of the set for each GB/s of all. The frequency is that between the samples of the
 * grid. A record of an older version has that of the beta stage alone. */
static double per_gbps_of(const struct ulb_record *record, const char *set, const struct ulb_beta_cell *whole)
{
    struct ulb_yardstick *yardsticks;
    struct ulb_error err;
    size_t n;
    double result = whole ? whole->bytes_per_cycle / whole->gbps : NAN;
    if (ulb_record_yardsticks(record, &yardsticks, &n, &err) != ULB_OK)
        return result;
    for (size_t i = 0; i < n; i++) {
        double hz = ulb_median_of(yardsticks[i].hz_samples, yardsticks[i].n_hz);
        if (strcmp(yardsticks[i].set, set) == 0 && hz > 0)
            result = 1e9 / yardsticks[i].threads / hz;
    }
    ulb_yardsticks_free(yardsticks, n);
    return result;
}

/* beta of a class while all cores read: its share of the whole set's bandwidth (the paper's IV-B) at the
 * clock of the class. With one class that is the clock of the set. If the clock is not in the record, it is
 * what the class reads by itself. */
static void find_betas(struct roofline *figure, const struct ulb_record *record)
{
    const char *set = figure->n_cells ? figure->cells[0]->set : "all";
    const struct ulb_beta_cell *whole = memory_cell(figure, set);
    figure->sound = ulb_record_resolved_beta(record, set);
    figure->per_gbps = per_gbps_of(record, set, whole);
    for (size_t c = 0; c < figure->n_classes; c++) {
        struct ulb_beta_line *class = &figure->classes[c];
        char place[64];
        snprintf(place, sizeof place, "clock.hz.%s", class->cls);
        double hz = ulb_record_number(record, place);
        const struct ulb_beta_cell *own = memory_cell(figure, class->cls);
        if (figure->n_classes == 1 && figure->per_gbps > 0)
            class->beta = figure->sound.gbps * figure->per_gbps;
        else if (whole && hz > 0)
            class->beta = figure->sound.gbps * 1e9 / whole->threads / hz;
        else if (own)
            class->beta = own->bytes_per_cycle;
    }
}

static const struct curve *curve_of(const struct roofline *figure, const char *kernel)
{
    for (size_t i = 0; i < figure->n_curves; i++) {
        if (strcmp(figure->curves[i].cell->kernel, kernel) == 0)
            return &figure->curves[i];
    }
    return NULL;
}

/* Where a measured GEMV stands. The machine's memory may be faster or slower while a cell is measured than
 * when its beta was. So the point is at `min(beta, B/gamma) * measured / min(yardstick, B/gamma)`, with the
 * yardstick beside the cell's own samples. */
static double point_height(const struct roofline *figure, const struct curve *curve,
                           const struct ulb_cell *cell)
{
    double observed = cell->gbps * figure->per_gbps;
    double own_beta = observed / cell->efficiency, beta = figure->sound.gbps * figure->per_gbps;
    if (!(own_beta > 0) || !(beta > 0))
        return observed;
    return observed / fmin(own_beta, curve->ceiling) * fmin(beta, curve->ceiling);
}

static void find_range(struct roofline *figure, const struct ulb_canvas *canvas)
{
    figure->extent = ulb_extent_empty();
    for (size_t i = 0; i < figure->n_curves; i++)
        ulb_extent_add(&figure->extent, figure->curves[i].ceiling);
    for (size_t c = 0; c < figure->n_classes; c++)
        ulb_extent_add(&figure->extent, figure->classes[c].beta);
    for (size_t i = 0; i < figure->n_cells; i++) {
        const struct curve *curve = curve_of(figure, figure->cells[i]->kernel);
        if (curve)
            ulb_extent_add(&figure->extent, point_height(figure, curve, figure->cells[i]));
    }
    ulb_extent_add_paper_betas(canvas, &figure->extent);
    ulb_extent_close(&figure->extent);
}

/* Where the points of one kernel stand: right of beta, in a column of the kernel's own. At beta itself the
 * kernels would hide each other. */
static double point_place(const struct roofline *figure, size_t column)
{
    return figure->sound.gbps * figure->per_gbps * exp2(0.05 * (double)(column + 1));
}

/* Data of curve i, from where it leaves the slope, with its points. */
static void put_curve_data(struct roofline *figure, FILE *script, size_t i, size_t column)
{
    struct curve *curve = &figure->curves[i];
    fprintf(script, "$curve%zu << END\n%g %g\n%g %g\nEND\n$points%zu << END\n", i, curve->ceiling,
            curve->ceiling, figure->extent.highest, curve->ceiling, i);
    for (size_t j = 0; j < figure->n_cells; j++) {
        double y = point_height(figure, curve, figure->cells[j]);
        if (curve != curve_of(figure, figure->cells[j]->kernel) || !(y > 0))
            continue;
        fprintf(script, "%g %g\n", point_place(figure, column), y);
        curve->points++;
    }
    fprintf(script, "END\n");
}

static void curve_title(const struct curve *curve, char title[TITLE])
{
    snprintf(title, TITLE, "%s, %s: gamma %.2f", curve->cell->kernel, curve->cell->cls,
             curve->cell->gamma_cycles);
}

/* What the beta of this machine was taken from; false when it was not measured. */
static bool beta_title(const struct roofline *figure, char title[TITLE])
{
    const struct ulb_resolved_beta *sound = &figure->sound;
    if (!(sound->gbps > 0) || !(figure->per_gbps > 0))
        return false;
    if (sound->disagree)
        snprintf(title, TITLE, "beta from the %s, %.1f GB/s; the %s got only %.1f",
                 sound->from_yardstick ? "yardstick" : "beta stage", sound->gbps,
                 sound->from_yardstick ? "beta stage" : "yardstick",
                 fmin(sound->stage_gbps, sound->yardstick_gbps));
    else
        snprintf(title, TITLE, "beta of this machine, from the %s, %.1f GB/s",
                 sound->from_yardstick ? "yardstick" : "beta stage", sound->gbps);
    return true;
}

/* Values on pointing: the GEMVs, and the ceilings at their right ends. */
static void put_hover(const struct roofline *figure, const struct ulb_canvas *canvas)
{
    size_t column = 0;
    ulb_hover_begin(canvas);
    for (size_t i = 0; i < figure->n_curves; i++) {
        const struct curve *curve = &figure->curves[i];
        ulb_hover(canvas, figure->extent.highest, curve->ceiling,
                  "%s, class %s\ngamma %.3f: B/gamma %.2f bytes/cycle", curve->cell->kernel, curve->cell->cls,
                  curve->cell->gamma_cycles, curve->ceiling);
        for (size_t j = 0; j < figure->n_cells && curve->points; j++) {
            if (curve == curve_of(figure, figure->cells[j]->kernel))
                ulb_hover_cell(canvas, point_place(figure, column),
                               point_height(figure, curve, figure->cells[j]), figure->cells[j]);
        }
        column += curve->points > 0;
    }
    ulb_hover_end(canvas);
}

/* The slope is common to all curves and drawn last, over their lower ends. */
static void put_plot(const struct roofline *figure, const struct ulb_canvas *canvas)
{
    FILE *script = canvas->script;
    char beta[TITLE];
    size_t any_points = 0;
    for (size_t i = 0; i < figure->n_curves; i++) {
        const struct curve *curve = &figure->curves[i];
        fprintf(script, "set style line %zu linecolor rgb '%s' linewidth %s dashtype %zu\n", i + 1,
                ulb_format_colour(curve->cell->format), curve->fastest ? "3" : "1.5", curve->class_index + 1);
    }
    fprintf(script, "plot ");
    for (size_t i = 0; i < figure->n_curves; i++) {
        char title[TITLE];
        curve_title(&figure->curves[i], title);
        /* The legend's sample stands apart: some viewers of SVG join it to the curve where both are one path.
         */
        fprintf(script,
                "$curve%zu with lines linestyle %zu notitle, keyentry with lines linestyle %zu title \"", i,
                i + 1, i + 1);
        ulb_put_text(script, title);
        fprintf(script, "\", ");
    }
    fprintf(script,
            "$slope with lines linecolor rgb '#000000' linewidth 2 title \"memory-bound: e_bw = beta\"");
    for (size_t i = 0; i < figure->n_curves; i++) {
        any_points += figure->curves[i].points;
        if (figure->curves[i].points)
            fprintf(
                script,
                ", $points%zu with points pointtype %d pointsize 1 linewidth 1.5 linecolor rgb '%s' notitle",
                i, figure->curves[i].fastest ? CIRCLE : SQUARE,
                ulb_format_colour(figure->curves[i].cell->format));
    }
    if (any_points)
        fprintf(script,
                ", keyentry with points pointtype 6 pointsize 1 linewidth 1.5 linecolor rgb '#000000' title "
                "\"measured GEMV, %s: share of what its own time allowed; one column a kernel\"",
                figure->cells[0]->mode);
    if (beta_title(figure, beta))
        fprintf(script, ", keyentry with lines linecolor rgb '#%06X' linewidth 2 title \"%s\"", ULB_BETA_RGB,
                beta);
    if (!canvas->text)
        fprintf(script, ", keyentry with lines linecolor rgb '#%06X' linewidth 1 title \"%s\"",
                ULB_PAPER_BETAS_RGB, ULB_PAPER_BETAS_TITLE);
    ulb_hover_plot(canvas);
}

static void put_figure(struct roofline *figure, const struct ulb_record *record, struct ulb_canvas *canvas)
{
    FILE *script = canvas->script;
    size_t longest = 40, columns = 0;
    double slope_end = figure->extent.lowest;
    for (size_t i = 0; i < figure->n_curves; i++) {
        char title[TITLE];
        curve_title(&figure->curves[i], title);
        longest = strlen(title) > longest ? strlen(title) : longest;
        slope_end = fmax(slope_end, figure->curves[i].ceiling);
        put_curve_data(figure, script, i, columns);
        columns += figure->curves[i].points > 0;
    }
    fprintf(script, "$slope << END\n%g %g\n%g %g\nEND\n", figure->extent.lowest, figure->extent.lowest,
            slope_end, slope_end);
    ulb_put_title(canvas, record, "Effective-bandwidth roofline: e_bw = min(beta, B/gamma)",
                  figure->n_cells ? figure->cells[0]->set : "all");
    ulb_put_frame(canvas, figure->n_curves + 4, longest, 1);
    ulb_put_roof_axes(script, &figure->extent, figure->n_classes);
    ulb_put_betas(script, figure->classes, figure->n_classes);
    ulb_put_paper_betas(canvas);
    put_hover(figure, canvas);
    put_plot(figure, canvas);
}

enum ulb_status ulb_draw_roofline(const struct ulb_record *record, struct ulb_canvas *canvas,
                                  struct ulb_error *err)
{
    struct roofline figure = {.n_curves = 0};
    enum ulb_status status = ulb_record_gamma_cells(record, &figure.gammas, &figure.n_gammas, err);
    if (status == ULB_OK)
        status = ulb_record_beta_cells(record, &figure.betas, &figure.n_betas, err);
    if (status == ULB_OK)
        status = ulb_record_cells(record, &figure.all, &figure.n_all, err);
    if (status != ULB_OK)
        goto done;
    figure.curves = calloc(figure.n_gammas + 1, sizeof *figure.curves);
    if (!figure.curves) {
        status = ulb_fail(err, ULB_ENVIRONMENT, "not enough memory for the figure");
        goto done;
    }
    /* Without GEMV results the figure has no points, which is no fault. */
    status = ulb_choose_cells(record, figure.all, figure.n_all, &figure.cells, &figure.n_cells, err);
    if (status != ULB_OK && status != ULB_BAD_INPUT)
        goto done;
    if (status == ULB_BAD_INPUT)
        figure.n_cells = 0;
    status = ULB_OK;
    collect_curves(&figure);
    if (figure.n_curves == 0) {
        status = ulb_fail(err, ULB_BAD_INPUT, "the record has no gamma to draw a roofline from");
        goto done;
    }
    find_betas(&figure, record);
    find_range(&figure, canvas);
    put_figure(&figure, record, canvas);
done:
    free(figure.curves);
    free(figure.cells);
    ulb_cells_free(figure.all, figure.n_all);
    ulb_beta_cells_free(figure.betas, figure.n_betas);
    ulb_gamma_cells_free(figure.gammas, figure.n_gammas);
    return status;
}
