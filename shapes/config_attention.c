/* Attention of a config.json: heads, latent ranks, indexer, rotation. */
#include "shapes/config_reader.h"
#include "shapes/load.h"
#include "shapes/shapes.h"

#include <stdio.h>
#include <string.h>

/* Falcon: one key head for all, as many as there are groups, or as many as heads. */
static enum ulb_status falcon_kv_heads(struct ulb_config_reader *r, bool found, struct ulb_error *err)
{
    bool grouped = false, single = false, said;
    enum ulb_status status = ulb_config_bool(&r->config, ULB_KEY_NEW_DECODER, &grouped, &said, err);
    if (status == ULB_OK)
        status = ulb_config_bool(&r->config, ULB_KEY_MULTI_QUERY, &single, &said, err);
    if (status != ULB_OK || (grouped && found))
        return status;
    if (grouped || !said)
        return ulb_config_missing(grouped ? ULB_KEY_KV_HEADS : ULB_KEY_MULTI_QUERY, err);
    r->model->kv_heads = single ? 1 : r->model->heads;
    ulb_model_note(r->model, "key heads = %u by multi_query", r->model->kv_heads);
    return ULB_OK;
}

/* MPT: "attn_type". */
static enum ulb_status kv_heads_by_type(struct ulb_config_reader *r, bool *found, struct ulb_error *err)
{
    const json_t *type;
    enum ulb_status status = ulb_config_value(&r->config, ULB_KEY_ATTENTION_TYPE, &type, NULL, err);
    const char *word = json_string_value(type);
    if (status != ULB_OK || !word || strcmp(word, "multihead_attention") == 0)
        return status;
    if (strcmp(word, "multiquery_attention") != 0)
        return ulb_fail(err, ULB_BAD_INPUT,
                        "attn_type is \"%.40s\", and nothing says how many key heads there are", word);
    *found = true;
    r->model->kv_heads = 1;
    ulb_model_note(r->model, "key heads = 1 by attn_type");
    return ULB_OK;
}

static enum ulb_status read_kv_heads(struct ulb_config_reader *r, struct ulb_error *err)
{
    struct ulb_model *model = r->model;
    bool found;
    const json_t *multi_query;
    enum ulb_status status = ulb_config_count(&r->config, ULB_KEY_KV_HEADS, &model->kv_heads, &found, err);
    if (status == ULB_OK)
        status = ulb_config_value(&r->config, ULB_KEY_MULTI_QUERY, &multi_query, NULL, err);
    if (status == ULB_OK && multi_query)
        return falcon_kv_heads(r, found, err);
    if (status == ULB_OK && !found)
        status = kv_heads_by_type(r, &found, err);
    if (status != ULB_OK || found)
        return status;
    if (r->config.around && r->family->defaults.kv_heads > 0)
        return ulb_config_take(r, ULB_KEY_KV_HEADS, r->family->defaults.kv_heads, &model->kv_heads, err);
    model->kv_heads = model->heads;
    ulb_model_note(model, "num_key_value_heads = num_attention_heads");
    return ULB_OK;
}

static enum ulb_status read_latent(struct ulb_config_reader *r, struct ulb_error *err)
{
    struct ulb_model *model = r->model;
    bool found;
    unsigned nope = 0;
    enum ulb_status status = ulb_config_take(r, ULB_KEY_NOPE_DIM, 0, &nope, err);
    if (status == ULB_OK)
        status = ulb_config_take(r, ULB_KEY_ROPE_DIM, 0, &model->mla_rope, err);
    if (status == ULB_OK)
        status = ulb_config_take(r, ULB_KEY_V_DIM, 0, &model->v_head_dim, err);
    if (status == ULB_OK)
        status = ulb_config_count(&r->config, ULB_KEY_Q_RANK, &model->mla_q_rank, &found, err);
    if (status != ULB_OK)
        return status;
    r->config.read[ULB_KEY_KV_HEADS] = r->config.read[ULB_KEY_HEAD_DIM] = true; /* mean nothing here */
    unsigned both = nope + model->mla_rope;
    status = ulb_config_count(&r->config, ULB_KEY_QK_DIM, &both, &found, err);
    if (status == ULB_OK && both != nope + model->mla_rope)
        return ulb_fail(err, ULB_BAD_INPUT, "qk_head_dim is %u, not %u + %u", both, nope, model->mla_rope);
    if (status != ULB_OK)
        return status;
    if (nope > ULB_SIZE_MAX || model->mla_rope > ULB_SIZE_MAX)
        return ulb_fail(err, ULB_BAD_INPUT, "heads of %u + %u elements cannot be", nope, model->mla_rope);
    model->head_dim = nope + model->mla_rope;
    model->kv_heads = model->heads;
    return ULB_OK;
}

