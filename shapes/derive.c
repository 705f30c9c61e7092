/* From a model's numbers to its matrices. */
#include "shapes/model.h"
#include "shapes/shapes.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DERIVED_MAX = 24 + ULB_EXTRAS, LAYERS_MAX = 1 << 16, EXPERTS_MAX = 1 << 16 };
/* 1000 times what the largest models have. */
static const double PARAMETERS_MAX = 1e15;

static const char HEAD[] = "lm_head";

/* The list under construction and how many layers hold what is added to it. */
struct builder {
    struct ulb_shape_list *list;
    unsigned layers, experts, experts_active;
};

static struct ulb_layer_shape *add(struct builder *b, const char *prefix, const char *layer, size_t m,
                                   size_t k)
{
    struct ulb_layer_shape *shape = &b->list->items[b->list->n++];
    *shape = (struct ulb_layer_shape){
        .m = m, .k = k, .count = b->layers * b->experts, .active = b->layers * b->experts_active};
    snprintf(shape->layer, sizeof shape->layer, "%s%s", prefix, layer);
    return shape;
}

static void add_part(struct ulb_layer_shape *fused, const char *layer, size_t m)
{
    fused->parts[fused->n_parts].layer = layer;
    fused->parts[fused->n_parts++].m = m;
    fused->m += m;
}

static void add_latent_attention(struct builder *b, const struct ulb_model *model)
{
    size_t query = (size_t)model->heads * model->head_dim;
    size_t key = (size_t)model->heads * (model->head_dim - model->mla_rope);
    size_t value = (size_t)model->heads * model->v_head_dim;
    if (model->mla_q_rank > 0) {
        add(b, "", "q_a", model->mla_q_rank, model->hidden);
        add(b, "", "q_b", query, model->mla_q_rank);
    } else {
        add(b, "", "q", query, model->hidden);
    }
    add(b, "", "kv_a", model->mla_kv_rank + model->mla_rope, model->hidden);
    add(b, "", "kv_b", key + value, model->mla_kv_rank);
    add(b, "", "o", model->hidden, value);
}

static void add_attention(struct builder *b, const struct ulb_model *model, bool fused)
{
    size_t query = (size_t)model->heads * model->head_dim * (model->gated_query ? 2 : 1);
    size_t key = (size_t)model->kv_heads * model->head_dim;
    size_t value = (size_t)model->kv_heads * model->v_head_dim;
    if (fused) {
        struct ulb_layer_shape *qkv = add(b, "", "qkv", 0, model->hidden);
        add_part(qkv, "q", query);
        add_part(qkv, "k", key);
        add_part(qkv, "v", value);
    } else {
        add(b, "", "q", query, model->hidden);
        add(b, "", "k", key, model->hidden);
        add(b, "", "v", value, model->hidden);
    }
    add(b, "", "o", model->hidden, (size_t)model->heads * model->v_head_dim);
}

static void add_network(struct builder *b, const struct ulb_model *model, bool fused, const char *prefix,
                        size_t intermediate)
{
    if (model->gated && fused) {
        struct ulb_layer_shape *both = add(b, prefix, "gate_up", 0, model->hidden);
        add_part(both, "gate", intermediate);
        add_part(both, "up", intermediate);
    } else {
        if (model->gated)
            add(b, prefix, "gate", intermediate, model->hidden);
        add(b, prefix, "up", intermediate, model->hidden);
    }
    add(b, prefix, "down", model->hidden, intermediate);
}

static void add_networks(struct builder *b, const struct ulb_model *model, bool fused)
{
    unsigned networks = model->layers - model->without_network;
    unsigned dense = model->experts > 0 ? model->dense_layers : networks;
    b->layers = dense;
    if (dense > 0)
        add_network(b, model, fused, "", model->intermediate);
    b->layers = networks - dense;
    if (b->layers == 0)
        return;
    add(b, "", "router", model->experts, model->hidden);
    if (model->shared_intermediate > 0)
        add_network(b, model, fused, "shared.", model->shared_intermediate);
    b->experts = model->experts;
    b->experts_active = model->experts_active;
    add_network(b, model, fused, "expert.", model->expert_intermediate);
}

static void derive(const struct ulb_model *model, enum ulb_form form, struct ulb_shape_list *list)
{
    struct builder b = {list, model->layers - model->without_attention, 1, 1};
    bool fused = form == ULB_FORM_FUSED;
    if (b.layers > 0 && model->mla_kv_rank > 0)
        add_latent_attention(&b, model);
    else if (b.layers > 0)
        add_attention(&b, model, fused || model->stored_qkv);
    add_networks(&b, model, fused || model->stored_gate_up);
    for (unsigned i = 0; i < model->n_extra; i++) {
        b = (struct builder){list, model->extra[i].count, 1, 1};
        add(&b, "", model->extra[i].layer, model->extra[i].m, model->extra[i].k);
    }
    if (model->vocab > 0 && !model->headless) {
        b = (struct builder){list, 1, 1, 1};
        add(&b, "", HEAD, model->vocab, model->hidden);
    }
}

