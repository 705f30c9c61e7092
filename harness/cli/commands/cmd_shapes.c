/* ulb-bench shapes: the matrices of a model from a file or the catalogue, and what a token reads of them. */
#include "harness/cli/cli.h"
#include "common/units.h"
#include "harness/cli/option.h"
#include "harness/cli/table.h"
#include "harness/session/json_number.h"
#include "kernels/gguf_block.h"
#include "kernels/kernel.h"
#include "shapes/model.h"

#include <argp.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Positions in the cache of keys and values unless --context says otherwise. */
enum { CONTEXT = 4096, CONTEXT_MAX = 1000000000, OPTION_CONTEXT = 256, OPTION_CSV, OPTION_SEPARATE };
static const double CACHE_ELEMENT_BYTES = 2; /* bfloat16 */

struct options {
    const char *model;
    uint64_t context;
    enum ulb_form form;
    bool json, csv;
    struct ulb_error *err;
};

/* --- formats --- */

/* The formats that a kernel reads, in the order of the table: NULL behind the last. */
static const struct ulb_format *format_at(size_t index)
{
    for (size_t i = 0; i < ulb_kernel_count; i++) {
        const struct ulb_format *format = ulb_kernels[i]->layout->format;
        size_t first = 0;
        while (ulb_kernels[first]->layout->format != format)
            first++;
        if (first == i && index-- == 0)
            return format;
    }
    return NULL;
}

/* Bytes of an M x K matrix in the tightest of the format's layouts, scales and padding included. NAN: the
 * format's blocks do not divide its rows. */
static double matrix_bytes(const struct ulb_format *format, size_t m, size_t k)
{
    double least = INFINITY;
    if (format->block && k % format->block->columns != 0)
        return NAN;
    for (size_t i = 0; i < ulb_kernel_count; i++) {
        const struct ulb_layout *layout = ulb_kernels[i]->layout;
        if (layout->format == format)
            least = fmin(least, (double)ulb_layout_bytes(layout, m, k));
    }
    return least;
}

/* What a token reads of the blocks and of the head. Matrices whose rows the format's blocks do not divide
 * stay in 16 bits, as engines leave them. NAN if those are too many to call it the format's, and for a head
 * that is not known. */
struct reads {
    double blocks, head;
    const struct ulb_layer_shape *kept; /* the first matrix in 16 bits; NULL: none */
};

static const double KEPT_SHARE_MAX = 0.05, KEPT_BYTES = 2;

static struct reads reads_of(const struct ulb_model *model, const struct ulb_shape_list *list,
                             const struct ulb_format *format)
{
    struct reads sum = {0, model->headless ? 0 : NAN, NULL};
    double kept = 0, all = 0;
    for (size_t i = 0; i < list->n; i++) {
        const struct ulb_layer_shape *shape = &list->items[i];
        double weights = (double)shape->m * (double)shape->k * shape->active;
        double bytes = matrix_bytes(format, shape->m, shape->k) * shape->active;
        if (ulb_shape_is_head(shape)) {
            sum.head = bytes;
            continue;
        }
        all += weights;
        if (isnan(bytes)) {
            kept += weights;
            bytes = KEPT_BYTES * weights;
            sum.kept = sum.kept ? sum.kept : shape;
        }
        sum.blocks += bytes;
    }
    if (kept > KEPT_SHARE_MAX * all)
        sum.blocks = NAN;
    return sum;
}

/* --- the document --- */

static json_t *matrix_json(const struct ulb_layer_shape *shape)
{
    json_t *parts = json_array();
    for (unsigned p = 0; p < shape->n_parts; p++)
        json_array_append_new(parts, json_pack("{s:s, s:I}", "layer", shape->parts[p].layer, "m",
                                               (json_int_t)shape->parts[p].m));
    return json_pack("{s:s, s:I, s:I, s:I, s:I, s:b, s:o}", "layer", shape->layer, "m", (json_int_t)shape->m,
                     "k", (json_int_t)shape->k, "count", (json_int_t)shape->count, "active",
                     (json_int_t)shape->active, "fused", shape->n_parts > 0, "parts", parts);
}

static void set_bytes(json_t *object, const struct ulb_format *format, double bytes)
{
    char reason[96] = "the vocabulary is not published";
    if (format->block)
        snprintf(reason, sizeof reason, "a row of some matrix is no multiple of %u weights",
                 format->block->columns);
    if (isfinite(bytes))
        json_object_set_new(object, format->name, json_integer((json_int_t)bytes));
    else
        ulb_set_figure(object, format->name, bytes, reason);
}

