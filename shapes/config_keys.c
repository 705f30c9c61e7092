#include "shapes/config_keys.h"

#include "common/json.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { SPELLINGS = 7 };

/* The first is the usual one. */
static const char *const names[ULB_KEYS][SPELLINGS] = {
    [ULB_KEY_HIDDEN] = {"hidden_size", "n_embd", "n_embed", "d_model", "dim"},
    [ULB_KEY_INTERMEDIATE] = {"intermediate_size", "n_inner", "ffn_dim", "hidden_dim", "inter_dim",
                              "ffn_hidden_size", "d_ff"},
    [ULB_KEY_LAYERS] = {"num_hidden_layers", "n_layer", "n_layers", "num_layers"},
    [ULB_KEY_HEADS] = {"num_attention_heads", "n_head", "n_heads", "num_heads"},
    [ULB_KEY_KV_HEADS] = {"num_key_value_heads", "n_kv_heads", "num_kv_heads", "n_head_kv"},
    [ULB_KEY_HEAD_DIM] = {"head_dim", "attention_head_dim", "kv_channels"},
    [ULB_KEY_VOCAB] = {"vocab_size", "n_vocab", "padded_vocab_size"},
    [ULB_KEY_EXPERTS] = {"num_local_experts", "num_experts", "n_routed_experts", "moe_num_experts"},
    [ULB_KEY_EXPERTS_ACTIVE] = {"num_experts_per_tok", "num_experts_per_token", "n_activated_experts",
                                "experts_per_token", "moe_top_k", "moe_topk"},
    [ULB_KEY_EXPERTS_SHARED] = {"n_shared_experts", "num_shared_experts"},
    [ULB_KEY_EXPERT_INTERMEDIATE] = {"moe_intermediate_size", "moe_inter_dim", "expert_intermediate_size"},
    [ULB_KEY_SHARED_INTERMEDIATE] = {"shared_expert_intermediate_size"},
    [ULB_KEY_DENSE_LAYERS] = {"first_k_dense_replace", "n_dense_layers"},
    [ULB_KEY_SPARSE_STEP] = {"decoder_sparse_step"},
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
    [ULB_KEY_EXPANSION] = {"expansion_ratio"},
    [ULB_KEY_MULTIPLE] = {"multiple_of"},
    [ULB_KEY_FFN_FACTOR] = {"ffn_dim_multiplier"},
    [ULB_KEY_PROJECTION] = {"word_embed_proj_dim"},
    [ULB_KEY_TIED] = {"tie_word_embeddings", "tie_embeddings"},
    [ULB_KEY_SHARED_EMBEDDING] = {"share_embedding"},
    [ULB_KEY_LAYER_SHARING] = {"layer_sharing"},
    [ULB_KEY_MULTI_QUERY] = {"multi_query"},
    [ULB_KEY_NEW_DECODER] = {"new_decoder_architecture"},
    [ULB_KEY_PARALLEL] = {"use_parallel_residual", "parallel_attn"},
    [ULB_KEY_FUNCTION] = {"hidden_activation", "hidden_act", "activation_function", "mlp_hidden_act"},
    [ULB_KEY_TYPE] = {"model_type"},
    [ULB_KEY_ARCHITECTURES] = {"architectures"},
    [ULB_KEY_NESTED] = {"text_config", "llm_config", "language_config"},
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

/* Notes a key that ends before end; false when it is read and was there before. */
static bool note_key(struct seen *seen, const char *key, const char *end)
{
    size_t length = (size_t)(end - key);
    for (size_t k = 0; k < ULB_KEYS; k++) {
        for (size_t s = 0; s < SPELLINGS && names[k][s]; s++) {
            if (strlen(names[k][s]) != length || memcmp(names[k][s], key, length) != 0)
                continue;
            bool *flag = &seen->keys[seen->depth - 1][k][s], before = *flag;
            *flag = true;
            return !before;
        }
    }
    return !memchr(key, '\\', length); /* an escape may hide any name */
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

static enum ulb_status find_model(struct ulb_config *config, struct ulb_error *err)
{
    config->model = config->root;
    const char *spelling;
    const json_t *nested;
    if (!json_is_object(config->root))
        return ulb_fail(err, ULB_BAD_INPUT, "holds no object; a config.json begins with {");
    enum ulb_status status = ulb_config_value(config->root, ULB_KEY_NESTED, &nested, &spelling, err);
    if (status != ULB_OK || !nested)
        return status;
    if (!json_is_object(nested))
        return ulb_fail(err, ULB_BAD_INPUT, "%s is no object", spelling);
    config->model = nested;
    config->around = config->root;
    return ULB_OK;
}

enum ulb_status ulb_config_open(struct ulb_config *config, const char *text, size_t bytes,
                                struct ulb_error *err)
{
    json_error_t why;
    *config = (struct ulb_config){json_loadb(text, bytes, JSON_REJECT_DUPLICATES, &why), NULL, NULL};
    if (!config->root && json_error_code(&why) == json_error_duplicate_key) {
        config->root = json_loadb(text, bytes, 0, &why);
        if (config->root && refuse_repeated(text, bytes, err) != ULB_OK)
            return ULB_BAD_INPUT;
    }
    if (!config->root && ulb_json_lacks_memory(&why))
        return ulb_fail(err, ULB_ENVIRONMENT, "not enough memory to read it");
    if (!config->root)
        return ulb_fail(err, ULB_BAD_INPUT, "line %d: %.150s; not the JSON of a config.json", why.line,
                        why.text);
    if (!ulb_json_printable(config->root))
        return ulb_fail(err, ULB_ENVIRONMENT, "not enough memory to read it");
    return find_model(config, err);
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
    ulb_fail(err, ULB_BAD_INPUT, "%s is %.40s; it must be %s", key, text ? text : "wrong", wanted);
    free(text);
    return ULB_BAD_INPUT;
}

enum ulb_status ulb_config_value(const json_t *object, enum ulb_config_key key, const json_t **value,
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
                            "GGUF file",
                            key);
    }
    double number = json_number_value(first);
    if (!json_is_number(first) || !(number >= 0 && number <= INT32_MAX) || number != floor(number))
        return refuse(key, first ? first : value, "a whole number from 0 to 2147483647", err);
    *out = (unsigned)number;
    return ULB_OK;
}

