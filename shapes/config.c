/* A config.json: from its keys to a model's numbers. What is left out is derived as the model's own code does
 * and noted, or refused. */
#include "shapes/config_keys.h"
#include "shapes/family.h"
#include "shapes/load.h"
#include "shapes/shapes.h"

#include <math.h>
#include <stdint.h>
#include <string.h>
#include <strings.h>

struct reader {
    struct ulb_config config;
    const struct ulb_family *family;
    struct ulb_model *model;
};

static enum ulb_status missing(enum ulb_config_key key, struct ulb_error *err)
{
    return ulb_fail(err, ULB_BAD_INPUT, "%s is missing, and nothing there says what it is",
                    ulb_config_name(key));
}

/* --- what kind of model --- */

/* Reference configurations have no model_type; their spellings tell. */
static const char *type_by_spelling(const json_t *object)
{
    bool reference = json_object_get(object, "dim") && json_object_get(object, "n_layers") &&
                     json_object_get(object, "n_heads");
    if (!reference)
        return NULL;
    return json_object_get(object, "kv_lora_rank") ? "deepseek_v3" : "llama";
}

static enum ulb_status find_family(struct reader *r, struct ulb_error *err)
{
    const json_t *type = NULL;
    const struct ulb_config *config = &r->config;
    enum ulb_status status = ulb_config_value(config->model, ULB_KEY_TYPE, &type, NULL, err);
    if (status == ULB_OK && !type && config->around)
        status = ulb_config_value(config->around, ULB_KEY_TYPE, &type, NULL, err);
    if (status != ULB_OK)
        return status;
    if (type && !json_is_string(type))
        return ulb_fail(err, ULB_BAD_INPUT, "model_type is no string");
    const char *word = type ? json_string_value(type) : type_by_spelling(config->model);
    if (!word)
        return ulb_fail(err, ULB_BAD_INPUT,
                        "no model_type says what its blocks are made of; add one, such as \"llama\"");
    r->family = ulb_family_of_type(word);
    if (!r->family)
        return ulb_fail(
            err, ULB_BAD_INPUT,
            "model_type \"%.40s\" is not known; if its blocks are like Llama's, write \"llama\", or "
            "give the GGUF file",
            word);
    ulb_family_apply(r->family, r->model);
    if (!type)
        ulb_model_note(r->model, "model_type %s by the spelling", word);
    return ULB_OK;
}

/* --- sizes --- */

/* A number that must be there, or that the class of a nested configuration has by default (0: none). */
static enum ulb_status take(struct reader *r, enum ulb_config_key key, unsigned by_default, unsigned *out,
                            struct ulb_error *err)
{
    bool found;
    enum ulb_status status = ulb_config_count(&r->config, key, out, &found, err);
    if (status == ULB_OK && !found && key == ULB_KEY_VOCAB && r->config.around) {
        struct ulb_config outside = {NULL, r->config.around, NULL};
        status = ulb_config_count(&outside, key, out, &found, err);
    }
    if (status != ULB_OK || found)
        return status;
    if (!r->config.around || by_default == 0)
        return missing(key, err);
    *out = by_default;
    ulb_model_note(r->model, "%s = %u, its class's default", ulb_config_name(key), by_default);
    return ULB_OK;
}

/* Llama's reference code: two thirds of 4 x hidden, times a factor, rounded up. */
static enum ulb_status llama_intermediate(struct reader *r, unsigned multiple, struct ulb_error *err)
{
    double factor = 1;
    enum ulb_status status = ulb_config_real(r->config.model, ULB_KEY_FFN_FACTOR, 0.01, 100, &factor, err);
    if (status != ULB_OK)
        return status;
    double size = floor(factor * floor(8.0 * r->model->hidden / 3));
    if (multiple == 0 || ceil(size / multiple) * multiple > UINT32_MAX)
        return ulb_fail(err, ULB_BAD_INPUT, "multiple_of %u cannot be", multiple);
    r->model->intermediate = (unsigned)(ceil(size / multiple) * multiple);
    ulb_model_note(r->model, "intermediate_size = %u by multiple_of", r->model->intermediate);
    return ULB_OK;
}

