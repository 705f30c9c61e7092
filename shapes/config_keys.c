#include "shapes/config_keys.h"

#include "common/json.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SPELLINGS = 8 };

/* The first is the usual one. */
static const char *const names[ULB_KEYS][SPELLINGS] = {
    [ULB_KEY_HIDDEN] = {"hidden_size", "n_embd", "n_embed", "d_model", "dim"},
    [ULB_KEY_INTERMEDIATE] = {"intermediate_size", "n_inner", "ffn_dim", "hidden_dim", "inter_dim",
                              "ffn_hidden_size", "d_ff", "block_ff_dim"},
    [ULB_KEY_LAYERS] = {"num_hidden_layers", "n_layer", "n_layers", "num_layers"},
    [ULB_KEY_HEADS] = {"num_attention_heads", "n_head", "n_heads", "num_heads"},
    [ULB_KEY_KV_HEADS] = {"num_key_value_heads", "n_kv_heads", "num_kv_heads", "n_head_kv", "kv_n_heads",
                          "multi_query_group_num"},
    [ULB_KEY_HEAD_DIM] = {"head_dim", "attention_head_dim", "kv_channels", "dims_per_head"},
    [ULB_KEY_VOCAB] = {"vocab_size", "n_vocab", "padded_vocab_size"},
    [ULB_KEY_EXPERTS] = {"num_local_experts", "num_experts", "n_routed_experts", "moe_num_experts"},
    [ULB_KEY_EXPERTS_ACTIVE] = {"num_experts_per_tok", "num_experts_per_token", "n_activated_experts",
                                "experts_per_token", "moe_top_k", "moe_topk", "moe_k", "top_k_experts"},
    [ULB_KEY_EXPERTS_SHARED] = {"n_shared_experts", "num_shared_experts", "moe_num_shared_experts"},
    [ULB_KEY_EXPERT_INTERMEDIATE] = {"moe_intermediate_size", "moe_inter_dim", "expert_intermediate_size"},
    [ULB_KEY_SHARED_INTERMEDIATE] = {"shared_expert_intermediate_size",
                                     "moe_shared_expert_intermediate_size"},
    [ULB_KEY_DENSE_LAYERS] = {"first_k_dense_replace", "n_dense_layers", "num_dense_layers",
                              "moe_layer_start_index"},
    [ULB_KEY_SPARSE_STEP] = {"decoder_sparse_step", "interleave_moe_layer_step", "moe_layer_interval"},
    [ULB_KEY_MOE_FREQUENCY] = {"moe_layer_freq"},
    [ULB_KEY_DENSE_LIST] = {"mlp_only_layers"},
    [ULB_KEY_KV_RANK] = {"kv_lora_rank"},
    [ULB_KEY_Q_RANK] = {"q_lora_rank"},
    [ULB_KEY_NOPE_DIM] = {"qk_nope_head_dim"},
    [ULB_KEY_ROPE_DIM] = {"qk_rope_head_dim"},
    [ULB_KEY_V_DIM] = {"v_head_dim"},
    [ULB_KEY_ROPE_BASE] = {"rope_theta", "rotary_emb_base", "rope_base"},
    [ULB_KEY_ROPE_PARAMETERS] = {"rope_parameters"},
    [ULB_KEY_ROTARY_DIMS] = {"rotary_dim"},
    [ULB_KEY_ROTARY_SHARE] = {"partial_rotary_factor", "rotary_pct", "rope_pct"},
    [ULB_KEY_EXPANSION] = {"expansion_ratio", "ff_factor"},
    [ULB_KEY_MULTIPLE] = {"multiple_of"},
    [ULB_KEY_FFN_FACTOR] = {"ffn_dim_multiplier"},
    [ULB_KEY_PROJECTION] = {"word_embed_proj_dim"},
    [ULB_KEY_TIED] = {"tie_word_embeddings", "tie_embeddings", "tied_embeddings", "tie_embedding",
                      "enable_weight_tying"},
    [ULB_KEY_SHARED_EMBEDDING] = {"share_embedding"},
    [ULB_KEY_LAYER_SHARING] = {"layer_sharing"},
    [ULB_KEY_MULTI_QUERY] = {"multi_query"},
    [ULB_KEY_NEW_DECODER] = {"new_decoder_architecture"},
    [ULB_KEY_PARALLEL] = {"use_parallel_residual", "parallel_attn"},
    [ULB_KEY_FUNCTION] = {"hidden_activation", "hidden_act", "activation_function", "mlp_hidden_act"},
    [ULB_KEY_TYPE] = {"model_type"},
    [ULB_KEY_ARCHITECTURES] = {"architectures"},
    [ULB_KEY_NESTED] = {"text_config", "llm_config", "language_config"},
    [ULB_KEY_SCALED_ROPE] = {"use_scaled_rope"},
    [ULB_KEY_QK_DIM] = {"qk_head_dim"},
    [ULB_KEY_QK_NORM] = {"use_qk_norm", "qk_norm"},
    [ULB_KEY_ATTENTION_TYPE] = {"attn_type"},
    [ULB_KEY_INDEX_HEADS] = {"index_n_heads"},
    [ULB_KEY_INDEX_DIM] = {"index_head_dim"},
    [ULB_KEY_INDEX_TOPK] = {"index_topk"},
    [ULB_KEY_WINDOW] = {"sliding_window"},
    [ULB_KEY_USE_WINDOW] = {"use_sliding_window"},
    [ULB_KEY_WINDOW_PATTERN] = {"sliding_window_pattern", "_sliding_window_pattern", "layer_switch"},
    [ULB_KEY_WINDOW_LAYERS] = {"max_window_layers"},
    [ULB_KEY_CHUNK] = {"attention_chunk_size"},
    [ULB_KEY_LAYER_TYPES] = {"layer_types"},
    [ULB_KEY_FULL_INTERVAL] = {"full_attention_interval"},
    [ULB_KEY_FULL_LAYERS] = {"full_attn_idxs"},
    [ULB_KEY_HYBRID_PATTERN] = {"hybrid_override_pattern", "layers_block_type"},
    [ULB_KEY_MOE_ENABLED] = {"moe_enabled"},
    [ULB_KEY_MOE_LAYERS] = {"moe_layers"},
    [ULB_KEY_MLP_TYPES] = {"mlp_layer_types"},
    [ULB_KEY_MOE_LAST] = {"moe_layer_end_index"},
    [ULB_KEY_MLP_SIZE] = {"intermediate_size_mlp"},
    [ULB_KEY_SHARED_ABSOLUTE] = {"shared_intermediate_size"},
    [ULB_KEY_MTP] = {"num_nextn_predict_layers", "mtp_num_hidden_layers", "num_mtp_modules",
                     "num_mtp_layers"},
    [ULB_KEY_ADJUST_FFN] = {"block_auto_adjust_ff_dim"},
    [ULB_KEY_FFN_MULTIPLE] = {"block_multiple_of"},
    [ULB_KEY_FFN_SCALE] = {"block_ffn_dim_multiplier"},
    [ULB_KEY_SSM_INNER] = {"mamba_d_ssm"},
    [ULB_KEY_SSM_HEADS] = {"mamba_n_heads", "mamba_num_heads"},
    [ULB_KEY_SSM_HEAD_DIM] = {"mamba_d_head", "mamba_head_dim"},
    [ULB_KEY_SSM_STATE] = {"mamba_d_state", "ssm_state_size", "state_size"},
    [ULB_KEY_SSM_GROUPS] = {"mamba_n_groups", "n_groups"},
    [ULB_KEY_SSM_RANK] = {"time_step_rank"},
    [ULB_KEY_SSM_EXPAND] = {"mamba_expand", "expand"},
    [ULB_KEY_CONV] = {"mamba_d_conv", "conv_kernel", "linear_conv_kernel_dim", "conv_L_cache"},
    [ULB_KEY_CONV_DIM] = {"conv_dim", "conv_dim_out", "block_dim"},
    [ULB_KEY_DELTA_K_HEADS] = {"linear_num_key_heads"},
    [ULB_KEY_DELTA_V_HEADS] = {"linear_num_value_heads"},
    [ULB_KEY_DELTA_K_DIM] = {"linear_key_head_dim"},
    [ULB_KEY_DELTA_V_DIM] = {"linear_value_head_dim"},
    [ULB_KEY_QUERY_GATE] = {"attn_output_gate"},
    [ULB_KEY_ALTUP] = {"altup_num_inputs"},
    [ULB_KEY_LAUREL] = {"laurel_rank"},
    [ULB_KEY_PER_LAYER_DIM] = {"hidden_size_per_layer_input"},
    [ULB_KEY_PER_LAYER_VOCAB] = {"vocab_size_per_layer_input"},
    [ULB_KEY_SHARED_CACHE] = {"num_kv_shared_layers"},
};