enum ulb_status ulb_config_count(const struct ulb_config *config, enum ulb_config_key key, unsigned *out,
                                 bool *found, struct ulb_error *err)
{
    const json_t *value, *outside = NULL;
    const char *spelling, *outer;
    unsigned around;
    enum ulb_status status = ulb_config_value(config->model, key, &value, &spelling, err);
    *found = status == ULB_OK && value;
    if (*found)
        status = count_of(spelling, value, out, err);
    if (status == ULB_OK && *found && config->around && key != ULB_KEY_VOCAB)
        status = ulb_config_value(config->around, key, &outside, &outer, err);
    if (status != ULB_OK || !outside)
        return status;
    status = count_of(outer, outside, &around, err);
    if (status == ULB_OK && around != *out)
        return ulb_fail(err, ULB_BAD_INPUT, "%s is %u in the text model's configuration and %u around it",
                        spelling, *out, around);
    return status;
}

enum ulb_status ulb_config_real(const json_t *object, enum ulb_config_key key, double min, double max,
                                double *out, struct ulb_error *err)
{
    const json_t *value;
    const char *spelling;
    char wanted[64];
    enum ulb_status status = ulb_config_value(object, key, &value, &spelling, err);
    if (status != ULB_OK || !value)
        return status;
    double number = json_number_value(value);
    if (!json_is_number(value) || !(number >= min && number <= max)) {
        snprintf(wanted, sizeof wanted, "a number from %g to %g", min, max);
        return refuse(spelling, value, wanted, err);
    }
    *out = number;
    return ULB_OK;
}

enum ulb_status ulb_config_bool(const json_t *object, enum ulb_config_key key, bool *out, bool *found,
                                struct ulb_error *err)
{
    const json_t *value;
    const char *spelling;
    enum ulb_status status = ulb_config_value(object, key, &value, &spelling, err);
    *found = status == ULB_OK && value;
    if (!*found)
        return status;
    if (!json_is_boolean(value))
        return refuse(spelling, value, "true or false", err);
    *out = json_is_true(value);
    return ULB_OK;
}