/* Where the key is absent: by expansion_ratio, by multiple_of, else four times the hidden size for those
 * families without a gate, whose code does so. */
static enum ulb_status derive_intermediate(struct reader *r, struct ulb_error *err)
{
    bool found;
    unsigned factor = 4, multiple;
    enum ulb_status status = ulb_config_count(&r->config, ULB_KEY_MULTIPLE, &multiple, &found, err);
    if (status == ULB_OK && found)
        return llama_intermediate(r, multiple, err);
    if (status == ULB_OK)
        status = ulb_config_count(&r->config, ULB_KEY_EXPANSION, &factor, &found, err);
    if (status != ULB_OK)
        return status;
    if (r->model->gated)
        return take(r, ULB_KEY_INTERMEDIATE, r->family->defaults.intermediate, &r->model->intermediate, err);
    if (factor > 1024 || r->model->hidden > ULB_SIZE_MAX)
        return ulb_fail(err, ULB_BAD_INPUT, "expansion_ratio %u cannot be", factor);
    r->model->intermediate = factor * r->model->hidden;
    ulb_model_note(r->model, "intermediate_size = %u x hidden_size", factor);
    return ULB_OK;
}

static enum ulb_status read_sizes(struct reader *r, struct ulb_error *err)
{
    struct ulb_model *model = r->model;
    const struct ulb_family *family = r->family;
    bool found = false;
    unsigned projection = 0;
    enum ulb_status status = take(r, ULB_KEY_HIDDEN, family->defaults.hidden, &model->hidden, err);
    if (status == ULB_OK)
        status = take(r, ULB_KEY_LAYERS, family->defaults.layers, &model->layers, err);
    if (status == ULB_OK)
        status = take(r, ULB_KEY_VOCAB, family->defaults.vocab, &model->vocab, err);
    if (status == ULB_OK && model->vocab == 0)
        return ulb_fail(err, ULB_BAD_INPUT, "vocab_size is 0");
    if (status == ULB_OK)
        status = ulb_config_count(&r->config, ULB_KEY_INTERMEDIATE, &model->intermediate, &found, err);
    if (status == ULB_OK && !found)
        status = derive_intermediate(r, err);
    if (status == ULB_OK)
        status = ulb_config_count(&r->config, ULB_KEY_PROJECTION, &projection, &found, err);
    if (status == ULB_OK && found && projection != model->hidden)
        return ulb_fail(
            err, ULB_BAD_INPUT,
            "word_embed_proj_dim %u is not the hidden size %u: the matrices between are not known",
            projection, model->hidden);
    return status;
}

/* --- attention --- */

/* Falcon: one key head for all, as many as there are groups, or as many as heads. */
static enum ulb_status falcon_kv_heads(struct reader *r, bool found, struct ulb_error *err)
{
    bool grouped = false, single = false, said;
    enum ulb_status status = ulb_config_bool(r->config.model, ULB_KEY_NEW_DECODER, &grouped, &said, err);
    if (status == ULB_OK)
        status = ulb_config_bool(r->config.model, ULB_KEY_MULTI_QUERY, &single, &said, err);
    if (status != ULB_OK || (grouped && found))
        return status;
    if (grouped || !said)
        return missing(grouped ? ULB_KEY_KV_HEADS : ULB_KEY_MULTI_QUERY, err);
    r->model->kv_heads = single ? 1 : r->model->heads;
    ulb_model_note(r->model, "key heads = %u by multi_query", r->model->kv_heads);
    return ULB_OK;
}

