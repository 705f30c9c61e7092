#include "harness/cli/decode_import.h"

#include "common/units.h"
#include "harness/json_figure.h"
#include "models/models.h"
#include "results/published_speeds.h"
#include "shapes/model.h"
#include "shapes/shapes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Norms, and what a file counts besides matrices, are well below this share of the weights. */
static const double SAME_WEIGHTS = 0.02;

/* The model that was decoded: all its weights, and those of the embedding that no token reads. */
struct sizes {
    const char *model;
    double weights, unread;
};

static enum ulb_status sizes_of(const char *name, struct sizes *sizes, struct ulb_error *err)
{
    struct ulb_model model = {0};
    struct ulb_shape_list shapes = {0};
    *sizes = (struct sizes){.model = name};
    enum ulb_status status = ulb_model_load(name, &model, err);
    if (status == ULB_OK)
        status = ulb_model_shapes(&model, ULB_FORM_FUSED, &shapes, err);
    for (size_t s = 0; s < shapes.n; s++)
        sizes->weights += (double)shapes.items[s].m * (double)shapes.items[s].k * shapes.items[s].count;
    if (status == ULB_OK && !model.tied_head)
        sizes->unread = (double)model.vocab * model.hidden;
    sizes->weights += sizes->unread;
    free(shapes.items);
    ulb_model_free(&model);
    return status;
}

/* Our run whose bits per weight are nearest, of those that were decoded now; and the best yardstick. */
static const struct ulb_decode_run *nearest(const struct ulb_decode_run *runs, size_t n, double bits)
{
    const struct ulb_decode_run *best = NULL;
    for (size_t i = 0; i < n; i++) {
        if (!best || fabs(log(16 / runs[i].bit_ratio / bits)) < fabs(log(16 / best->bit_ratio / bits)))
            best = &runs[i];
    }
    return best;
}

static double bandwidth_of(const struct ulb_decode_run *runs, size_t n)
{
    double gbps = NAN;
    for (size_t i = 0; i < n; i++)
        gbps = fmax(gbps, runs[i].yardstick_gbps);
    return gbps * ULB_GB;
}

static json_t *run_json(const struct ulb_llama_run *run, const struct sizes *sizes,
                        const struct ulb_decode_run *ours, double bandwidth)
{
    char reason[128] = "";
    double bits = 8 * run->weight_bytes / run->weights;
    double bytes = run->weight_bytes * (1 - sizes->unread / sizes->weights);
    if (run->gpu)
        snprintf(reason, sizeof reason, "layers were on a GPU, whose bandwidth is not known here");
    else if (fabs(run->weights / sizes->weights - 1) > SAME_WEIGHTS)
        snprintf(reason, sizeof reason, "the file has %.3g weights, %.31s %.3g: take its model with --model",
                 run->weights, sizes->model, sizes->weights);
    if (*reason)
        bytes = NAN;
    double bound = ulb_decode_roofline(bandwidth, bytes);
    json_t *row =
        json_pack("{s:s, s:s, s:I, s:I, s:I, s:f, s:f, s:s, s:f}", "model", run->model, "build", run->build,
                  "threads", (json_int_t)run->threads, "tokens", (json_int_t)run->tokens, "context",
                  (json_int_t)run->depth, "bits", bits, "tokens_per_s", run->tokens_per_s, "our_format",
                  ours->format, "our_tokens_per_s", ours->tokens_per_s);
    ulb_set_figure(row, "tokens_per_s_stddev", run->stddev, "llama-bench wrote none");
    ulb_set_figure(row, "bytes_per_token", bytes, reason);
    ulb_set_figure(row, "roofline_tokens_per_s", bound, reason);
    ulb_set_figure(row, "roofline_share", run->tokens_per_s / bound, reason);
    json_object_set_new(
        row, "possible",
        *reason ? json_null()
                : json_boolean(ulb_speed_possible(run->tokens_per_s, bound, ULB_BANDWIDTH_MEASURED)));
    if (*reason)
        json_object_set_new(row, "possible_reason", json_string(reason));
    return row;
}

enum ulb_status ulb_decode_import(struct ulb_record *record, const struct ulb_llama_runs *runs,
                                  const char *model, struct ulb_error *err)
{
    struct sizes sizes;
    struct ulb_decode_run *ours = NULL;
    size_t n = 0;
    enum ulb_status status = sizes_of(model, &sizes, err);
    if (status == ULB_OK)
        status = ulb_record_decode_runs(record, &ours, &n, err);
    if (status != ULB_OK || n == 0) {
        ulb_decode_runs_free(ours, n);
        return status;
    }
    json_t *imported = json_array();
    for (size_t i = 0; i < runs->n; i++) {
        double bits = 8 * runs->items[i].weight_bytes / runs->items[i].weights;
        json_array_append_new(
            imported, run_json(&runs->items[i], &sizes, nearest(ours, n, bits), bandwidth_of(ours, n)));
    }
    ulb_decode_runs_free(ours, n);
    if (json_object_set_new(json_object_get(record->root, "decode"), "imported", imported) != 0)
        return ulb_fail(err, ULB_ENVIRONMENT, "not enough memory for the imported runs");
    return ULB_OK;
}

static void print_row(const json_t *row, FILE *out)
{
    const char *reason = json_string_value(json_object_get(row, "possible_reason"));
    const json_t *stddev = json_object_get(row, "tokens_per_s_stddev");
    fprintf(out, " %-26.26s %4.1f %3lld thr %8.2f ", json_string_value(json_object_get(row, "model")),
            json_number_value(json_object_get(row, "bits")),
            (long long)json_integer_value(json_object_get(row, "threads")),
            json_number_value(json_object_get(row, "tokens_per_s")));
    if (json_is_number(stddev))
        fprintf(out, "+-%5.2f ", json_number_value(stddev));
    else
        fprintf(out, "%7s ", "");
    if (reason)
        fprintf(out, "%8s %5s", "-", "-");
    else
        fprintf(out, "%8.2f %4.0f%%", json_number_value(json_object_get(row, "roofline_tokens_per_s")),
                100 * json_number_value(json_object_get(row, "roofline_share")));
    fprintf(out, " | %8s %8.2f%s\n", json_string_value(json_object_get(row, "our_format")),
            json_number_value(json_object_get(row, "our_tokens_per_s")),
            json_is_false(json_object_get(row, "possible")) ? " IMPOSSIBLE" : "");
    if (reason)
        fprintf(out, "   no bound: %.85s\n", reason);
}

void ulb_print_imported(const struct ulb_record *record, FILE *out)
{
    const json_t *rows = json_object_get(json_object_get(record->root, "decode"), "imported");
    size_t i;
    json_t *row;
    if (json_array_size(rows) == 0)
        return;
    fprintf(out,
            "llama-bench, beside the bandwidth's bound on its weights and our run of the nearest bits\n");
    fprintf(out, " %-26s %4s %7s %8s %7s %8s %5s | %8s %8s\n", "model", "bits", "", "tokens/s", "", "roof",
            "share", "ours", "tokens/s");
    json_array_foreach(rows, i, row) print_row(row, out);
}
