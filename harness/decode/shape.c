#include "harness/decode/decoder.h"

/* What the decoder has no code for; NULL: nothing. */
static const char *lacking(const struct ulb_model *model)
{
    if (model->vocab == 0)
        return "no published vocabulary";
    if (model->n_stored > 0)
        return "blocks of different kinds";
    if (model->mla_kv_rank > 0 || model->v_head_dim != model->head_dim)
        return "latent attention";
    if (model->n_extra > 0 || model->without_attention > 0 || model->without_network > 0)
        return "layers other than attention and MLP";
    if (model->headless)
        return "no head";
    if (model->gated_query)
        return "gated attention";
    if (model->function == ULB_FFN_OTHER)
        return "another activation function";
    if (model->post_norms)
        return "norms behind attention and MLP";
    if (model->experts > 0 && (model->shared_intermediate > 0 || model->dense_layers > 0))
        return "experts beside dense networks";
    return NULL;
}

enum ulb_status ulb_decoder_shape_of(const struct ulb_model *model, struct ulb_decoder_shape *shape,
                                     struct ulb_error *err)
{
    const char *why = lacking(model);
    if (why)
        return ulb_fail(err, ULB_BAD_INPUT,
                        "%s has %s, which the decoder does not run; 'ulb-bench gemv' does its matrices",
                        model->name, why);
    bool experts = model->experts > 0;
    *shape = (struct ulb_decoder_shape){
        .layers = model->layers,
        .hidden = model->hidden,
        .heads = model->heads,
        .kv_heads = model->kv_heads,
        .head_dim = model->head_dim,
        .intermediate = experts ? model->expert_intermediate : model->intermediate,
        .vocab = model->vocab,
        .experts = experts ? model->experts : 1,
        .active = experts ? model->experts_active : 1,
        .rope_dims = model->rope_base > 0 ? model->rope_dims / 2 * 2 : 0,
        .rope_base = model->rope_base,
        .windowed = model->windowed,
        .window = model->window,
        .function = model->function,
        .gated = model->gated,
        .parallel = model->parallel_block,
        .layer_norm = model->norm == ULB_NORM_LAYER,
        .qk_norm = model->qk_norm,
        .sub_norms = model->sub_norms,
    };
    return ULB_OK;
}

struct ulb_decoder_shape ulb_decoder_shape_cut(const struct ulb_decoder_shape *shape, size_t layers)
{
    struct ulb_decoder_shape cut = *shape;
    cut.layers = layers;
    cut.windowed = shape->windowed * layers / shape->layers;
    return cut;
}

bool ulb_layer_windowed(const struct ulb_decoder_shape *shape, size_t layer)
{
    return (layer + 1) * shape->windowed / shape->layers > layer * shape->windowed / shape->layers;
}

size_t ulb_linear_rows(const struct ulb_decoder_shape *shape, enum ulb_linear linear)
{
    switch (linear) {
    case ULB_QKV:
        return (shape->heads + 2 * shape->kv_heads) * shape->head_dim;
    case ULB_GATE_UP:
        return (shape->gated ? 2 : 1) * shape->intermediate;
    case ULB_ROUTER:
        return shape->experts;
    case ULB_HEAD:
        return shape->vocab;
    default:
        return shape->hidden;
    }
}

size_t ulb_linear_columns(const struct ulb_decoder_shape *shape, enum ulb_linear linear)
{
    if (linear == ULB_O)
        return shape->heads * shape->head_dim;
    return linear == ULB_DOWN ? shape->intermediate : shape->hidden;
}

size_t ulb_linear_count(const struct ulb_decoder_shape *shape, enum ulb_linear linear)
{
    if (linear == ULB_GATE_UP || linear == ULB_DOWN)
        return shape->experts;
    return linear == ULB_ROUTER ? shape->experts > 1 : 1;
}

double ulb_kv_bytes(const struct ulb_decoder_shape *shape, enum ulb_kv_type type, double positions)
{
    double whole = (double)(shape->layers - shape->windowed), windowed = (double)shape->windowed;
    double seen = positions < (double)shape->window ? positions : (double)shape->window;
    double each = (double)(shape->kv_heads * ulb_kv_position_bytes(type, shape->head_dim));
    return each * (whole * positions + windowed * seen);
}

size_t ulb_kv_capacity(const struct ulb_decoder_shape *shape, enum ulb_kv_type type, size_t positions)
{
    size_t pieces = (positions + ULB_KV_PIECE - 1) / ULB_KV_PIECE;
    return 2 * shape->kv_heads * pieces * ulb_kv_half_bytes(type, shape->head_dim);
}