static enum ulb_status read_kv_heads(struct reader *r, struct ulb_error *err)
{
    struct ulb_model *model = r->model;
    bool found;
    const json_t *multi_query;
    enum ulb_status status = ulb_config_count(&r->config, ULB_KEY_KV_HEADS, &model->kv_heads, &found, err);
    if (status == ULB_OK)
        status = ulb_config_value(r->config.model, ULB_KEY_MULTI_QUERY, &multi_query, NULL, err);
    if (status == ULB_OK && multi_query)
        return falcon_kv_heads(r, found, err);
    if (status != ULB_OK || found)
        return status;
    if (r->config.around && r->family->defaults.kv_heads > 0)
        return take(r, ULB_KEY_KV_HEADS, r->family->defaults.kv_heads, &model->kv_heads, err);
    model->kv_heads = model->heads;
    ulb_model_note(model, "num_key_value_heads = num_attention_heads");
    return ULB_OK;
}

static enum ulb_status read_latent(struct reader *r, struct ulb_error *err)
{
    struct ulb_model *model = r->model;
    bool found;
    unsigned nope = 0;
    enum ulb_status status = take(r, ULB_KEY_NOPE_DIM, 0, &nope, err);
    if (status == ULB_OK)
        status = take(r, ULB_KEY_ROPE_DIM, 0, &model->mla_rope, err);
    if (status == ULB_OK)
        status = take(r, ULB_KEY_V_DIM, 0, &model->v_head_dim, err);
    if (status == ULB_OK)
        status = ulb_config_count(&r->config, ULB_KEY_Q_RANK, &model->mla_q_rank, &found, err);
    if (status != ULB_OK)
        return status;
    if (nope > ULB_SIZE_MAX || model->mla_rope > ULB_SIZE_MAX)
        return ulb_fail(err, ULB_BAD_INPUT, "heads of %u + %u elements cannot be", nope, model->mla_rope);
    model->head_dim = nope + model->mla_rope;
    model->kv_heads = model->heads;
    return ULB_OK;
}

static enum ulb_status read_head_dim(struct reader *r, struct ulb_error *err)
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

static enum ulb_status read_rotation(struct reader *r, struct ulb_error *err)
{
    struct ulb_model *model = r->model;
    const json_t *object = r->config.model, *parameters;
    double share = r->family->rotated > 0 ? r->family->rotated : 1;
    bool found;
    if (r->family->unrotated)
        return ULB_OK;
    model->rope_base = 10000;
    enum ulb_status status = ulb_config_value(object, ULB_KEY_ROPE_PARAMETERS, &parameters, NULL, err);
    if (status == ULB_OK && parameters)
        status = ulb_config_real(parameters, ULB_KEY_ROPE_BASE, 1, 1e12, &model->rope_base, err);
    if (status == ULB_OK && parameters)
        status = ulb_config_real(parameters, ULB_KEY_ROTARY_SHARE, 0, 1, &share, err);
    if (status == ULB_OK)
        status = ulb_config_real(object, ULB_KEY_ROPE_BASE, 1, 1e12, &model->rope_base, err);
    if (status == ULB_OK)
        status = ulb_config_real(object, ULB_KEY_ROTARY_SHARE, 0, 1, &share, err);
    model->rope_dims = model->mla_rope > 0 ? model->mla_rope : (unsigned)(share * model->head_dim);
    return status == ULB_OK
               ? ulb_config_count(&r->config, ULB_KEY_ROTARY_DIMS, &model->rope_dims, &found, err)
               : status;
}

static enum ulb_status read_attention(struct reader *r, struct ulb_error *err)
{
    bool found;
    enum ulb_status status = take(r, ULB_KEY_HEADS, r->family->defaults.heads, &r->model->heads, err);
    if (status == ULB_OK)
        status = ulb_config_count(&r->config, ULB_KEY_KV_RANK, &r->model->mla_kv_rank, &found, err);
    if (status == ULB_OK && r->model->mla_kv_rank > 0) {
        status = read_latent(r, err);
    } else if (status == ULB_OK) {
        status = read_kv_heads(r, err);
        if (status == ULB_OK)
            status = read_head_dim(r, err);
    }
    return status == ULB_OK ? read_rotation(r, err) : status;
}

/* --- experts --- */

