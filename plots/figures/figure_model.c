/* The roofline of a modelled platform (the form of the paper's figure 4), from the document of the models. It
 * shows the sequences with the gammas of the platform's file, and with the port bounds of its real cores. It
 * also shows the 1-bit kernel that was measured elsewhere. */
#include "common/units.h"
#include "plots/draw/figure.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_CLASSES = 4, TITLE = 128 };

struct curve {
    char title[TITLE];
    double ceiling;
    size_t class_index, group; /* group: sequence and where its gamma comes from */
    const char *words[3];      /* format, sequence, gamma_from */
    bool modelled;
};

struct figure {
    struct curve *curves; /* room for all ceilings of the document */
    struct ulb_beta_line classes[MAX_CLASSES];
    size_t n_curves, n_classes, n_groups;
    struct ulb_extent extent;
};

/* The parts of a document that have ceilings and totals. */
enum { PARTS = 3 };

static void find_parts(const json_t *document, const json_t *parts[PARTS])
{
    parts[0] = document;
    parts[1] = json_object_get(document, "port_bounds");
    parts[2] = json_object_get(document, "modelled_int1");
}

static size_t class_index(const struct figure *figure, const char *name)
{
    size_t c = 0;
    while (c < figure->n_classes && strcmp(figure->classes[c].cls, name) != 0)
        c++;
    return c;
}

/* Curves of one sequence and source of gamma have one colour, whatever the class. */
static size_t group_index(struct figure *figure, const char *const words[3])
{
    for (size_t i = 0; i < figure->n_curves; i++) {
        const struct curve *curve = &figure->curves[i];
        if (strcmp(curve->words[0], words[0]) == 0 && strcmp(curve->words[1], words[1]) == 0 &&
            strcmp(curve->words[2], words[2]) == 0)
            return curve->group;
    }
    return figure->n_groups++;
}

static void add_curve(struct figure *figure, const json_t *row)
{
    double ceiling = ulb_row_number(row, "ceiling_bytes_per_cycle");
    size_t c = class_index(figure, ulb_row_text(row, "class"));
    if (!(ceiling > 0) || !isfinite(ceiling) || c == figure->n_classes)
        return;
    const char *core = ulb_row_text(row, "core"), *from = ulb_row_text(row, "gamma_from");
    const char *const words[3] = {ulb_row_text(row, "format"), ulb_row_text(row, "sequence"), from};
    size_t group = group_index(figure, words);
    struct curve *curve = &figure->curves[figure->n_curves++];
    *curve = (struct curve){.ceiling = ceiling,
                            .class_index = c,
                            .group = group,
                            .words = {words[0], words[1], words[2]},
                            .modelled = strcmp(from, "modelled") == 0};
    snprintf(curve->title, TITLE, "%.15s %.31s, %.7s: gamma %.3f, %.15s%s%.23s", ulb_row_text(row, "format"),
             ulb_row_text(row, "sequence"), ulb_row_text(row, "class"), ulb_row_number(row, "gamma_cycles"),
             from, core[0] ? " of " : "", core);
}

/* False: no memory for the curves. */
static bool collect(struct figure *figure, const json_t *document)
{
    const json_t *parts[PARTS], *row;
    size_t i, n = 1;
    find_parts(document, parts);
    for (size_t p = 0; p < PARTS; p++)
        n += json_array_size(json_object_get(parts[p], "ceilings"));
    figure->curves = calloc(n, sizeof *figure->curves);
    if (!figure->curves)
        return false;
    json_array_foreach(json_object_get(document, "classes"), i, row)
    {
        if (figure->n_classes < MAX_CLASSES)
            figure->classes[figure->n_classes++] = (struct ulb_beta_line){
                ulb_row_text(row, "name"), ulb_row_number(row, "beta_bytes_per_cycle")};
    }
    for (size_t p = 0; p < PARTS; p++) {
        json_array_foreach(json_object_get(parts[p], "ceilings"), i, row) add_curve(figure, row);
    }
    figure->extent = ulb_extent_empty();
    for (i = 0; i < figure->n_curves; i++)
        ulb_extent_add(&figure->extent, figure->curves[i].ceiling);
    for (i = 0; i < figure->n_classes; i++)
        ulb_extent_add(&figure->extent, figure->classes[i].beta);
    ulb_extent_close(&figure->extent);
    return true;
}

/* Second line: the chip, and what its GEMV reaches by each source of the 1-bit gammas. */
static void put_title(FILE *script, const json_t *document)
{
    const json_t *parts[PARTS], *platform = json_object_get(document, "platform"), *row;
    size_t i;
    find_parts(document, parts);
    fprintf(script, "set title \"Modelled roofline: e_bw = min(beta, B/gamma). ");
    ulb_put_short_text(script, ulb_row_text(platform, "title"), 60);
    fprintf(script, "\\n1-bit GEMV of the chip, GiB/s:");
    for (size_t p = 0; p < PARTS; p++) {
        json_array_foreach(json_object_get(parts[p], "totals"), i, row)
        {
            double gib = ulb_row_number(row, "gibps");
            if (strcmp(ulb_row_text(row, "format"), "int1") != 0 || !isfinite(gib))
                continue;
            fprintf(script, "  %.1f ", gib);
            ulb_put_short_text(script, ulb_row_text(row, "sequence"), 16);
            fprintf(script, " (");
            ulb_put_short_text(script, ulb_row_text(row, "gamma_from"), 16);
            fprintf(script, ")");
        }
    }
    fprintf(script, "\"\n");
}

