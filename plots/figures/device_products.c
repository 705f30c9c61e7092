/* Products on a modelled device, shape by shape (the forms of the paper's figures 9, 11 and 17), from the
 * document of its models. */
#include "plots/figures/bar_chart.h"

#include <math.h>
#include <string.h>

static double us_of(const json_t *row)
{
    return ulb_row_number(row, "predicted_us");
}

/* The time of that format's product of the same matrix; NAN: there is none. */
static double us_with(const char *format, const json_t *rows, const json_t *like)
{
    const json_t *row;
    size_t i;
    json_array_foreach(rows, i, row)
    {
        if (strcmp(ulb_row_text(row, "format"), format) == 0 &&
            strcmp(ulb_row_text(row, "model"), ulb_row_text(like, "model")) == 0 &&
            strcmp(ulb_row_text(row, "layer"), ulb_row_text(like, "layer")) == 0)
            return us_of(row);
    }
    return NAN;
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

/* Bars of rows[key]; with speed-ups those of 16 and 2 bits alone. */
static enum ulb_status collect(const json_t *rows, const char *key, bool speedups,
                               struct ulb_bar_chart *chart, struct ulb_error *err)
{
    const json_t *row;
    size_t i;
    json_array_foreach(rows, i, row)
    {
        const char *format = ulb_row_text(row, "format");
        double value = ulb_row_number(row, key),
               speedup = us_with("bf16", rows, row) / us_with("int2", rows, row);
        char group[ULB_BAR_GROUP];
        if (!(value > 0) || (speedups && (!(speedup > 0) || strcmp(format, "int8") == 0)))
            continue;
        name_shape(row, speedups ? speedup : (double)NAN, group);
        struct ulb_bar *bar = ulb_bar_add(chart, group, format, value);
        if (!bar)
            return ulb_fail(err, ULB_ENVIRONMENT, "not enough memory for the figure");
        snprintf(bar->hover, sizeof bar->hover, "modelled: %.1f us, %.1f GB/s, %.1f TOPS\nbound by %.16s",
                 us_of(row), ulb_row_number(row, "gbps"), ulb_row_number(row, "tops"),
                 ulb_row_text(row, "bound"));
    }
    return chart->n > 0 ? ULB_OK
                        : ulb_fail(err, ULB_BAD_INPUT, "the document has no products of a device to draw");
}

static enum ulb_status draw(const struct ulb_record *record, struct ulb_canvas *canvas, const char *section,
                            const char *key, const char *title, bool speedups, struct ulb_bar_chart *chart,
                            struct ulb_error *err)
{
    const json_t *platform = json_object_get(record->root, "platform");
    double launch = ulb_row_number(platform, "launch_us");
    enum ulb_status status = collect(json_object_get(record->root, section), key, speedups, chart, err);
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
    return draw(record, canvas, "gemm", "tops", "products of 1024 tokens", false, &chart, err);
}

enum ulb_status ulb_draw_model_times(const struct ulb_record *record, struct ulb_canvas *canvas,
                                     struct ulb_error *err)
{
    struct ulb_bar_chart chart = {
        .x_label = "", .y_label = "us of a product", .formats = true, .lying = true};
    return draw(record, canvas, "gemv", "predicted_us", "products of one token, times that 2 bits are faster",
                true, &chart, err);
}
