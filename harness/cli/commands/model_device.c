#include "harness/cli/commands/model_device.h"

#include "common/units.h"
#include "harness/cli/cli.h"
#include "harness/cli/table.h"
#include "harness/session/json_number.h"
#include "shapes/model.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ULB_COUNT(array) (sizeof(array) / sizeof *(array))

/* The formats of the paper's figures, and tokens of its GEMVs and GEMMs. */
static const struct {
    const char *name;
    double bits;
} formats[] = {{"bf16", 16}, {"int8", 8}, {"int2", 2}};
static const double batches[] = {1, 1024};

/* One product of N tokens; weights without scales, activations left out. */
static json_t *product_row(const struct ulb_device_platform *device, const struct ulb_model *model,
                           const struct ulb_layer_shape *shape, size_t f, double n)
{
    const double weights = (double)shape->m * (double)shape->k, bytes = weights * formats[f].bits / 8;
    const double operations = 2 * weights * n, peak = ulb_device_platform_peak(device, formats[f].name);
    const double launch_s = isnan(device->launch_s) ? 0 : device->launch_s;
    const char *reason = "no rate is known of this format's products";
    const struct ulb_device_work work = {
        bytes, n > 1 ? operations : 0, launch_s, device->bandwidth, n > 1 ? peak : 1, 0, 1};
    const struct ulb_device_prediction at = ulb_predict_device(&work);
    json_t *row = json_pack("{s:s, s:s, s:I, s:I, s:I, s:s, s:f}", "model", model->name, "layer",
                            shape->layer, "m", (json_int_t)shape->m, "k", (json_int_t)shape->k, "n",
                            (json_int_t)n, "format", formats[f].name, "weight_mb", bytes / 1e6);
    if (!row)
        return NULL;
    ulb_set_figure(row, "predicted_us", at.seconds * 1e6, reason);
    ulb_set_figure(row, "gbps", bytes / at.seconds / ULB_GB, reason);
    ulb_set_figure(row, "tops", operations / at.seconds / 1e12, reason);
    ulb_set_text(row, "bound", isnan(at.seconds) ? NULL : ulb_bound_name(at.bound), reason);
    return row;
}

static int add_products(const struct ulb_device_platform *device, const struct ulb_model *model,
                        const struct ulb_shape_list *shapes, double n, json_t *rows)
{
    int bad = 0;
    for (size_t s = 0; s < shapes->n; s++) {
        for (size_t f = 0; f < ULB_COUNT(formats) && !ulb_shape_is_head(&shapes->items[s]); f++)
            bad |= json_array_append_new(rows, product_row(device, model, &shapes->items[s], f, n));
    }
    return bad;
}

/* Tokens per second of a model of which the head has the format of the blocks: the bytes' and the launches'.
 */
static json_t *decode_row(const struct ulb_device_platform *device, const struct ulb_model *model,
                          const struct ulb_shape_list *shapes, size_t f)
{
    double weights = 0, calls = 0, all = ulb_model_parameters(model, shapes) * formats[f].bits / 8;
    for (size_t s = 0; s < shapes->n; s++) {
        weights += (double)shapes->items[s].m * (double)shapes->items[s].k * shapes->items[s].active;
        calls += shapes->items[s].active;
    }
    double bytes = weights * formats[f].bits / 8, read_s = bytes / device->bandwidth;
    json_t *row =
        json_pack("{s:s, s:s, s:f, s:f, s:f}", "model", model->name, "format", formats[f].name,
                  "bytes_per_token", bytes, "memory_bytes", all, "roofline_tokens_per_s", 1 / read_s);
    if (!row)
        return NULL;
    ulb_set_figure(row, "tokens_per_s", 1 / (read_s + calls * device->launch_s), device->launch_reason);
    if (isnan(device->memory_bytes))
        ulb_set_text(row, "fits", NULL, device->memory_reason);
    else
        json_object_set_new(row, "fits", json_boolean(all <= device->memory_bytes));
    return row;
}