/* The slope is common to all curves and drawn last, over their lower ends. */
static void put_curves(const struct figure *figure, FILE *script)
{
    double slope_end = figure->extent.lowest;
    for (size_t i = 0; i < figure->n_curves; i++) {
        const struct curve *curve = &figure->curves[i];
        slope_end = fmax(slope_end, curve->ceiling);
        fprintf(script, "$curve%zu << END\n%g %g\n%g %g\nEND\n", i, curve->ceiling, curve->ceiling,
                figure->extent.highest, curve->ceiling);
        fprintf(script, "set style line %zu linecolor rgb '%s' linewidth %s dashtype %zu\n", i + 1,
                ulb_series_colour(curve->group), curve->modelled ? "4" : "1.8", curve->class_index + 1);
    }
    fprintf(script, "$slope << END\n%g %g\n%g %g\nEND\nplot ", figure->extent.lowest, figure->extent.lowest,
            slope_end, slope_end);
    for (size_t i = 0; i < figure->n_curves; i++) {
        fprintf(script,
                "$curve%zu with lines linestyle %zu notitle, keyentry with lines linestyle %zu title \"", i,
                i + 1, i + 1);
        ulb_put_text(script, figure->curves[i].title);
        fprintf(script, "\", ");
    }
    fprintf(script,
            "$slope with lines linecolor rgb '#000000' linewidth 2 title \"memory-bound: e_bw = beta\"");
}

/* What the source publishes of a class, by the ids of its table: beta, and the 1-bit bandwidth of one core.
 * Both are points of the roofline. Returns how many there are. */
static size_t put_published(FILE *script, const json_t *document)
{
    const json_t *classes = json_object_get(document, "classes"), *class, *row;
    const char *platform = ulb_row_text(json_object_get(document, "platform"), "name");
    size_t points = 0, i, j;
    fprintf(script, "$published << END\n");
    json_array_foreach(classes, i, class)
    {
        char beta_id[64], int1_id[64];
        int letter = tolower((unsigned char)ulb_row_text(class, "name")[0]);
        double beta = NAN, gib = NAN, hz = 1e9 * ulb_row_number(class, "ghz");
        snprintf(beta_id, sizeof beta_id, "%.31s.beta.%c", platform, letter);
        snprintf(int1_id, sizeof int1_id, "%.31s.int1.%c", platform, letter);
        json_array_foreach(json_object_get(document, "published"), j, row)
        {
            const char *id = ulb_row_text(row, "id");
            beta = strcmp(id, beta_id) == 0 ? ulb_row_number(row, "value") : beta;
            gib = strcmp(id, int1_id) == 0 ? ulb_row_number(row, "value") : gib;
        }
        if (beta > 0)
            fprintf(script, "%g %g\n", beta, beta);
        if (beta > 0 && gib * ULB_GIB / hz > 0)
            fprintf(script, "%g %g\n", beta, gib * ULB_GIB / hz);
        points += beta > 0;
    }
    fprintf(script, "END\n");
    return points;
}

static void put_hover(const struct figure *figure, const struct ulb_canvas *canvas)
{
    ulb_hover_begin(canvas);
    for (size_t i = 0; i < figure->n_curves; i++)
        ulb_hover(canvas, figure->extent.highest, figure->curves[i].ceiling, "%s\nB/gamma %.2f bytes/cycle",
                  figure->curves[i].title, figure->curves[i].ceiling);
    ulb_hover_end(canvas);
}

static void draw(const struct figure *figure, const json_t *document, struct ulb_canvas *canvas)
{
    size_t longest = 0;
    for (size_t i = 0; i < figure->n_curves; i++)
        longest = strlen(figure->curves[i].title) > longest ? strlen(figure->curves[i].title) : longest;
    put_title(canvas->script, document);
    ulb_put_frame(canvas, figure->n_curves + 2, longest, 1);
    ulb_put_roof_axes(canvas->script, &figure->extent, figure->n_classes);
    ulb_put_betas(canvas->script, figure->classes, figure->n_classes);
    put_hover(figure, canvas);
    bool published = put_published(canvas->script, document) > 0;
    put_curves(figure, canvas->script);
    if (published)
        fprintf(canvas->script, ", $published using 1:2 with points pointtype 13 pointsize 1.8 linecolor rgb "
                                "'#000000' title \"published: beta, and 1-bit bandwidth of a core\"");
    ulb_hover_plot(canvas);
}

enum ulb_status ulb_draw_model(const struct ulb_record *record, struct ulb_canvas *canvas,
                               struct ulb_error *err)
{
    struct figure figure = {.n_curves = 0};
    enum ulb_status status = ULB_OK;
    if (!collect(&figure, record->root))
        status = ulb_fail(err, ULB_ENVIRONMENT, "not enough memory for the figure");
    else if (figure.n_curves == 0)
        status = ulb_fail(err, ULB_BAD_INPUT, "the document has no ceilings to draw a roofline from");
    else
        draw(&figure, record->root, canvas);
    free(figure.curves);
    return status;
}