const char *ulb_config_name(enum ulb_config_key key)
{
    return names[key][0];
}

/* --- keys that stand there twice --- */

/* What was seen of the objects that the scanner is inside of; what lies deeper holds nothing that is read. */
enum { LEVELS = 3 };
struct seen {
    bool keys[LEVELS][ULB_KEYS][SPELLINGS];
    size_t depth;
};

/* Key and spelling of a name; false for one that is never read. */
static bool find_name(const char *name, size_t length, size_t *key, size_t *spelling)
{
    for (size_t k = 0; k < ULB_KEYS; k++) {
        for (size_t s = 0; s < SPELLINGS && names[k][s]; s++) {
            if (strlen(names[k][s]) != length || memcmp(names[k][s], name, length) != 0)
                continue;
            *key = k;
            *spelling = s;
            return true;
        }
    }
    return false;
}

enum ulb_config_key ulb_config_key_of(const char *spelling, size_t length)
{
    size_t key, unused;
    return find_name(spelling, length, &key, &unused) ? (enum ulb_config_key)key : ULB_KEYS;
}

/* Notes a key that ends before end; false when it is read and was there before. */
static bool note_key(struct seen *seen, const char *name, const char *end)
{
    size_t key, spelling, length = (size_t)(end - name);
    if (!find_name(name, length, &key, &spelling))
        return !memchr(name, '\\', length); /* an escape may hide any name */
    bool *flag = &seen->keys[seen->depth - 1][key][spelling], before = *flag;
    *flag = true;
    return !before;
}

