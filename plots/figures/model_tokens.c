/* Decoding on a modelled platform (the form of the paper's figures 12 to 14), from the document of its
 * models. Bars are tokens per second and speed-up over 16 bits, points what the text publishes. */
#include "plots/figures/bar_chart.h"

#include <math.h>
#include <string.h>

/* What the ids of published values call a model: "arl.e2e.8b.int2", "lnl.tps.8b.int2". */
static const struct {
    const char *model, *word;
} published_names[] = {
    {"falcon3-1b", "1b"}, {"mobilellm-1.5b", "1.5b"}, {"llama3-8b", "8b"}, {"bitnet-2b-4t", "2b"}};

/* Figures show the source's models alone, however many the catalogue holds. */
static bool is_published_model(const char *model)
{
    for (size_t i = 0; i < sizeof published_names / sizeof *published_names; i++) {
        if (strcmp(published_names[i].model, model) == 0)
            return true;
    }
    return false;
}

/* kind: "e2e" or "tps"; NAN when nothing is published. */
static double published(const json_t *document, const char *kind, const char *model, const char *format)
{
    const json_t *rows = json_object_get(document, "published"), *row;
    char wanted[64] = "";
    size_t i;
    for (i = 0; i < sizeof published_names / sizeof *published_names; i++) {
        if (strcmp(published_names[i].model, model) == 0)
            snprintf(wanted, sizeof wanted, ".%s.%s.%.15s", kind, published_names[i].word, format);
    }
    json_array_foreach(rows, i, row)
    {
        const char *dot = strchr(ulb_row_text(row, "id"), '.');
        if (dot && strcmp(dot, wanted) == 0)
            return ulb_row_number(row, "value");
    }
    return NAN;
}

struct kind {
    const char *value, *tick, *published, *title; /* keys; what the figure shows */
    bool relative;                                /* 16 bits are 1 by definition */
};

static enum ulb_status collect(const json_t *document, const struct kind *kind, struct ulb_bar_chart *chart,
                               struct ulb_error *err)
{
    const json_t *row;
    size_t i;
    json_array_foreach(json_object_get(document, "decode"), i, row)
    {
        double value = ulb_row_number(row, kind->value);
        const char *model = ulb_row_text(row, "model"), *format = ulb_row_text(row, "format");
        if (!(value > 0) || !is_published_model(model) || (kind->relative && strcmp(format, "bf16") == 0))
            continue;
        struct ulb_bar *bar = ulb_bar_add(chart, model, format, value);
        if (!bar)
            return ulb_fail(err, ULB_ENVIRONMENT, "not enough memory for the figure");
        bar->ticks[1] = ulb_row_number(row, kind->tick);
        bar->point = published(document, kind->published, model, format);
        snprintf(bar->hover, sizeof bar->hover,
                 "modelled: GEMVs alone %.2f, whole token %.2f\npublished: %.1f\n%.2f GB a token", value,
                 bar->ticks[1], bar->point, ulb_row_number(row, "bytes_per_token") / 1e9);
    }
    if (chart->n == 0)
        return ulb_fail(err, ULB_BAD_INPUT, "the document has no decoding to draw");
    return ULB_OK;
}

static enum ulb_status draw(const struct ulb_record *record, struct ulb_canvas *canvas,
                            const struct kind *kind, struct ulb_bar_chart *chart, struct ulb_error *err)
{
    const json_t *platform = json_object_get(record->root, "platform");
    enum ulb_status status = collect(record->root, kind, chart, err);
    if (status == ULB_OK) {
        fprintf(canvas->script, "set title \"Modelled: %s\\n", kind->title);
        ulb_put_short_text(canvas->script, ulb_row_text(platform, "title"), 60);
        fprintf(canvas->script, "; read bandwidth %.1f GB/s\"\n", ulb_row_number(platform, "bandwidth_gbps"));
        ulb_put_bar_chart(canvas, chart);
    }
    ulb_bar_chart_free(chart);
    return status;
}

enum ulb_status ulb_draw_model_tokens(const struct ulb_record *record, struct ulb_canvas *canvas,
                                      struct ulb_error *err)
{
    static const struct kind kind = {"roofline_tokens_per_s", "tokens_per_s", "tps",
                                     "decoding, batch 1, head in the format of the blocks", false};
    struct ulb_bar_chart chart = {.x_label = "model",
                                  .y_label = "tokens/s that the GEMVs allow",
                                  .tick_names = {"", "with the rest of the token (ARL's alpha)"},
                                  .point_name = "published, observed (2B: a Llama3 of that size)",
                                  .formats = true};
    return draw(record, canvas, &kind, &chart, err);
}

enum ulb_status ulb_draw_model_speedup(const struct ulb_record *record, struct ulb_canvas *canvas,
                                       struct ulb_error *err)
{
    static const struct kind kind = {"gemv_speedup", "speedup", "e2e", "speed-up over 16-bit weights", true};
    struct ulb_bar_chart chart = {.x_label = "model",
                                  .y_label = "speed-up of the GEMVs over bf16",
                                  .tick_names = {"", "of the token by Amdahl's law (ARL's alpha)"},
                                  .point_name = "published, of the whole token, observed",
                                  .formats = true};
    return draw(record, canvas, &kind, &chart, err);
}