/* Layers without experts: the first so many, those of a list, or all but every so-manieth. */
static enum ulb_status read_dense_layers(struct reader *r, struct ulb_error *err)
{
    struct ulb_model *model = r->model;
    bool leading, found;
    unsigned step = 1, frequency = 1;
    const json_t *list;
    enum ulb_status status =
        ulb_config_count(&r->config, ULB_KEY_DENSE_LAYERS, &model->dense_layers, &leading, err);
    if (status == ULB_OK)
        status = ulb_config_count(&r->config, ULB_KEY_SPARSE_STEP, &step, &found, err);
    if (status == ULB_OK)
        status = ulb_config_count(&r->config, ULB_KEY_MOE_FREQUENCY, &frequency, &found, err);
    if (status == ULB_OK)
        status = ulb_config_value(r->config.model, ULB_KEY_DENSE_LIST, &list, NULL, err);
    if (status != ULB_OK)
        return status;
    if (model->mla_kv_rank > 0 && !leading)
        return missing(ULB_KEY_DENSE_LAYERS, err);
    if (step == 0 || frequency != 1)
        return ulb_fail(err, ULB_BAD_INPUT,
                        "experts in every so-manieth layer (decoder_sparse_step %u, "
                        "moe_layer_freq %u): which is not known",
                        step, frequency);
    if (list && json_array_size(list) > 0 && (step > 1 || leading))
        return ulb_fail(err, ULB_BAD_INPUT,
                        "mlp_only_layers beside another rule: which layers are dense is not "
                        "known");
    if (step > 1)
        model->dense_layers = model->layers - model->layers / step;
    else if (!leading)
        model->dense_layers = (unsigned)json_array_size(list);
    if (model->dense_layers > 0 && !leading)
        ulb_model_note(model, "%u layers are dense, not all in front", model->dense_layers);
    return ULB_OK;
}

static enum ulb_status read_shared_experts(struct reader *r, struct ulb_error *err)
{
    struct ulb_model *model = r->model;
    bool found, said;
    unsigned shared = 0;
    enum ulb_status status =
        ulb_config_count(&r->config, ULB_KEY_SHARED_INTERMEDIATE, &model->shared_intermediate, &found, err);
    if (status == ULB_OK)
        status = ulb_config_count(&r->config, ULB_KEY_EXPERTS_SHARED, &shared, &said, err);
    if (status != ULB_OK || found || !said)
        return status;
    if ((double)shared * model->expert_intermediate > ULB_SIZE_MAX)
        return ulb_fail(err, ULB_BAD_INPUT, "%u shared experts of %u cannot be", shared,
                        model->expert_intermediate);
    model->shared_intermediate = shared * model->expert_intermediate;
    return ULB_OK;
}

static enum ulb_status read_experts(struct reader *r, struct ulb_error *err)
{
    struct ulb_model *model = r->model;
    bool found;
    enum ulb_status status = ulb_config_count(&r->config, ULB_KEY_EXPERTS, &model->experts, &found, err);
    if (status != ULB_OK || model->experts == 0)
        return status;
    status = take(r, ULB_KEY_EXPERTS_ACTIVE, 0, &model->experts_active, err);
    if (status == ULB_OK)
        status = ulb_config_count(&r->config, ULB_KEY_EXPERT_INTERMEDIATE, &model->expert_intermediate,
                                  &found, err);
    if (status == ULB_OK && !found && r->family->experts_own_size)
        return missing(ULB_KEY_EXPERT_INTERMEDIATE, err);
    if (!found)
        model->expert_intermediate = model->intermediate;
    if (status == ULB_OK)
        status = read_shared_experts(r, err);
    return status == ULB_OK ? read_dense_layers(r, err) : status;
}

/* --- the rest --- */