static void add_bytes(json_t *document, const struct ulb_model *model, const struct ulb_shape_list *list)
{
    json_t *all = json_object(), *blocks = json_object(), *kept = json_object();
    const struct ulb_format *format;
    for (size_t f = 0; (format = format_at(f)); f++) {
        struct reads reads = reads_of(model, list, format);
        if (reads.kept && isfinite(reads.blocks))
            json_object_set_new(kept, format->name, json_string(reads.kept->layer));
        set_bytes(all, format, reads.blocks + reads.head);
        set_bytes(blocks, format, reads.blocks);
    }
    json_object_set_new(document, "bytes_per_token", all);
    json_object_set_new(document, "bytes_per_token_without_head", blocks);
    json_object_set_new(document, "kept_in_16_bits", kept);
}

static json_t *derived_json(const struct ulb_model *model)
{
    json_t *list = json_array();
    for (const char *at = model->derived; *at;) {
        size_t length = strcspn(at, ";");
        json_array_append_new(list, json_stringn(at, length));
        at += length + (at[length] == ';' ? strspn(at + length, "; ") : 0);
    }
    return list;
}

static void add_file_bytes(json_t *document, const struct ulb_model *model)
{
    const char *reason = isnan(model->stored_bytes) ? "a tensor has a type whose size is not known"
                                                    : "not from a GGUF file with tensors";
    double none = model->stored_bytes > 0 ? 1 : NAN;
    ulb_set_figure(document, "file_bytes", model->stored_bytes * none, reason);
    ulb_set_figure(document, "file_bytes_per_token", model->stored_bytes_per_token * none, reason);
}

static double kv_bytes(const struct ulb_model *model, const struct options *options)
{
    return ulb_model_kv_bytes(model, (double)options->context, CACHE_ELEMENT_BYTES);
}

/* NULL without memory. */
static json_t *document_of(const struct ulb_model *model, const struct options *options,
                           const struct ulb_shape_list *list)
{
    json_t *matrices = json_array();
    struct ulb_weights weights = ulb_shape_weights(list);
    for (size_t i = 0; i < list->n; i++)
        json_array_append_new(matrices, matrix_json(&list->items[i]));
    json_t *document = json_pack(
        "{s:s, s:s, s:s, s:o, s:I, s:I, s:I, s:I, s:I, s:b, s:I, s:I, s:I, s:s, s:o}", "model", model->name,
        "title", model->title, "source", model->source, "derived", derived_json(model), "layers",
        (json_int_t)model->layers, "hidden", (json_int_t)model->hidden, "heads", (json_int_t)model->heads,
        "kv_heads", (json_int_t)model->kv_heads, "head_dim", (json_int_t)model->head_dim, "tied_head",
        model->tied_head, "params", (json_int_t)ulb_model_parameters(model, list), "active_params",
        (json_int_t)ulb_model_active_parameters(model, list), "weights_per_token_without_head",
        (json_int_t)weights.active, "form", options->form == ULB_FORM_FUSED ? "fused" : "separate",
        "matrices", matrices);
    if (!document)
        return NULL;
    if (model->vocab > 0)
        json_object_set_new(document, "vocab", json_integer((json_int_t)model->vocab));
    else
        ulb_set_figure(document, "vocab", NAN, "not published");
    add_bytes(document, model, list);
    add_file_bytes(document, model);
    json_object_set_new(document, "kv_context", json_integer((json_int_t)options->context));
    ulb_set_figure(document, "kv_bytes", kv_bytes(model, options),
                   "the file does not say what a position takes");
    return document;
}

/* --- text --- */

static const char *form_text(const struct ulb_layer_shape *shape, char *out, size_t bytes)
{
    size_t used = 0;
    for (unsigned p = 0; p < shape->n_parts; p++)
        used += (size_t)snprintf(out + used, bytes - used, "%s%s %zu",
                                 p ? " + " : "fused: ", shape->parts[p].layer, shape->parts[p].m);
    return used > 0 ? out : "separate";
}

