/* Read bandwidth of a device over the size that is read, a curve a reader. */
#include "plots/draw/figure.h"
#include "common/units.h"

#include <math.h>
#include <string.h>

enum { READERS_MOST = 12 };

/* The readers in the order of the cells; returns how many there are. */
static size_t find_readers(const json_t *cells, const char *readers[READERS_MOST])
{
    const json_t *cell;
    size_t i, n = 0;
    json_array_foreach(cells, i, cell)
    {
        const char *variant = ulb_row_text(cell, "variant");
        size_t r = 0;
        while (r < n && strcmp(readers[r], variant) != 0)
            r++;
        if (r == n && n < READERS_MOST && isfinite(ulb_row_number(cell, "gbps")))
            readers[n++] = variant;
    }
    return n;
}

static void put_reader(FILE *script, const json_t *cells, const char *reader, size_t r)
{
    const json_t *cell;
    size_t i;
    fprintf(script, "$reader%zu << END\n", r);
    json_array_foreach(cells, i, cell)
    {
        const double gbps = ulb_row_number(cell, "gbps");
        if (isfinite(gbps) && strcmp(ulb_row_text(cell, "variant"), reader) == 0)
            fprintf(script, "%g %g\n", ulb_row_number(cell, "bytes") / ULB_MIB, gbps);
    }
    fprintf(script, "END\n");
}

static void put_hover(const struct ulb_canvas *canvas, const json_t *cells)
{
    const json_t *cell;
    size_t i;
    ulb_hover_begin(canvas);
    json_array_foreach(cells, i, cell)
    {
        const double gbps = ulb_row_number(cell, "gbps"), mib = ulb_row_number(cell, "bytes") / ULB_MIB;
        if (isfinite(gbps))
            ulb_hover(canvas, mib, gbps, "%s, %g MiB\n%.1f GB/s, %.1f us\n%.1f us by the host's clock",
                      ulb_row_text(cell, "variant"), mib, gbps, ulb_row_number(cell, "us_event"),
                      ulb_row_number(cell, "us_host"));
    }
    ulb_hover_end(canvas);
}

/* The yardstick as a line, with its value in the legend; nothing where there is none. */
static void put_yardstick(FILE *script, const json_t *device)
{
    const double gbps = ulb_row_number(json_array_get(json_object_get(device, "yardstick"), 0), "gbps");
    if (gbps > 0)
        fprintf(script, ", %g with lines dashtype 2 linecolor rgb '#555555' title \"yardstick %.1f GB/s\"",
                gbps, gbps);
}

enum ulb_status ulb_draw_devices(const struct ulb_record *record, struct ulb_canvas *canvas,
                                 struct ulb_error *err)
{
    const json_t *device = json_array_get(json_object_get(record->root, "devices"), 0);
    const json_t *cells = json_object_get(device, "cells");
    const char *readers[READERS_MOST];
    char what[160];
    FILE *script = canvas->script;
    const size_t n = find_readers(cells, readers);
    if (n == 0)
        return ulb_fail(err, ULB_BAD_INPUT, "the record has no device's bandwidth to draw");
    snprintf(what, sizeof what, "Read bandwidth of %.100s by size", ulb_row_text(device, "name"));
    ulb_put_title(canvas, record, what, ulb_row_text(device, "id"));
    ulb_put_frame(canvas, n + 1, 24, 1);
    fprintf(script,
            "set logscale x 2\nset xlabel \"MiB read\"\nset ylabel \"GB/s (1e9 bytes/s), by the clock of "
            "the device's events\"\nset yrange [0:*]\n");
    for (size_t r = 0; r < n; r++)
        put_reader(script, cells, readers[r], r);
    put_hover(canvas, cells);
    for (size_t r = 0; r < n; r++) {
        fprintf(script,
                "%s$reader%zu with linespoints linecolor rgb '%s' linewidth 2 pointtype %zu pointsize 1.2 "
                "title \"",
                r ? ", " : "plot ", r, ulb_series_colour(r), r + 4);
        ulb_put_text(script, readers[r]);
        fprintf(script, "\"");
    }
    put_yardstick(script, device);
    ulb_hover_plot(canvas);
    return ULB_OK;
}
