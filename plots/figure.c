#include "plots/figure.h"

#include "plots/canvas.h"
#include "plots/gnuplot.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* In the order of --help; drawing functions stand at the same index. */
const struct ulb_figure ulb_figures[] = {
    {"roofline", "effective bandwidth over beta, with the machine's own beta and the GEMV results"},
    {"bars", "GEMV bandwidth of the best kernel of each format over the shapes of the models"},
    {"kernels", "every kernel at every shape as a fraction of the yardstick"},
    {"beta", "memory bandwidth by number of cores"},
};
static ulb_draw_fn *const drawers[] = {ulb_draw_roofline, ulb_draw_bars, ulb_draw_kernels, ulb_draw_beta};
enum { FIGURES = sizeof ulb_figures / sizeof *ulb_figures };
const size_t ulb_figure_count = FIGURES;
_Static_assert(FIGURES == sizeof drawers / sizeof *drawers, "one drawing function for each figure");

const char *const ulb_figure_formats[] = {"svg", "png", "pdf", "txt", NULL};

static enum ulb_status find_drawer(const char *figure, ulb_draw_fn **draw, struct ulb_error *err)
{
    char known[128] = "";
    for (size_t i = 0; i < FIGURES; i++) {
        if (strcmp(ulb_figures[i].name, figure) == 0) {
            *draw = drawers[i];
            return ULB_OK;
        }
        size_t used = strlen(known);
        snprintf(known + used, sizeof known - used, "%s%s", i ? ", " : "", ulb_figures[i].name);
    }
    return ulb_fail(err, ULB_BAD_INPUT, "unknown figure '%s'; figures are %s", figure, known);
}

/* The document of a platform's models has a roofline alone, drawn in a way of its own. */
static enum ulb_status choose_drawer(const struct ulb_record *record, const char *figure, ulb_draw_fn **draw,
                                     struct ulb_error *err)
{
    enum ulb_status status = find_drawer(figure, draw, err);
    if (status != ULB_OK || !ulb_is_model(record))
        return status;
    if (*draw != ulb_draw_roofline)
        return ulb_fail(err, ULB_BAD_INPUT, "the document of a model has no figure %s; it has a roofline",
                        figure);
    *draw = ulb_draw_model;
    return ULB_OK;
}

bool ulb_is_model(const struct ulb_record *record)
{
    const char *kind = ulb_record_text(record, "kind");
    return kind && strcmp(kind, "model") == 0;
}

static enum ulb_status check_format(const char *format, struct ulb_error *err)
{
    for (size_t i = 0; ulb_figure_formats[i]; i++) {
        if (strcmp(ulb_figure_formats[i], format) == 0)
            return ULB_OK;
    }
    return ulb_fail(err, ULB_BAD_INPUT, "unknown format '%s' of figures; formats are svg, png, pdf, txt",
                    format);
}

/* Terminal line. noenhanced: the underscores of names are themselves, no subscripts. */
static void put_terminal(FILE *script, const char *format, const struct ulb_canvas *canvas)
{
    fprintf(script, "set encoding utf8\nset decimalsign '.'\nset terminal ");
    if (strcmp(format, "svg") == 0)
        fprintf(script, "svg size %u,%u fixed noenhanced font 'sans-serif,13' background '#FFFFFF'\n",
                canvas->width, canvas->height);
    else if (strcmp(format, "png") == 0)
        fprintf(script, "pngcairo size %u,%u noenhanced font 'Sans,10' background '#FFFFFF'\n", canvas->width,
                canvas->height);
    else if (strcmp(format, "pdf") == 0)
        fprintf(script, "pdfcairo size %gin,%gin noenhanced font 'Sans,9'\n", canvas->width / 96.0,
                canvas->height / 96.0);
    else
        fprintf(script, "dumb size %u,%u noenhanced mono\n", canvas->width / 9, canvas->height / 18);
}

/* The whole script in memory, to be freed. */
static enum ulb_status make_script(const struct ulb_record *record, ulb_draw_fn *draw, const char *format,
                                   char **script, size_t *bytes, struct ulb_error *err)
{
    bool text = strcmp(format, "txt") == 0;
    struct ulb_canvas canvas = {.width = text ? 900 : 1000, .height = 560, .text = text};
    char *body = NULL;
    size_t body_bytes;
    *script = NULL;
    canvas.script = open_memstream(&body, &body_bytes);
    if (!canvas.script)
        return ulb_fail(err, ULB_ENVIRONMENT, "not enough memory for the figure");
    enum ulb_status status = draw(record, &canvas, err);
    bool failed = fclose(canvas.script) != 0;
    FILE *whole = status == ULB_OK && !failed ? open_memstream(script, bytes) : NULL;
    if (whole) {
        put_terminal(whole, format, &canvas);
        fwrite(body, 1, body_bytes, whole);
        failed = fclose(whole) != 0;
    }
    if (status == ULB_OK && (!whole || failed))
        status = ulb_fail(err, ULB_ENVIRONMENT, "not enough memory for the figure");
    free(body);
    return status;
}

enum ulb_status ulb_figure_draw(const struct ulb_record *record, const char *figure, const char *format,
                                const char *prefix, char *path, size_t path_bytes, struct ulb_error *err)
{
    ulb_draw_fn *draw = NULL;
    char *script = NULL, temporary[PATH_MAX];
    size_t bytes = 0;
    enum ulb_status status = choose_drawer(record, figure, &draw, err);
    if (status == ULB_OK)
        status = check_format(format, err);
    if (status != ULB_OK)
        return status;
    int used = snprintf(path, path_bytes, "%s-%s.%s", prefix, figure, format);
    if (used < 0 || (size_t)used >= path_bytes ||
        snprintf(temporary, sizeof temporary, "%s.%ld.tmp", path, (long)getpid()) >= (int)sizeof temporary)
        return ulb_fail(err, ULB_BAD_INPUT, "the name of the figure is too long: %.200s...", prefix);
    status = make_script(record, draw, format, &script, &bytes, err);
    if (status != ULB_OK) {
        free(script);
        return ulb_fail_prefix(err, status, "figure %s", figure);
    }
    int out = open(temporary, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0666);
    if (out < 0) {
        free(script);
        return ulb_fail(err, ULB_ENVIRONMENT, "%s could not be written: %s", path, strerror(errno));
    }
    status = ulb_gnuplot_run(script, bytes, out, err);
    if (status == ULB_OK && lseek(out, 0, SEEK_END) <= 0)
        status = ulb_fail(err, ULB_ENVIRONMENT, "gnuplot drew nothing into %s; is the disk full?", path);
    if (close(out) != 0 && status == ULB_OK)
        status = ulb_fail(err, ULB_ENVIRONMENT, "%s could not be written: %s", path, strerror(errno));
    if (status == ULB_OK && rename(temporary, path) != 0)
        status = ulb_fail(err, ULB_ENVIRONMENT, "%s could not be written: %s", path, strerror(errno));
    if (status != ULB_OK)
        unlink(temporary);
    free(script);
    return status;
}