/* The end of the string that begins behind its quotation mark. The text is known to be JSON. */
static const char *string_end(const char *at, const char *end)
{
    while (at < end && *at != '"')
        at += *at == '\\' ? 2 : 1;
    return at;
}

static enum ulb_status refuse_repeated(const char *text, size_t bytes, struct ulb_error *err)
{
    struct seen seen = {.depth = 0};
    const char *end = text + bytes;
    for (const char *at = text; at < end; at++) {
        if (*at == '{' && ++seen.depth <= LEVELS) {
            memset(seen.keys[seen.depth - 1], 0, sizeof seen.keys[0]);
        } else if (*at == '}') {
            seen.depth--;
        } else if (*at == '"') {
            const char *key = at + 1;
            at = string_end(key, end);
            const char *next = at + 1;
            while (next < end && strchr(" \t\r\n", *next))
                next++;
            bool is_key = next < end && *next == ':' && seen.depth >= 1 && seen.depth <= LEVELS;
            if (is_key && !note_key(&seen, key, at))
                return ulb_fail(err, ULB_BAD_INPUT, "the key \"%.*s\" stands there twice; leave one",
                                (int)(at - key > 60 ? 60 : at - key), key);
        }
    }
    return ULB_OK;
}

/* --- opening --- */

/* Objects that hold keys of the model's level. "moe_args" counts where "moe_enabled" says so. */
static enum ulb_status find_parts(struct ulb_config *config, struct ulb_error *err)
{
    static const char *const parts[] = {"moe", "moe_args", "attn_config"};
    bool enabled = true, found;
    enum ulb_status status = ulb_config_bool_of(config->model, ULB_KEY_MOE_ENABLED, &enabled, &found, err);
    config->read[ULB_KEY_MOE_ENABLED] = true;
    config->read[ULB_KEY_EXPERT_INTERMEDIATE] = found && !enabled; /* a size of nothing */
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        const json_t *object = json_object_get(config->model, parts[i]);
        if (!json_is_object(object))
            continue;
        if (!enabled && strcmp(parts[i], "moe_args") == 0) {
            config->off = parts[i];
            continue;
        }
        config->part_names[config->n_parts] = parts[i];
        config->parts[config->n_parts++] = object;
    }
    return status;
}

