/* Products on a device, shape by shape (the forms of the paper's figures 9, 11 and 17): modelled, from the
 * document of its models, and measured, from a record. */
#include "plots/figures/bar_chart.h"

#include <math.h>
#include <string.h>

/* What a figure shows: rows[value], of products that took rows[us]. speedups: of 16 and 2 bits alone, with
 * their quotient. */
struct shown {
    const json_t *rows;
    const char *value, *us, *how;
    bool speedups;
};

/* The least time of that format's product of the same matrix; NAN: there is none. */
static double us_with(const struct shown *shown, const char *format, const json_t *like)
{
    const json_t *row;
    double us = NAN;
    size_t i;
    json_array_foreach(shown->rows, i, row)
    {
        if (strcmp(ulb_row_text(row, "format"), format) == 0 &&
            strcmp(ulb_row_text(row, "model"), ulb_row_text(like, "model")) == 0 &&
            strcmp(ulb_row_text(row, "layer"), ulb_row_text(like, "layer")) == 0 &&
            ulb_row_number(row, "n") == ulb_row_number(like, "n"))
            us = fmin(us, ulb_row_number(row, shown->us));
    }
    return us;
}

/* Whether the row has a bar: the fastest of its format and matrix, of one token where speed-ups are shown. */
static bool is_shown(const struct shown *shown, const json_t *row, double speedup)
{
    const char *format = ulb_row_text(row, "format");
    if (!(ulb_row_number(row, shown->value) > 0))
        return false;
    if (!shown->speedups)
        return true;
    return speedup > 0 && ulb_row_number(row, "n") == 1 &&
           (strcmp(format, "bf16") == 0 || strcmp(format, "int2") == 0) &&
           ulb_row_number(row, shown->us) == us_with(shown, format, row);
}

/* "falcon3-1b o 2048 x 2048", and how many times faster 2 bits are than 16. */
static void name_shape(const json_t *row, double speedup, char text[ULB_BAR_GROUP])
{
    char times[24] = "";
    if (isfinite(speedup))
        snprintf(times, sizeof times, ": %.1f times", speedup);
    snprintf(text, ULB_BAR_GROUP, "%.20s %.10s %.0f x %.0f%s", ulb_row_text(row, "model"),
             ulb_row_text(row, "layer"), ulb_row_number(row, "m"), ulb_row_number(row, "k"), times);
}

static enum ulb_status collect(const struct shown *shown, struct ulb_bar_chart *chart, struct ulb_error *err)
{
    const json_t *row;
    size_t i;
    json_array_foreach(shown->rows, i, row)
    {
        double speedup = us_with(shown, "bf16", row) / us_with(shown, "int2", row);
        char group[ULB_BAR_GROUP];
        if (!is_shown(shown, row, speedup))
            continue;
        name_shape(row, shown->speedups ? speedup : (double)NAN, group);
        struct ulb_bar *bar =
            ulb_bar_add(chart, group, ulb_row_text(row, "format"), ulb_row_number(row, shown->value));
        if (!bar)
            return ulb_fail(err, ULB_ENVIRONMENT, "not enough memory for the figure");
        snprintf(bar->hover, sizeof bar->hover, "%s: %.1f us, %.1f GB/s\nbound by %.16s", shown->how,
                 ulb_row_number(row, shown->us), ulb_row_number(row, "gbps"), ulb_row_text(row, "bound"));
    }
    return chart->n > 0 ? ULB_OK
                        : ulb_fail(err, ULB_BAD_INPUT, "there are no products of a device with %s to draw",
                                   shown->speedups ? "16 and 2 bits" : "many tokens");
}

static enum ulb_status draw(const struct ulb_record *record, struct ulb_canvas *canvas,
                            const struct shown *shown, const char *title, struct ulb_bar_chart *chart,
                            struct ulb_error *err)
{
    const json_t *platform = json_object_get(record->root, "platform");
    double launch = ulb_row_number(platform, "launch_us");
    enum ulb_status status = collect(shown, chart, err);
    if (status == ULB_OK) {
        fprintf(canvas->script, "set title \"Modelled: %s, ", title);
        if (launch >= 0)
            fprintf(canvas->script, "with %g us of launch\\n", launch);
        else
            fprintf(canvas->script, "without the launch, which is not published\\n");
        ulb_put_short_text(canvas->script, ulb_row_text(platform, "title"), 60);
        fprintf(canvas->script, "; read bandwidth %.1f GB/s\"\n", ulb_row_number(platform, "bandwidth_gbps"));
        ulb_put_bar_chart(canvas, chart);
    }
    ulb_bar_chart_free(chart);
    return status;
}

enum ulb_status ulb_draw_model_gemm(const struct ulb_record *record, struct ulb_canvas *canvas,
                                    struct ulb_error *err)
{
    struct ulb_bar_chart chart = {.x_label = "model, layer, M x K",
                                  .y_label = "1e12 operations/s (TOPS)",
                                  .formats = true,
                                  .lying = true};
    const struct shown shown = {json_object_get(record->root, "gemm"), "tops", "predicted_us", "modelled",
                                false};
    return draw(record, canvas, &shown, "products of 1024 tokens", &chart, err);
}

static const struct ulb_bar_chart times_chart = {
    .x_label = "", .y_label = "us of a product", .formats = true, .lying = true};

enum ulb_status ulb_draw_model_times(const struct ulb_record *record, struct ulb_canvas *canvas,
                                     struct ulb_error *err)
{
    struct ulb_bar_chart chart = times_chart;
    const struct shown shown = {json_object_get(record->root, "gemv"), "predicted_us", "predicted_us",
                                "modelled", true};
    return draw(record, canvas, &shown, "products of one token, times that 2 bits are faster", &chart, err);
}

/* Of a record: the fastest kernel of each format at each shape, by the host's clock. */
enum ulb_status ulb_draw_device_times(const struct ulb_record *record, struct ulb_canvas *canvas,
                                      struct ulb_error *err)
{
    const json_t *device = json_array_get(json_object_get(record->root, "devices"), 0);
    struct ulb_bar_chart chart = times_chart;
    const struct shown shown = {device ? json_object_get(record->root, "cells") : NULL, "us", "us",
                                "measured", true};
    enum ulb_status status = collect(&shown, &chart, err);
    if (status == ULB_OK) {
        fprintf(canvas->script,
                "set title \"Measured: products of one token, times that 2 bits are faster\\n");
        ulb_put_short_text(canvas->script, ulb_row_text(device, "id"), 24);
        fprintf(canvas->script, ", ");
        ulb_put_short_text(canvas->script, ulb_row_text(device, "name"), 60);
        fprintf(canvas->script, "\"\n");
        ulb_put_bar_chart(canvas, &chart);
    }
    ulb_bar_chart_free(&chart);
    return status;
}