static enum ulb_status make_document(const struct ulb_device_platform *device,
                                     const struct ulb_model_list *models, json_t **out, struct ulb_error *err)
{
    json_t *rows[ULB_COUNT(batches)] = {json_array(), json_array()}, *decode = json_array();
    enum ulb_status status = ULB_OK;
    int bad = 0;
    for (size_t i = 0; i < models->n && status == ULB_OK; i++) {
        struct ulb_shape_list shapes;
        status = ulb_model_shapes(&models->items[i], ULB_FORM_FUSED, &shapes, err);
        if (status != ULB_OK)
            break;
        for (size_t b = 0; b < ULB_COUNT(batches); b++)
            bad |= add_products(device, &models->items[i], &shapes, batches[b], rows[b]);
        for (size_t f = 0; f < ULB_COUNT(formats); f++)
            bad |= json_array_append_new(decode, decode_row(device, &models->items[i], &shapes, f));
        free(shapes.items);
    }
    *out = json_pack("{s:s, s:o, s:o, s:o, s:o}", "kind", "model", "platform",
                     ulb_device_platform_json(device), "gemv", rows[0], "gemm", rows[1], "decode", decode);
    if (status == ULB_OK && (bad || !*out))
        status = ulb_fail(err, ULB_ENVIRONMENT, "not enough memory for the models");
    return status;
}

static void print_document(const struct ulb_device_platform *device, const json_t *document)
{
    static const struct ulb_column decode[] = {
        {"model", "model", 0}, {"format", "format", 0},      {"roofline_tokens_per_s", "roof tok/s", 1},
        {"fits", "fits", 0},   {"tokens_per_s", "tok/s", 1}, {"bytes_per_token", "bytes a token", 0},
    };
    static const struct ulb_column gemv[] = {
        {"format", "format", 0}, {"model", "model", 0}, {"layer", "layer", 0},     {"m", "M", 0},
        {"k", "K", 0},           {"gbps", "GB/s", 1},   {"predicted_us", "us", 1}, {"bound", "bound by", 0},
    };
    static const struct ulb_column gemm[] = {
        {"format", "format", 0}, {"model", "model", 0}, {"layer", "layer", 0},     {"m", "M", 0},
        {"k", "K", 0},           {"tops", "TOPS", 1},   {"predicted_us", "us", 1}, {"bound", "bound by", 0},
    };
    char launch[32];
    ulb_print_wrapped_as(stdout, "", "%s: %s", device->name, device->title);
    ulb_print_wrapped(stdout, "source: ", device->source);
    bool known = !isnan(device->launch_s);
    if (known)
        snprintf(launch, sizeof launch, "%.1f us a launch", device->launch_s * 1e6);
    else
        snprintf(launch, sizeof launch, "launch unknown");
    ulb_print_wrapped_as(stdout, "", "read bandwidth %.1f GB/s, %s; modelled, nothing was measured",
                         device->bandwidth / ULB_GB, launch);
    puts("\nTokens/s: roof by bytes over bandwidth, tok/s with a launch for each product");
    ulb_print_table(json_object_get(document, "decode"), decode, ULB_COUNT(decode));
    printf("\nGEMV: %sbytes / bandwidth\n", known ? "launch + " : "");
    ulb_print_table(json_object_get(document, "gemv"), gemv, ULB_COUNT(gemv));
    printf("\nGEMM of 1024 tokens: %smax(bytes / bandwidth, operations / rate)\n", known ? "launch + " : "");
    ulb_print_table(json_object_get(document, "gemm"), gemm, ULB_COUNT(gemm));
}

enum ulb_status ulb_model_device_run(const struct ulb_model_request *request,
                                     const struct ulb_device_platform *device, struct ulb_error *err)
{
    struct ulb_model_list models = {NULL, 0};
    json_t *document = NULL;
    if (request->record || request->measure)
        return ulb_fail(err, ULB_BAD_INPUT,
                        "--record and --measure model a CPU's 1-bit kernel; leave them out for %s",
                        device->name);
    enum ulb_status status =
        ulb_model_list_load(request->models ? request->models : ULB_MODELLED_MODELS, &models, err);
    if (status == ULB_OK && request->out)
        status = ulb_make_folder(request->out, "out", err);
    if (status == ULB_OK)
        status = make_document(device, &models, &document, err);
    if (status == ULB_OK && request->out)
        status = ulb_model_write(request->out, device->name, document, err);
    if (status == ULB_OK && request->json)
        status = ulb_print_json(json_incref(document), err);
    else if (status == ULB_OK)
        print_document(device, document);
    json_decref(document);
    ulb_model_list_free(&models);
    return status;
}