static enum ulb_status find_model(struct ulb_config *config, struct ulb_error *err)
{
    config->model = config->root;
    const char *spelling;
    const json_t *nested;
    if (!json_is_object(config->root))
        return ulb_fail(err, ULB_BAD_INPUT, "holds no object; a config.json begins with {");
    enum ulb_status status = ulb_config_value_of(config->root, ULB_KEY_NESTED, &nested, &spelling, err);
    if (status == ULB_OK && nested && !json_is_object(nested))
        return ulb_fail(err, ULB_BAD_INPUT, "%s is no object", spelling);
    if (nested) {
        config->model = nested;
        config->around = config->root;
    }
    return status == ULB_OK ? find_parts(config, err) : status;
}

enum ulb_status ulb_config_open(struct ulb_config *config, const char *text, size_t bytes,
                                struct ulb_error *err)
{
    *config = (struct ulb_config){.root = NULL};
    char *copy = malloc(bytes + 1);
    bool repeated;
    if (!copy)
        return ulb_fail(err, ULB_ENVIRONMENT, "not enough memory to read it");
    memcpy(copy, text, bytes);
    enum ulb_status status =
        ulb_json_parse(copy, bytes, JSON_REJECT_DUPLICATES, &config->root, &repeated, err);
    if (status != ULB_OK && repeated) {
        status = ulb_json_parse(copy, bytes, 0, &config->root, &repeated, err);
        if (status == ULB_OK)
            status = refuse_repeated(copy, bytes, err);
    }
    free(copy);
    return status == ULB_OK ? find_model(config, err) : status;
}

void ulb_config_close(struct ulb_config *config)
{
    json_decref(config->root);
    config->root = NULL;
}

/* --- values --- */

static enum ulb_status refuse(const char *key, const json_t *value, const char *wanted, struct ulb_error *err)
{
    char *text = json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT | JSON_REAL_PRECISION(9));
    bool none = text && strcmp(text, ULB_JSON_NOT_FINITE) == 0;
    ulb_fail(err, ULB_BAD_INPUT, "%s is %.40s; it must be %s", key,
             none ? "NaN or Infinity" : (text ? text : "wrong"), wanted);
    free(text);
    return ULB_BAD_INPUT;
}

enum ulb_status ulb_config_value_of(const json_t *object, enum ulb_config_key key, const json_t **value,
                                    const char **spelling, struct ulb_error *err)
{
    const char *first = NULL;
    *value = NULL;
    for (size_t s = 0; s < SPELLINGS && names[key][s]; s++) {
        const json_t *found = json_object_get(object, names[key][s]);
        if (!found || json_is_null(found))
            continue;
        if (*value && !json_equal(*value, found))
            return ulb_fail(err, ULB_BAD_INPUT, "%s and %s disagree; leave one", first, names[key][s]);
        *value = found;
        first = first ? first : names[key][s];
    }
    if (spelling)
        *spelling = first;
    return ULB_OK;
}

enum ulb_status ulb_config_value(struct ulb_config *config, enum ulb_config_key key, const json_t **value,
                                 const char **spelling, struct ulb_error *err)
{
    const char *first;
    config->read[key] = true;
    enum ulb_status status = ulb_config_value_of(config->model, key, value, &first, err);
    for (unsigned i = 0; i < config->n_parts && status == ULB_OK; i++) {
        const json_t *inside;
        const char *name;
        status = ulb_config_value_of(config->parts[i], key, &inside, &name, err);
        if (status == ULB_OK && inside && *value && !json_equal(*value, inside))
            return ulb_fail(err, ULB_BAD_INPUT, "%s and %s in %s disagree; leave one", first, name,
                            config->part_names[i]);
        first = inside ? name : first;
        *value = inside ? inside : *value;
    }
    if (spelling)
        *spelling = first;
    return status;
}