enum ulb_status ulb_model_shapes(const struct ulb_model *model, enum ulb_form form,
                                 struct ulb_shape_list *list, struct ulb_error *err)
{
    size_t most = model->stored ? model->n_stored : DERIVED_MAX;
    *list = (struct ulb_shape_list){calloc(most, sizeof *list->items), 0};
    if (!list->items)
        return ulb_fail(err, ULB_ENVIRONMENT, "not enough memory for the shapes of %s", model->name);
    if (model->stored) {
        memcpy(list->items, model->stored, most * sizeof *list->items);
        list->n = most;
    } else {
        derive(model, form, list);
    }
    double parameters = ulb_model_parameters(model, list);
    if (parameters <= PARAMETERS_MAX)
        return ULB_OK;
    free(list->items);
    *list = (struct ulb_shape_list){NULL, 0};
    return ulb_fail(err, ULB_BAD_INPUT,
                    "%s: %.3g parameters are more than the largest file could hold (%.3g)", model->name,
                    parameters, PARAMETERS_MAX);
}

bool ulb_shape_is_head(const struct ulb_layer_shape *shape)
{
    return strcmp(shape->layer, HEAD) == 0;
}

struct ulb_weights ulb_shape_weights(const struct ulb_shape_list *list)
{
    struct ulb_weights sum = {0, 0};
    for (size_t i = 0; i < list->n; i++) {
        const struct ulb_layer_shape *shape = &list->items[i];
        double weights = (double)shape->m * (double)shape->k;
        if (ulb_shape_is_head(shape))
            continue;
        sum.total += weights * shape->count;
        sum.active += weights * shape->active;
    }
    return sum;
}

double ulb_model_parameters(const struct ulb_model *model, const struct ulb_shape_list *list)
{
    double table = (double)model->vocab * model->hidden;
    bool own_head = !model->tied_head && !model->headless;
    return ulb_shape_weights(list).total + (own_head ? 2 * table : table) + model->other_parameters;
}

double ulb_model_active_parameters(const struct ulb_model *model, const struct ulb_shape_list *list)
{
    struct ulb_weights weights = ulb_shape_weights(list);
    if (weights.active == weights.total)
        return ulb_model_parameters(model, list);
    if (model->active_rule == ULB_ACTIVE_ALL)
        return ulb_model_parameters(model, list) - weights.total + weights.active;
    double sum = weights.active + (model->headless ? 0 : (double)model->vocab * model->hidden);
    for (size_t i = 0; i < list->n && model->active_rule == ULB_ACTIVE_NO_ROUTERS; i++) {
        const struct ulb_layer_shape *shape = &list->items[i];
        if (strcmp(shape->layer, "router") == 0)
            sum -= (double)shape->m * (double)shape->k * shape->active;
    }
    return sum;
}

double ulb_model_kv_bytes(const struct ulb_model *model, double positions, double bytes_per_element)
{
    unsigned layers = model->layers - model->without_attention;
    double element = (double)model->kv_heads * (model->head_dim + (double)model->v_head_dim);
    if (model->mla_kv_rank > 0)
        element = (double)model->mla_kv_rank + model->mla_rope;
    element += model->index_dim;
    if (layers == model->without_cache)
        return 0;
    if (model->kv_heads == 0 || model->head_dim == 0)
        return NAN;
    double windowed = model->windowed, whole = layers - model->without_cache - windowed;
    return bytes_per_element * element * (whole * positions + windowed * fmin(positions, model->window));
}

static enum ulb_status check_attention(const struct ulb_model *model, struct ulb_error *err)
{
    bool latent = model->mla_kv_rank > 0;
    if (model->without_attention == model->layers)
        return ULB_OK;
    if (model->heads % model->kv_heads != 0)
        return ulb_fail(err, ULB_BAD_INPUT, "%u key heads do not divide %u heads", model->kv_heads,
                        model->heads);
    if (latent && (model->mla_rope == 0 || model->mla_rope >= model->head_dim))
        return ulb_fail(err, ULB_BAD_INPUT, "%u of the %u elements of a head cannot carry the position",
                        model->mla_rope, model->head_dim);
    if (latent && model->mla_q_rank > ULB_SIZE_MAX)
        return ulb_fail(err, ULB_BAD_INPUT, "the rank of the queries is %u", model->mla_q_rank);
    if (model->rope_dims > model->head_dim)
        return ulb_fail(err, ULB_BAD_INPUT, "%u of the %u elements of a head cannot be rotated",
                        model->rope_dims, model->head_dim);
    return ULB_OK;
}