static enum ulb_status read_head_dim(struct ulb_config_reader *r, struct ulb_error *err)
{
    struct ulb_model *model = r->model;
    bool found;
    enum ulb_status status = ulb_config_count(&r->config, ULB_KEY_HEAD_DIM, &model->head_dim, &found, err);
    if (status != ULB_OK)
        return status;
    if (!found && r->family->default_head_dim > 0) {
        model->head_dim = r->family->default_head_dim;
        ulb_model_note(model, "head_dim = %u, its class's default", model->head_dim);
    } else if (!found) {
        if (model->heads == 0 || model->hidden % model->heads != 0)
            return ulb_fail(err, ULB_BAD_INPUT,
                            "%u heads do not divide the hidden size %u, and there is no head_dim",
                            model->heads, model->hidden);
        model->head_dim = model->hidden / model->heads;
        ulb_model_note(model, "head_dim = hidden_size / num_attention_heads");
    }
    model->v_head_dim = model->head_dim;
    return ULB_OK;
}

/* What is rotated: numbers by themselves, or in an object as transformers 5 writes them. Of an object for
 * each kind of layer, that of full attention. */
static enum ulb_status read_rotation(struct ulb_config_reader *r, struct ulb_error *err)
{
    struct ulb_model *model = r->model;
    struct ulb_config *config = &r->config;
    const json_t *parameters;
    double share = r->family->rotated > 0 ? r->family->rotated : 1;
    bool found;
    if (r->family->unrotated)
        return ULB_OK;
    model->rope_base = 10000;
    enum ulb_status status = ulb_config_value(config, ULB_KEY_ROPE_PARAMETERS, &parameters, NULL, err);
    if (status == ULB_OK && json_is_object(json_object_get(parameters, "full_attention")))
        parameters = json_object_get(parameters, "full_attention");
    if (status == ULB_OK && parameters)
        status = ulb_config_real_of(parameters, ULB_KEY_ROPE_BASE, 1, 1e12, &model->rope_base, err);
    if (status == ULB_OK && parameters)
        status = ulb_config_real_of(parameters, ULB_KEY_ROTARY_SHARE, 0, 1, &share, err);
    if (status == ULB_OK)
        status = ulb_config_real(config, ULB_KEY_ROPE_BASE, 1, 1e12, &model->rope_base, err);
    if (status == ULB_OK)
        status = ulb_config_real(config, ULB_KEY_ROTARY_SHARE, 0, 1, &share, err);
    model->rope_dims = model->mla_rope > 0 ? model->mla_rope : (unsigned)(share * model->head_dim);
    return status == ULB_OK ? ulb_config_count(config, ULB_KEY_ROTARY_DIMS, &model->rope_dims, &found, err)
                            : status;
}

/* Sparse attention of DeepSeek-V3.2: small heads choose the positions that the attention reads. */
static enum ulb_status read_indexer(struct ulb_config_reader *r, struct ulb_error *err)
{
    struct ulb_model *model = r->model;
    unsigned heads = 0, dim = 0, chosen = 0;
    bool has_heads, has_dim, found;
    enum ulb_status status = ulb_config_count(&r->config, ULB_KEY_INDEX_HEADS, &heads, &has_heads, err);
    if (status == ULB_OK)
        status = ulb_config_count(&r->config, ULB_KEY_INDEX_DIM, &dim, &has_dim, err);
    if (status == ULB_OK)
        status = ulb_config_count(&r->config, ULB_KEY_INDEX_TOPK, &chosen, &found, err);
    if (status != ULB_OK || (!has_heads && !has_dim))
        return status;
    model->index_dim = dim;
    status =
        ulb_config_add_extra(model, "index.q_b", (double)heads * dim, model->mla_q_rank, model->layers, err);
    if (status == ULB_OK)
        status = ulb_config_add_extra(model, "index.k", dim, model->hidden, model->layers, err);
    if (status == ULB_OK)
        status = ulb_config_add_extra(model, "index.weights", heads, model->hidden, model->layers, err);
    return status;
}

enum ulb_status ulb_config_read_attention(struct ulb_config_reader *r, struct ulb_error *err)
{
    bool found;
    if (r->family->attentionless)
        return ULB_OK;
    enum ulb_status status =
        ulb_config_take(r, ULB_KEY_HEADS, r->family->defaults.heads, &r->model->heads, err);
    if (status == ULB_OK)
        status = ulb_config_count(&r->config, ULB_KEY_KV_RANK, &r->model->mla_kv_rank, &found, err);
    if (status == ULB_OK && r->model->mla_kv_rank > 0) {
        status = read_latent(r, err);
        if (status == ULB_OK)
            status = read_indexer(r, err);
    } else if (status == ULB_OK) {
        status = read_kv_heads(r, err);
        if (status == ULB_OK)
            status = read_head_dim(r, err);
    }
    if (status == ULB_OK)
        status = ulb_config_bool(&r->config, ULB_KEY_QK_NORM, &r->model->qk_norm, &found, err);
    return status == ULB_OK ? read_rotation(r, err) : status;
}
