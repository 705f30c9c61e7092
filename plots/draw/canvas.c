#include "plots/draw/figure.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

static void put_text(FILE *script, const char *text, size_t room, bool is_format)
{
    bool cut = strlen(text) > room;
    size_t length = cut ? room - 1 : strlen(text);
    /* Not inside of a UTF-8 sequence. */
    while (cut && length > 0 && (text[length] & 0xC0) == 0x80)
        length--;
    for (const char *end = text + length; text < end; text++) {
        bool harmless = (unsigned char)*text >= ' ' && *text != 0x7F && !strchr("\"`\\", *text);
        putc(harmless ? *text : '?', script);
        if (is_format && *text == '%')
            putc('%', script);
    }
    if (cut)
        putc('.', script);
}

void ulb_put_text(FILE *script, const char *text)
{
    put_text(script, text, strlen(text), false);
}

void ulb_put_short_text(FILE *script, const char *text, size_t room)
{
    put_text(script, text, room, false);
}

void ulb_put_tic_text(FILE *script, const char *text, size_t room)
{
    put_text(script, text, room, true);
}

static void put_machine(FILE *script, const struct ulb_record *record)
{
    enum { ROOM = 60 };
    const char *model = ulb_record_text(record, "machine.cpu_model");
    double cores = ulb_record_number(record, "machine.cores");
    ulb_put_short_text(script, model ? model : "unnamed machine", ROOM);
    if (isfinite(cores))
        fprintf(script, ", %.0f cores", cores);
}

void ulb_decode_yardsticks(const struct ulb_record *record, double *low, double *high)
{
    size_t i;
    const json_t *run;
    *low = *high = NAN;
    json_array_foreach(ulb_decode_runs(record), i, run)
    {
        *low = fmin(*low, ulb_row_number(run, "yardstick_gbps"));
        *high = fmax(*high, ulb_row_number(run, "yardstick_gbps"));
    }
}

/* The yardstick of the record's beta stage. A record of decoding alone has one for each of its runs. */
static void put_yardstick(FILE *script, const struct ulb_record *record, const char *set)
{
    double low = ulb_yardstick_gbps(record, set), high = low;
    if (isnan(low))
        ulb_decode_yardsticks(record, &low, &high);
    if (isfinite(low))
        fprintf(script, "; yardstick %.1f", low);
    if (high > low)
        fprintf(script, " to %.1f", high);
    if (isfinite(low))
        fprintf(script, " GB/s");
}

void ulb_put_title(const struct ulb_canvas *canvas, const struct ulb_record *record, const char *what,
                   const char *set)
{
    fprintf(canvas->script, "set title \"");
    ulb_put_text(canvas->script, what);
    fprintf(canvas->script, "\\n");
    put_machine(canvas->script, record);
    put_yardstick(canvas->script, record, set);
    fprintf(canvas->script, "\"\n");
}

void ulb_hover_begin(const struct ulb_canvas *canvas)
{
    if (canvas->hover)
        fprintf(canvas->script, "$hover << END\n");
}

void ulb_hover(const struct ulb_canvas *canvas, double x, double y, const char *format, ...)
{
    char text[512];
    va_list args;
    if (!canvas->hover || !isfinite(x) || !isfinite(y))
        return;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    fprintf(canvas->script, "%g %g \"", x, y);
    for (char *rest = NULL, *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
        ulb_put_text(canvas->script, line);
        fprintf(canvas->script, "%s", rest && *rest ? "\\n" : "");
    }
    fprintf(canvas->script, "\"\n");
}

void ulb_hover_cell(const struct ulb_canvas *canvas, double x, double y, const struct ulb_cell *cell)
{
    char share[32] = "", model[64] = "";
    if (isfinite(cell->efficiency))
        snprintf(share, sizeof share, ", %.0f %% of the yardstick", 100 * cell->efficiency);
    if (isfinite(cell->residual))
        snprintf(model, sizeof model, ", predicted %.1f us (%+.1f %%)", cell->predicted_us,
                 100 * cell->residual);
    ulb_hover(canvas, x, y, "%s\n%s %s, %zu x %zu, N = %zu\n%.1f GB/s%s\n%.1f us%s\n%s", cell->kernel,
              cell->model, cell->layer, cell->m, cell->k, cell->n, cell->gbps, share, cell->us, model,
              cell->verdict);
}

void ulb_hover_end(const struct ulb_canvas *canvas)
{
    if (canvas->hover)
        fprintf(canvas->script, "END\n");
}

/* Points that cannot be seen, large enough to be met. */
void ulb_hover_plot(const struct ulb_canvas *canvas)
{
    if (canvas->hover)
        fprintf(canvas->script, ", $hover using 1:2:3 with labels hypertext point pointtype 7 pointsize 1.2 "
                                "linecolor rgb '#FF000000' notitle");
    fprintf(canvas->script, "\n");
}

void ulb_put_frame(struct ulb_canvas *canvas, size_t entries, size_t longest, unsigned tic_lines)
{
    FILE *script = canvas->script;
    /* gnuplot itself puts entries into one column when it thinks that two do not fit. */
    double character = canvas->text ? 9 : 8.6;
    size_t columns = 2 * (double)(longest + 8) * character <= canvas->width - 80 ? 2 : 1;
    size_t rows = (entries + columns - 1) / columns;
    canvas->height += (canvas->text ? 18 : 21) * (unsigned)rows;
    if (!canvas->text)
        fprintf(script,
                "set grid xtics ytics linetype 1 linewidth 1 linecolor rgb '#DDDDDD'\nset tics nomirror\n");
    fprintf(script, "set key below left Left reverse maxcols %zu width 1\n", columns);
    fprintf(script, "set bmargin %g\n", tic_lines + 2.5 + 1.15 * (double)rows);
    /* gnuplot makes room for tics that lie, not for those of several lines. */
    bool lying = tic_lines > ULB_UPRIGHT_TIC_LINES;
    fprintf(script, "set xlabel offset 0, %d\n", lying ? 0 : 1 - (int)tic_lines);
    canvas->height += lying ? 15 * (tic_lines - ULB_UPRIGHT_TIC_LINES) : 0;
}

double ulb_yardstick_gbps(const struct ulb_record *record, const char *set)
{
    const json_t *row, *rows = json_object_get(json_object_get(record->root, "beta"), "yardstick");
    size_t i;
    json_array_foreach(rows, i, row)
    {
        const char *name = json_string_value(json_object_get(row, "set"));
        if (name && strcmp(name, set) == 0)
            return ulb_row_number(row, "gbps");
    }
    return NAN;
}

static const char *const palette[] = {"#0072B2", "#E69F00", "#009E73", "#D55E00",
                                      "#CC79A7", "#56B4E9", "#661100", "#000000"};
enum { COLOURS = sizeof palette / sizeof *palette };

const char *ulb_series_colour(size_t i)
{
    return palette[i % COLOURS];
}

const char *ulb_format_colour(const char *format)
{
    static const struct {
        const char *format, *colour;
    } known[] = {
        {"fp32", "#000000"},  {"fp16", "#555555"},    {"bf16", "#999999"}, {"int8", "#0072B2"},
        {"int4", "#56B4E9"},  {"int3", "#CC79A7"},    {"int2", "#009E73"}, {"int1", "#E69F00"},
        {"tern2", "#D55E00"}, {"tern1.6", "#661100"},
    };
    size_t sum = 0;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        if (strcmp(known[i].format, format) == 0)
            return known[i].colour;
    }
    for (; *format; format++)
        sum += (unsigned char)*format;
    return ulb_series_colour(sum);
}

/* ---- figures over the shapes of models ---- */

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