static void print_matrices(const struct ulb_shape_list *list)
{
    static const struct ulb_column columns[] = {{"layer", "layer", 0},   {"m", "M", 0},
                                                {"k", "K", 0},           {"count", "count", 0},
                                                {"active", "active", 0}, {"mega", "1e6 a token", 1},
                                                {"form", "form", 0}};
    json_t *rows = json_array();
    for (size_t i = 0; i < list->n; i++) {
        const struct ulb_layer_shape *shape = &list->items[i];
        char form[96];
        double mega = (double)shape->m * (double)shape->k * shape->active / 1e6;
        json_array_append_new(rows, json_pack("{s:s, s:I, s:I, s:I, s:I, s:f, s:s}", "layer", shape->layer,
                                              "m", (json_int_t)shape->m, "k", (json_int_t)shape->k, "count",
                                              (json_int_t)shape->count, "active", (json_int_t)shape->active,
                                              "mega", mega, "form", form_text(shape, form, sizeof form)));
    }
    ulb_print_table(rows, columns, sizeof columns / sizeof *columns);
    json_decref(rows);
}

static void print_bytes(const struct ulb_model *model, const struct ulb_shape_list *list)
{
    static const struct ulb_column columns[] = {{"format", "format", 0},
                                                {"blocks", "blocks MB", 1},
                                                {"head", "head MB", 1},
                                                {"all", "together MB", 1}};
    json_t *rows = json_array();
    const struct ulb_format *format;
    const struct ulb_layer_shape *kept = NULL;
    for (size_t f = 0; (format = format_at(f)); f++) {
        struct reads reads = reads_of(model, list, format);
        kept = isfinite(reads.blocks) && reads.kept ? reads.kept : kept;
        json_t *row = json_pack("{s:s}", "format", format->name);
        ulb_set_figure(row, "blocks", reads.blocks / 1e6, "");
        ulb_set_figure(row, "head", reads.head / 1e6, "");
        ulb_set_figure(row, "all", (reads.blocks + reads.head) / 1e6, "");
        json_array_append_new(rows, row);
    }
    printf("\nWeights that one token reads, scales and padding included\n");
    ulb_print_table(rows, columns, sizeof columns / sizeof *columns);
    if (kept)
        ulb_print_wrapped_as(stdout, "",
                             "%s stays in 16 bits in formats whose blocks do not divide its rows of %zu.",
                             kept->layer, kept->k);
    json_decref(rows);
}

static void print_size(const struct ulb_model *model, const struct options *options,
                       const struct ulb_shape_list *list)
{
    struct ulb_weights weights = ulb_shape_weights(list);
    double parameters = ulb_model_parameters(model, list), active = ulb_model_active_parameters(model, list);
    double cache = kv_bytes(model, options);
    char text[256], head[96] = "; no head";
    if (active != parameters)
        printf("%.3fe9 parameters, %.3fe9 active\n", parameters / 1e9, active / 1e9);
    else
        printf("%.3fe9 parameters\n", parameters / 1e9);
    if (!model->headless && model->vocab > 0)
        snprintf(head, sizeof head, " and the %s head of %.1fe6", model->tied_head ? "tied" : "untied",
                 (double)model->vocab * model->hidden / 1e6);
    else if (!model->headless)
        strcpy(head, "; the vocabulary is not published: without the head");
    snprintf(text, sizeof text, "a token reads %.1fe6 weights of the blocks%s", weights.active / 1e6, head);
    ulb_print_wrapped(stdout, "", text);
    if (isfinite(cache))
        printf("keys and values of %" PRIu64 " positions in bf16: %.1f MB\n", options->context, cache / 1e6);
}

static void print_text(const struct ulb_model *model, const struct options *options,
                       const struct ulb_shape_list *list)
{
    char heads[64] = "", without[64] = "";
    if (model->heads > 0)
        snprintf(heads, sizeof heads, ", %u head%s (%u of keys) of %u", model->heads, ULB_S(model->heads),
                 model->kv_heads, model->head_dim);
    if (model->without_attention > 0)
        snprintf(without, sizeof without, ", %u layer%s without attention", model->without_attention,
                 ULB_S(model->without_attention));
    ulb_print_wrapped_as(stdout, "", "%s: %u layer%s, hidden size %u%s%s", model->title, model->layers,
                         ULB_S(model->layers), model->hidden, heads, without);
    print_size(model, options, list);
    ulb_print_wrapped(stdout, "source: ", model->source);
    if (model->derived[0])
        ulb_print_wrapped(stdout, "derived: ", model->derived);
    putchar('\n');
    print_matrices(list);
    print_bytes(model, list);
    if (model->stored_bytes > 0)
        printf("\nIn the file: %.1f MB, of which a token reads %.1f MB\n", model->stored_bytes / 1e6,
               model->stored_bytes_per_token / 1e6);
}