/* A whole number, or a list of one and the same. */
static enum ulb_status count_of(const char *key, const json_t *value, unsigned *out, struct ulb_error *err)
{
    size_t i;
    const json_t *item, *first = json_is_array(value) ? json_array_get(value, 0) : value;
    json_array_foreach((json_t *)value, i, item)
    {
        if (!json_equal(item, first))
            return ulb_fail(err, ULB_BAD_INPUT,
                            "%s differs between layers, of which a config.json does not say enough; give the "
                            "GGUF or safetensors file",
                            key);
    }
    double number = json_number_value(first);
    if (!json_is_number(first) || !(number >= 0 && number <= INT32_MAX) || number != floor(number))
        return refuse(key, first ? first : value, "a whole number from 0 to 2147483647", err);
    *out = (unsigned)number;
    return ULB_OK;
}

static enum ulb_status real_of(const char *key, const json_t *value, double min, double max, double *out,
                               struct ulb_error *err)
{
    char wanted[64];
    double number = json_number_value(value);
    if (!json_is_number(value) || !(number >= min && number <= max)) {
        snprintf(wanted, sizeof wanted, "a number from %g to %g", min, max);
        return refuse(key, value, wanted, err);
    }
    *out = number;
    return ULB_OK;
}

static enum ulb_status bool_of(const char *key, const json_t *value, bool *out, struct ulb_error *err)
{
    if (!json_is_boolean(value))
        return refuse(key, value, "true or false", err);
    *out = json_is_true(value);
    return ULB_OK;
}

enum ulb_status ulb_config_count(struct ulb_config *config, enum ulb_config_key key, unsigned *out,
                                 bool *found, struct ulb_error *err)
{
    const json_t *value;
    const char *spelling;
    enum ulb_status status = ulb_config_value(config, key, &value, &spelling, err);
    *found = status == ULB_OK && value;
    return *found ? count_of(spelling, value, out, err) : status;
}

enum ulb_status ulb_config_count_of(const json_t *object, enum ulb_config_key key, unsigned *out, bool *found,
                                    struct ulb_error *err)
{
    const json_t *value;
    const char *spelling;
    enum ulb_status status = ulb_config_value_of(object, key, &value, &spelling, err);
    *found = status == ULB_OK && value;
    return *found ? count_of(spelling, value, out, err) : status;
}

enum ulb_status ulb_config_real(struct ulb_config *config, enum ulb_config_key key, double min, double max,
                                double *out, struct ulb_error *err)
{
    const json_t *value;
    const char *spelling;
    enum ulb_status status = ulb_config_value(config, key, &value, &spelling, err);
    return status == ULB_OK && value ? real_of(spelling, value, min, max, out, err) : status;
}

enum ulb_status ulb_config_real_of(const json_t *object, enum ulb_config_key key, double min, double max,
                                   double *out, struct ulb_error *err)
{
    const json_t *value;
    const char *spelling;
    enum ulb_status status = ulb_config_value_of(object, key, &value, &spelling, err);
    return status == ULB_OK && value ? real_of(spelling, value, min, max, out, err) : status;
}

enum ulb_status ulb_config_bool(struct ulb_config *config, enum ulb_config_key key, bool *out, bool *found,
                                struct ulb_error *err)
{
    const json_t *value;
    const char *spelling;
    enum ulb_status status = ulb_config_value(config, key, &value, &spelling, err);
    *found = status == ULB_OK && value;
    return *found ? bool_of(spelling, value, out, err) : status;
}

enum ulb_status ulb_config_bool_of(const json_t *object, enum ulb_config_key key, bool *out, bool *found,
                                   struct ulb_error *err)
{
    const json_t *value;
    const char *spelling;
    enum ulb_status status = ulb_config_value_of(object, key, &value, &spelling, err);
    *found = status == ULB_OK && value;
    return *found ? bool_of(spelling, value, out, err) : status;
}

enum ulb_status ulb_config_list(struct ulb_config *config, enum ulb_config_key key, const json_t **list,
                                bool *found, struct ulb_error *err)
{
    const char *spelling;
    enum ulb_status status = ulb_config_value(config, key, list, &spelling, err);
    *found = status == ULB_OK && *list;
    return *found && !json_is_array(*list) ? refuse(spelling, *list, "a list", err) : status;
}
