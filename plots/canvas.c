#include "plots/canvas.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void ulb_put_text(FILE *script, const char *text)
{
    ulb_put_short_text(script, text, strlen(text));
}

void ulb_put_short_text(FILE *script, const char *text, size_t room)
{
    bool cut = strlen(text) > room;
    size_t length = cut ? room - 1 : strlen(text);
    /* Not inside of a UTF-8 sequence. */
    while (cut && length > 0 && (text[length] & 0xC0) == 0x80)
        length--;
    for (const char *end = text + length; text < end; text++) {
        bool harmless = (unsigned char)*text >= ' ' && *text != 0x7F && !strchr("\"'`\\", *text);
        putc(harmless ? *text : '?', script);
    }
    if (cut)
        putc('.', script);
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

void ulb_put_title(const struct ulb_canvas *canvas, const struct ulb_record *record, const char *what,
                   const char *set)
{
    double yardstick = ulb_yardstick_gbps(record, set);
    fprintf(canvas->script, "set title \"%s\\n", what);
    put_machine(canvas->script, record);
    if (isfinite(yardstick))
        fprintf(canvas->script, "; yardstick %.1f GB/s", yardstick);
    fprintf(canvas->script, "\"\n");
}

void ulb_put_frame(struct ulb_canvas *canvas, size_t entries, size_t longest, unsigned tic_lines)
{
    FILE *script = canvas->script;
    /* gnuplot itself puts entries into one column when it thinks that two do not fit. */
    double character = canvas->text ? 9 : 8.6;
    size_t columns = 2 * (double)(longest + 8) * character <= canvas->width - 80 ? 2 : 1;
    size_t rows = (entries + columns - 1) / columns;
    canvas->height += 18 * (unsigned)rows;
    if (!canvas->text)
        fprintf(script, "set grid xtics ytics linetype 1 linewidth 1 linecolor rgb '#DDDDDD'\n");
    fprintf(script, "set key below left Left reverse maxcols %zu width 1\n", columns);
    fprintf(script, "set bmargin %g\n", tic_lines + 2.5 + 1.15 * (double)rows);
    fprintf(script, "set xlabel offset 0, %d\n", 1 - (int)tic_lines);
}

double ulb_yardstick_gbps(const struct ulb_record *record, const char *set)
{
    struct ulb_yardstick *yardsticks;
    struct ulb_error err;
    size_t n;
    double gbps = NAN;
    if (ulb_record_yardsticks(record, &yardsticks, &n, &err) != ULB_OK)
        return gbps;
    for (size_t i = 0; i < n && isnan(gbps); i++) {
        if (strcmp(yardsticks[i].set, set) == 0)
            gbps = yardsticks[i].gbps;
    }
    ulb_yardsticks_free(yardsticks, n);
    return gbps;
}

static const char *const palette[] = {"#0072B2", "#E69F00", "#009E73", "#D55E00",
                                      "#CC79A7", "#56B4E9", "#000000", "#F0E442"};
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
        {"tern2", "#D55E00"}, {"tern1.6", "#F0E442"},
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
