/* Figures over the shapes of models: which cells, in which columns. */
#include "plots/draw/canvas.h"

#include <stdlib.h>
#include <string.h>

/* What a column has room for when its tic stands upright and when it lies; how many stand upright. */
enum { WIDE_CHARACTERS = 8, NARROW_CHARACTERS = 5, MAX_WIDE = 9 };

static bool is_narrow(const struct ulb_canvas *canvas, size_t columns)
{
    return columns > MAX_WIDE && !canvas->text;
}

unsigned ulb_shape_column_width(const struct ulb_canvas *canvas, size_t columns)
{
    return is_narrow(canvas, columns) ? 40 : 72;
}

unsigned ulb_shape_tic_lines(const struct ulb_canvas *canvas, size_t columns)
{
    return is_narrow(canvas, columns) ? 9 : ULB_UPRIGHT_TIC_LINES;
}

size_t ulb_shape_columns(const struct ulb_cell *const *cells, size_t n, const struct ulb_cell **columns)
{
    size_t used = 0;
    for (size_t i = 0; i < n; i++) {
        size_t c = 0;
        while (c < used && !ulb_same_shape(columns[c], cells[i]))
            c++;
        if (c == used)
            columns[used++] = cells[i];
    }
    return used;
}

/* The name of a model above its columns from..to-1. */
static void put_model(const struct ulb_canvas *canvas, const char *model, size_t from, size_t to,
                      size_t number, bool narrow)
{
    static const char *const shades[] = {"#E4EEF8", "#F7E6F1", "#E5F3EA"};
    FILE *script = canvas->script;
    if (!canvas->text)
        fprintf(script,
                "set object rectangle from first %g, graph 0 to first %g, graph 1 behind fillcolor rgb '%s' "
                "fillstyle solid noborder\n",
                (double)from - 0.5, (double)to - 0.5, shades[number % (sizeof shades / sizeof *shades)]);
    fprintf(script, "set label \"");
    ulb_put_short_text(script, model, (narrow ? NARROW_CHARACTERS : WIDE_CHARACTERS) * (to - from));
    fprintf(script, "\" at first %g, graph 1 center offset 0, %g front\n", (double)(from + to - 1) / 2,
            canvas->text ? -1.0 : -0.9);
}

void ulb_put_shape_axis(const struct ulb_canvas *canvas, const struct ulb_cell *const *columns, size_t n)
{
    FILE *script = canvas->script;
    bool narrow = is_narrow(canvas, n);
    fprintf(script, "set xrange [-0.5:%g]\nset xtics scale 0 %s(", (double)n - 0.5,
            narrow ? "rotate by 90 right " : "");
    for (size_t c = 0; c < n; c++) {
        fprintf(script, "%s\"", c ? ", " : "");
        ulb_put_tic_text(script, columns[c]->layer, WIDE_CHARACTERS);
        fprintf(script, narrow ? " %zu x %zu\" %zu" : "\\n%zu\\nx %zu\" %zu", columns[c]->m, columns[c]->k,
                c);
    }
    fprintf(script, ")\nset xlabel \"layer, M x K (output x input features)\"\n");
    size_t from = 0, models = 0;
    for (size_t c = 1; c <= n; c++) {
        if (c < n && strcmp(columns[c]->model, columns[from]->model) == 0)
            continue;
        put_model(canvas, columns[from]->model, from, c, models++, narrow);
        from = c;
    }
}