static enum ulb_status check_experts(const struct ulb_model *model, struct ulb_error *err)
{
    if (model->experts == 0)
        return ULB_OK;
    if (model->experts_active == 0 || model->experts_active > model->experts)
        return ulb_fail(err, ULB_BAD_INPUT, "%u experts of %u cannot be active", model->experts_active,
                        model->experts);
    if (model->dense_layers > model->layers)
        return ulb_fail(err, ULB_BAD_INPUT, "%u of %u layers cannot be dense", model->dense_layers,
                        model->layers);
    if ((size_t)model->layers * model->experts > ULB_SIZE_MAX)
        return ulb_fail(err, ULB_BAD_INPUT, "%u layers of %u experts are more than %d", model->layers,
                        model->experts, ULB_SIZE_MAX);
    return ULB_OK;
}

/* Layers that differ, and matrices beside attention and network. */
static enum ulb_status check_layers(const struct ulb_model *model, struct ulb_error *err)
{
    if (model->without_attention > model->layers || model->without_network > model->layers ||
        model->without_cache > model->layers - model->without_attention ||
        model->windowed > model->layers - model->without_attention - model->without_cache ||
        (model->experts > 0 && model->dense_layers > model->layers - model->without_network))
        return ulb_fail(err, ULB_BAD_INPUT,
                        "of %u layers %u have no attention, %u no network, %u no cache, %u a window: that "
                        "cannot be",
                        model->layers, model->without_attention, model->without_network, model->without_cache,
                        model->windowed);
    for (unsigned i = 0; i < model->n_extra; i++) {
        const struct ulb_extra *extra = &model->extra[i];
        if (extra->m == 0 || extra->m > ULB_SIZE_MAX || extra->k == 0 || extra->k > ULB_SIZE_MAX ||
            extra->count > ULB_SIZE_MAX)
            return ulb_fail(err, ULB_BAD_INPUT, "matrices %s of %ux%u cannot be", extra->layer, extra->m,
                            extra->k);
    }
    return ULB_OK;
}

/* The numbers that hold whatever the blocks are made of. */
static enum ulb_status check_stored(const struct ulb_model *model, struct ulb_error *err)
{
    if (model->layers == 0 || model->hidden == 0 || model->hidden > ULB_SIZE_MAX ||
        model->vocab > ULB_SIZE_MAX)
        return ulb_fail(err, ULB_BAD_INPUT, "%u layers of %u with a vocabulary of %u cannot be",
                        model->layers, model->hidden, model->vocab);
    return ULB_OK;
}

enum ulb_status ulb_model_check(const struct ulb_model *model, struct ulb_error *err)
{
    if (model->stored)
        return check_stored(model, err);
    bool experts = model->experts > 0, heads = model->without_attention < model->layers;
    bool dense = model->without_network < model->layers && (!experts || model->dense_layers > 0);
    const struct {
        const char *what;
        size_t value, min, max;
    } sizes[] = {
        {"layers", model->layers, 1, LAYERS_MAX},
        {"the hidden size", model->hidden, 1, ULB_SIZE_MAX},
        {"the vocabulary", model->vocab, 0, ULB_SIZE_MAX},
        {"heads", model->heads, heads, ULB_SIZE_MAX},
        {"key heads", model->kv_heads, heads, ULB_SIZE_MAX},
        {"the size of a head", model->head_dim, heads, ULB_SIZE_MAX},
        {"the size of a value head", model->v_head_dim, heads, ULB_SIZE_MAX},
        {"all heads together", (size_t)model->heads * model->head_dim, heads, ULB_SIZE_MAX},
        {"all value heads together", (size_t)model->heads * model->v_head_dim, heads, ULB_SIZE_MAX},
        {"the latent rank", model->mla_kv_rank, 0, ULB_SIZE_MAX},
        {"the intermediate size", model->intermediate, dense, ULB_SIZE_MAX},
        {"experts", model->experts, 0, EXPERTS_MAX},
        {"the intermediate size of an expert", model->expert_intermediate, experts, ULB_SIZE_MAX},
        {"the intermediate size of the shared experts", model->shared_intermediate, 0, ULB_SIZE_MAX},
    };
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        if (sizes[i].value < sizes[i].min || sizes[i].value > sizes[i].max)
            return ulb_fail(err, ULB_BAD_INPUT, "%s: %zu; %zu to %zu is possible", sizes[i].what,
                            sizes[i].value, sizes[i].min, sizes[i].max);
    }
    enum ulb_status status = check_layers(model, err);
    if (status == ULB_OK)
        status = check_attention(model, err);
    return status == ULB_OK ? check_experts(model, err) : status;
}

const char *ulb_model_trained_as(const struct ulb_model *model)
{
    static const char *const ternary[] = {"bitnet", "falcon-e", "trilm"};
    if (strncmp(model->name, "bonsai", strlen("bonsai")) == 0)
        return "binary";
    for (size_t i = 0; i < sizeof ternary / sizeof *ternary; i++) {
        if (strncmp(model->name, ternary[i], strlen(ternary[i])) == 0)
            return "ternary";
    }
    return model->sub_norms ? "ternary" : "";
}

void ulb_model_free(struct ulb_model *model)
{
    free(model->stored);
    model->stored = NULL;
    model->n_stored = 0;
}