static enum ulb_status read_tied(struct reader *r, struct ulb_error *err)
{
    bool found, shared = false, said;
    const struct ulb_config *config = &r->config;
    enum ulb_status status = ulb_config_bool(config->model, ULB_KEY_TIED, &r->model->tied_head, &found, err);
    if (status == ULB_OK && !found && config->around)
        status = ulb_config_bool(config->around, ULB_KEY_TIED, &r->model->tied_head, &found, err);
    if (status == ULB_OK)
        status = ulb_config_bool(config->model, ULB_KEY_SHARED_EMBEDDING, &shared, &said, err);
    if (status != ULB_OK)
        return status;
    if (shared) {
        r->model->tied_head = true;
    } else if (!found) {
        if (r->family->tied == ULB_TIED_SAID)
            return missing(ULB_KEY_TIED, err);
        r->model->tied_head = r->family->tied == ULB_TIED_YES;
        ulb_model_note(r->model, "tie_word_embeddings = %s, its class's default",
                       r->model->tied_head ? "true" : "false");
    }
    return ULB_OK;
}

static enum ulb_status read_function(struct reader *r, struct ulb_error *err)
{
    static const struct {
        const char *name;
        enum ulb_ffn_function function;
    } functions[] = {
        {"silu", ULB_FFN_SILU},          {"swish", ULB_FFN_SILU},
        {"swiglu", ULB_FFN_SILU},        {"gelu", ULB_FFN_GELU},
        {"gelu_new", ULB_FFN_GELU},      {"gelu_fast", ULB_FFN_GELU},
        {"quick_gelu", ULB_FFN_GELU},    {"gelu_pytorch_tanh", ULB_FFN_GELU},
        {"relu", ULB_FFN_RELU},          {"relu2", ULB_FFN_RELU2},
        {"relu_squared", ULB_FFN_RELU2},
    };
    /* Gemma's hidden_act is a relic that hidden_activation overrides. */
    const json_t *value = json_object_get(r->config.model, "hidden_activation");
    enum ulb_status status = ULB_OK;
    if (!json_is_string(value))
        status = ulb_config_value(r->config.model, ULB_KEY_FUNCTION, &value, NULL, err);
    if (status != ULB_OK || !value)
        return status;
    for (size_t i = 0; json_is_string(value) && i < sizeof functions / sizeof *functions; i++) {
        if (strcasecmp(functions[i].name, json_string_value(value)) == 0) {
            r->model->function = functions[i].function;
            return ULB_OK;
        }
    }
    return ulb_fail(err, ULB_BAD_INPUT, "the activation function \"%.40s\" is not known",
                    json_is_string(value) ? json_string_value(value) : "?");
}

/* The BitNet of 1bitLLM calls itself a Llama; its class tells. */
static void read_architecture(struct reader *r)
{
    const json_t *list = json_object_get(r->config.model, "architectures");
    const char *name = json_string_value(json_array_get(list, 0));
    if (name && strcasecmp(name, "BitnetForCausalLM") == 0)
        r->model->sub_norms = true;
}

static enum ulb_status read_block(struct reader *r, struct ulb_error *err)
{
    bool found, sharing = false;
    enum ulb_status status = ulb_config_bool(r->config.model, ULB_KEY_LAYER_SHARING, &sharing, &found, err);
    if (status == ULB_OK && sharing)
        return ulb_fail(err, ULB_BAD_INPUT, "layer_sharing: blocks that run twice are not supported");
    if (status == ULB_OK)
        status = ulb_config_bool(r->config.model, ULB_KEY_PARALLEL, &r->model->parallel_block, &found, err);
    if (status == ULB_OK)
        status = read_tied(r, err);
    if (status == ULB_OK)
        status = read_function(r, err);
    read_architecture(r);
    return status;
}

enum ulb_status ulb_config_parse(const char *text, size_t bytes, struct ulb_model *model,
                                 struct ulb_error *err)
{
    struct reader r = {.model = model};
    enum ulb_status status = ulb_config_open(&r.config, text, bytes, err);
    if (status == ULB_OK)
        status = find_family(&r, err);
    if (status == ULB_OK)
        status = read_sizes(&r, err);
    if (status == ULB_OK)
        status = read_attention(&r, err);
    if (status == ULB_OK)
        status = read_experts(&r, err);
    if (status == ULB_OK)
        status = read_block(&r, err);
    ulb_config_close(&r.config);
    return status;
}