static void print_csv(const struct ulb_model *model, const struct ulb_shape_list *list)
{
    const struct ulb_format *format;
    printf("model,layer,m,k,count,active,form");
    for (size_t f = 0; (format = format_at(f)); f++)
        printf(",bytes_per_token_%s", format->name);
    for (size_t i = 0; i < list->n; i++) {
        const struct ulb_layer_shape *shape = &list->items[i];
        printf("\n%s,%s,%zu,%zu,%u,%u,%s", model->name, shape->layer, shape->m, shape->k, shape->count,
               shape->active, shape->n_parts > 0 ? "fused" : "separate");
        for (size_t f = 0; (format = format_at(f)); f++) {
            double bytes = matrix_bytes(format, shape->m, shape->k) * shape->active;
            if (isfinite(bytes))
                printf(",%.0f", bytes);
            else
                putchar(','); /* the format cannot hold it */
        }
    }
    putchar('\n');
}

/* --- the command --- */

static error_t parse_option(int key, char *argument, struct argp_state *state)
{
    struct options *options = state->input;
    switch (key) {
    case 'j':
        options->json = true;
        return 0;
    case OPTION_CSV:
        options->csv = true;
        return 0;
    case OPTION_CONTEXT:
        return ulb_read_count(argument, 1, CONTEXT_MAX, &options->context)
                   ? 0
                   : ulb_refuse_option(options->err, "context", argument, "must be 1 to 1000000000");
    case OPTION_SEPARATE:
        options->form = ULB_FORM_STORED;
        return 0;
    case ARGP_KEY_ARG:
        if (options->model)
            return ARGP_ERR_UNKNOWN;
        options->model = argument;
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static enum ulb_status show(const struct ulb_model *model, const struct options *options,
                            struct ulb_error *err)
{
    struct ulb_shape_list list;
    enum ulb_status status = ulb_model_shapes(model, options->form, &list, err);
    if (status != ULB_OK)
        return status;
    if (options->json)
        status = ulb_print_json(document_of(model, options, &list), err);
    else if (options->csv)
        print_csv(model, &list);
    else
        print_text(model, options, &list);
    free(list.items);
    return status;
}

static enum ulb_status run(int argc, char **argv, struct ulb_error *err)
{
    static const struct argp_option argp_options[] = {
        {"separate", OPTION_SEPARATE, NULL, 0,
         "q, k, v, gate and up as separate matrices if the model's files store them so", 0},
        {"context", OPTION_CONTEXT, "N", 0, "positions in the KV cache (default: 4096)", 0},
        {"csv", OPTION_CSV, NULL, 0, "print comma-separated values, a line for each kind of layer", 0},
        {"json", 'j', NULL, 0, "print one JSON document", 0},
        {0},
    };
    static const struct argp parser = {argp_options,
                                       parse_option,
                                       "MODEL|FILE",
                                       "Shows the matrices of a model and what a token reads of them in each "
                                       "format: from a config.json of Hugging Face, the headers of GGUF and "
                                       "safetensors files, a folder with one of these, or a name of "
                                       "'ulb-bench list models'.",
                                       NULL,
                                       NULL,
                                       NULL};
    struct options options = {.form = ULB_FORM_FUSED, .context = CONTEXT, .err = err};
    struct ulb_model model;
    bool done;
    enum ulb_status status = ulb_parse_arguments(&parser, argc, argv, &options, &done, err);
    if (status != ULB_OK || done)
        return status;
    if (!options.model)
        return ulb_fail(err, ULB_BAD_INPUT,
                        "say which model: a config.json, a GGUF or safetensors file, a folder, or a name of "
                        "'ulb-bench list models'");
    if (options.json && options.csv)
        return ulb_fail(err, ULB_BAD_INPUT, "give either --json or --csv");
    status = ulb_model_load(options.model, &model, err);
    if (status != ULB_OK)
        return status;
    status = show(&model, &options, err);
    ulb_model_free(&model);
    return status;
}

const struct ulb_command ulb_command_shapes = {
    "shapes", "a model's matrices, from a config.json, a GGUF or safetensors file or the catalogue", run};
