#include "harness/cli/commands/model_decode.h"

#include "common/units.h"
#include "harness/session/json_number.h"
#include "results/reference/paper_values.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double BF16_BYTES = 2;

/* Weights that one token reads; NAN without memory. The head counts in the format of the blocks. The speed-up
 * of 7.0 that is published for Llama3-8B on LNL needs that: a head of 16 bits is too large. */
static double weights_per_token(const struct ulb_model *model)
{
    struct ulb_shape_list shapes;
    struct ulb_error unused;
    double weights = 0;
    if (ulb_model_shapes(model, ULB_FORM_FUSED, &shapes, &unused) != ULB_OK)
        return NAN;
    for (size_t s = 0; s < shapes.n; s++)
        weights += (double)shapes.items[s].m * (double)shapes.items[s].k * shapes.items[s].active;
    free(shapes.items);
    return weights;
}

/* Share of the GEMVs in a token with 16-bit weights, which is published of two models on ARL; NAN of others.
 * The digits beyond the printed ones are those that give the printed bounds of Amdahl's law. *reason: why it
 * is NAN. */
static double alpha_of(const struct ulb_model *model, const char **reason)
{
    static const struct {
        const char *model, *bound;
    } known[] = {{"falcon3-1b", "arl.amdahl.1b.x16"}, {"llama3-8b", "arl.amdahl.8b.x16"}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        *reason = "not enough memory for the published value";
        if (strcmp(model->name, known[i].model) == 0)
            return ulb_amdahl_alpha(ulb_paper_value(known[i].bound), 16);
    }
    *reason = "the share of the GEMVs in a token is not published for this model";
    return NAN;
}

/* seconds: of the token's GEMVs; seconds_16 those with 16-bit weights; ratio: of the weights' bytes. */
static json_t *decode_row(const struct ulb_model *model, const char *format, double bytes, double seconds,
                          double seconds_16, double ratio)
{
    const char *no_alpha;
    double alpha = alpha_of(model, &no_alpha), rest = seconds_16 / alpha - seconds_16;
    json_t *row = json_pack("{s:s, s:s, s:f, s:f, s:f, s:f}", "model", model->name, "format", format,
                            "bytes_per_token", bytes, "gemv_ms", 1e3 * seconds, "roofline_tokens_per_s",
                            1 / seconds, "gemv_speedup", seconds_16 / seconds);
    ulb_set_figure(row, "alpha", alpha, no_alpha);
    ulb_set_figure(row, "tokens_per_s", 1 / (seconds + rest), no_alpha);
    ulb_set_figure(row, "speedup", (seconds_16 + rest) / (seconds + rest), no_alpha);
    ulb_set_figure(row, "amdahl_speedup", ulb_amdahl(alpha, ratio), no_alpha);
    return row;
}

json_t *ulb_model_decode_json(const struct ulb_platform *platform, const struct ulb_model_list *models)
{
    json_t *rows = json_array();
    for (size_t m = 0; m < models->n; m++) {
        const struct ulb_model *model = &models->items[m];
        double weights = weights_per_token(model), bytes_16 = BF16_BYTES * weights;
        double seconds_16 = bytes_16 / platform->bandwidth;
        if (isnan(weights)) {
            json_decref(rows);
            return NULL;
        }
        json_array_append_new(rows, decode_row(model, "bf16", bytes_16, seconds_16, seconds_16, 1));
        for (size_t g = 0; g < platform->n_gammas; g++) {
            const struct ulb_platform_gamma *gamma = &platform->gammas[g];
            double bytes = weights / ULB_STEP_WEIGHTS * gamma->bytes_per_step;
            double seconds = ulb_platform_gemv_seconds(platform, gamma, weights);
            json_array_append_new(
                rows, decode_row(model, gamma->format, bytes, seconds, seconds_16, bytes_16 / bytes));
        }
    }
    return rows;
}

json_t *ulb_model_published_json(const char *platform)
{
    struct ulb_paper_check *check = malloc(sizeof *check);
    struct ulb_error err;
    json_t *rows = NULL;
    size_t bytes;
    const char *csv = ulb_paper_values(&bytes);
    if (check && ulb_paper_parse(csv, bytes, "paper-values.csv", check, &err) == ULB_OK) {
        rows = json_array();
        for (size_t i = 0; i < check->n; i++) {
            const struct ulb_paper_row *row = &check->rows[i];
            if (strcmp(row->platform, platform) == 0)
                json_array_append_new(rows, json_pack("{s:s, s:s, s:s, s:f, s:f, s:f, s:s}", "id", row->id,
                                                      "section", row->section, "quantity", row->quantity,
                                                      "value", row->published, "lo", row->lo, "hi", row->hi,
                                                      "unit", row->unit));
        }
    }
    free(check);
    return rows;
}
