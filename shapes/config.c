/* A config.json: from its keys to a model's numbers. What is left out is derived as the model's own code does
 * and noted, or refused. */
#include "shapes/config_reader.h"
#include "shapes/load.h"
#include "shapes/shapes.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

enum ulb_status ulb_config_missing(enum ulb_config_key key, struct ulb_error *err)
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

/* Keys that every file of the family has: without them the numbers that follow would be those of another. */
static enum ulb_status check_needs(struct ulb_config_reader *r, const char *type, struct ulb_error *err)
{
    for (const char *at = r->family->needs; at && *at; at += strspn(at, " ")) {
        char key[64];
        size_t length = strcspn(at, " ");
        snprintf(key, sizeof key, "%.*s", (int)length, at);
        const json_t *value = json_object_get(r->config.model, key);
        if (!value || json_is_null(value))
            return ulb_fail(
                err, ULB_BAD_INPUT,
                "%s is missing, which every config.json of model_type \"%.40s\" has; give the whole "
                "file",
                key, type);
        at += length;
    }
    return ULB_OK;
}

static enum ulb_status find_family(struct ulb_config_reader *r, struct ulb_error *err)
{
    const json_t *type = NULL;
    struct ulb_config *config = &r->config;
    enum ulb_status status = ulb_config_value(config, ULB_KEY_TYPE, &type, NULL, err);
    if (status == ULB_OK && !type && config->around)
        status = ulb_config_value_of(config->around, ULB_KEY_TYPE, &type, NULL, err);
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
        return ulb_fail(err, ULB_BAD_INPUT,
                        "model_type \"%.40s\" is not known; give the model's GGUF or safetensors file, whose "
                        "tensors show its layers",
                        word);
    r->reference = !type;
    ulb_family_apply(r->family, r->model);
    if (!type)
        ulb_model_note(r->model, "model_type %s by the spelling", word);
    return check_needs(r, word, err);
}

/* --- sizes --- */

enum ulb_status ulb_config_take(struct ulb_config_reader *r, enum ulb_config_key key, unsigned by_default,
                                unsigned *out, struct ulb_error *err)
{
    bool found;
    enum ulb_status status = ulb_config_count(&r->config, key, out, &found, err);
    if (status == ULB_OK && !found && key == ULB_KEY_VOCAB && r->config.around) {
        status = ulb_config_count_of(r->config.around, key, out, &found, err);
    }
    if (status != ULB_OK || found)
        return status;
    if (!r->config.around || by_default == 0)
        return ulb_config_missing(key, err);
    *out = by_default;
    ulb_model_note(r->model, "%s = %u, its class's default", ulb_config_name(key), by_default);
    return ULB_OK;
}

/* Llama's reference code: 2/3 of 4 x hidden, times a factor, rounded up. */
static enum ulb_status llama_intermediate(struct ulb_config_reader *r, unsigned multiple,
                                          struct ulb_error *err)
{
    double factor = 1;
    enum ulb_status status = ulb_config_real(&r->config, ULB_KEY_FFN_FACTOR, 0.01, 100, &factor, err);
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
static enum ulb_status derive_intermediate(struct ulb_config_reader *r, struct ulb_error *err)
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
        return ulb_config_take(r, ULB_KEY_INTERMEDIATE, r->family->defaults.intermediate,
                               &r->model->intermediate, err);
    if (factor > 1024 || r->model->hidden > ULB_SIZE_MAX)
        return ulb_fail(err, ULB_BAD_INPUT, "expansion_ratio %u cannot be", factor);
    r->model->intermediate = factor * r->model->hidden;
    ulb_model_note(r->model, "intermediate_size = %u x hidden_size", factor);
    return ULB_OK;
}

/* LFM2: 2/3 of the number, times a factor, rounded up. */
static enum ulb_status adjust_intermediate(struct ulb_config_reader *r, struct ulb_error *err)
{
    bool adjust = false, found;
    unsigned multiple = 1;
    double factor = 1;
    enum ulb_status status = ulb_config_bool(&r->config, ULB_KEY_ADJUST_FFN, &adjust, &found, err);
    if (status == ULB_OK)
        status = ulb_config_count(&r->config, ULB_KEY_FFN_MULTIPLE, &multiple, &found, err);
    if (status == ULB_OK)
        status = ulb_config_real(&r->config, ULB_KEY_FFN_SCALE, 0.01, 100, &factor, err);
    if (status != ULB_OK || !adjust)
        return status;
    double size = floor(factor * floor(2.0 * r->model->intermediate / 3));
    if (multiple == 0 || ceil(size / multiple) * multiple > UINT32_MAX)
        return ulb_fail(err, ULB_BAD_INPUT, "block_multiple_of %u cannot be", multiple);
    r->model->intermediate = (unsigned)(ceil(size / multiple) * multiple);
    ulb_model_note(r->model, "intermediate_size = %u by block_auto_adjust_ff_dim", r->model->intermediate);
    return ULB_OK;
}

static enum ulb_status read_sizes(struct ulb_config_reader *r, struct ulb_error *err)
{
    struct ulb_model *model = r->model;
    const struct ulb_family *family = r->family;
    bool found = false, said = false;
    unsigned projection = 0, experts = 0;
    enum ulb_status status = ulb_config_take(r, ULB_KEY_HIDDEN, family->defaults.hidden, &model->hidden, err);
    if (status == ULB_OK)
        status = ulb_config_take(r, ULB_KEY_LAYERS, family->defaults.layers, &model->layers, err);
    if (status == ULB_OK)
        status = ulb_config_take(r, ULB_KEY_VOCAB, family->defaults.vocab, &model->vocab, err);
    if (status == ULB_OK && model->vocab == 0)
        return ulb_fail(err, ULB_BAD_INPUT, "vocab_size is 0");
    if (status == ULB_OK)
        status = ulb_config_count(&r->config, ULB_KEY_INTERMEDIATE, &model->intermediate, &found, err);
    if (found) /* rules that would give the size do not matter */
        r->config.read[ULB_KEY_EXPANSION] = r->config.read[ULB_KEY_MULTIPLE] =
            r->config.read[ULB_KEY_FFN_FACTOR] = true;
    if (status == ULB_OK && !found && !r->family->attentionless)
        status = ulb_config_count(&r->config, ULB_KEY_EXPERTS, &experts, &said, err);
    bool needless =
        said && experts > 0 && r->family->experts_own_size; /* ulb_model_check() asks where it is not */
    if (status == ULB_OK && !found && !r->family->attentionless && !needless)
        status = derive_intermediate(r, err);
    if (status == ULB_OK && found && r->family->mixer == ULB_MIXER_CONV)
        status = adjust_intermediate(r, err);
    if (status == ULB_OK)
        status = ulb_config_count(&r->config, ULB_KEY_PROJECTION, &projection, &found, err);
    if (status == ULB_OK && found && projection != model->hidden)
        return ulb_fail(
            err, ULB_BAD_INPUT,
            "word_embed_proj_dim %u is not the hidden size %u: the matrices between are not known",
            projection, model->hidden);
    return status;
}

/* --- the rest --- */

/* params.json of Llama has no key for it. Llama 3.2's small models are tied, all others are not. */
static enum ulb_status tied_by_default(struct ulb_config_reader *r, struct ulb_error *err)
{
    struct ulb_model *model = r->model;
    bool scaled = false, found;
    enum ulb_status status = ulb_config_bool(&r->config, ULB_KEY_SCALED_ROPE, &scaled, &found, err);
    if (status != ULB_OK)
        return status;
    if (r->family->tied == ULB_TIED_SAID)
        return ulb_config_missing(ULB_KEY_TIED, err);
    model->tied_head = r->family->tied == ULB_TIED_YES;
    if (r->reference && scaled && model->hidden < 4096) {
        model->tied_head = true;
        ulb_model_note(model, "tied_embeddings = true, as in Llama 3.2 of %u", model->hidden);
    } else {
        ulb_model_note(model, "tie_word_embeddings = %s, its class's default",
                       model->tied_head ? "true" : "false");
    }
    return ULB_OK;
}

static enum ulb_status read_tied(struct ulb_config_reader *r, struct ulb_error *err)
{
    bool found, shared = false, said;
    struct ulb_config *config = &r->config;
    enum ulb_status status = ulb_config_bool(config, ULB_KEY_TIED, &r->model->tied_head, &found, err);
    if (status == ULB_OK && !found && config->around)
        status = ulb_config_bool_of(config->around, ULB_KEY_TIED, &r->model->tied_head, &found, err);
    if (status == ULB_OK)
        status = ulb_config_bool(config, ULB_KEY_SHARED_EMBEDDING, &shared, &said, err);
    if (status == ULB_OK && shared)
        r->model->tied_head = true;
    else if (status == ULB_OK && !found)
        status = tied_by_default(r, err);
    return status;
}

static enum ulb_status read_function(struct ulb_config_reader *r, struct ulb_error *err)
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
    r->config.read[ULB_KEY_FUNCTION] = true;
    if (r->family->function == ULB_FFN_OTHER || r->family->attentionless)
        return ULB_OK;
    if (!json_is_string(value))
        status = ulb_config_value(&r->config, ULB_KEY_FUNCTION, &value, NULL, err);
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

static bool ends_in(const char *text, const char *end)
{
    size_t length = strlen(text), tail = strlen(end);
    return length >= tail && strcasecmp(text + length - tail, end) == 0;
}

bool ulb_class_is_headless(const char *name)
{
    static const char *const headless[] = {"Model", "ForSequenceClassification", "ForTokenClassification",
                                           "ForQuestionAnswering", "RewardModel"};
    for (size_t i = 0; i < sizeof headless / sizeof *headless && !ends_in(name, "LMHeadModel"); i++) {
        if (ends_in(name, headless[i]))
            return true;
    }
    return false;
}

/* The class says whether there is a head, and tells drafts of speculative decoding from models. The BitNet of
 * 1bitLLM calls itself a Llama; its class tells. */
static enum ulb_status read_architecture(struct ulb_config_reader *r, struct ulb_error *err)
{
    static const char *const drafts[] = {"Eagle", "Medusa", "MTP", "NextN", "Draft", "Speculator"};
    const json_t *list;
    enum ulb_status status = ulb_config_value(&r->config, ULB_KEY_ARCHITECTURES, &list, NULL, err);
    const char *name = json_string_value(json_array_get(list, 0));
    if (status != ULB_OK || !name)
        return status;
    for (size_t i = 0; i < sizeof drafts / sizeof *drafts; i++) {
        if (strstr(name, drafts[i]))
            return ulb_fail(
                err, ULB_BAD_INPUT,
                "architectures: %.60s is a draft for speculative decoding, no model of its own; give "
                "its safetensors file",
                name);
    }
    if (strcasecmp(name, "BitnetForCausalLM") == 0)
        r->model->sub_norms = true;
    r->model->headless = ulb_class_is_headless(name);
    if (!r->model->headless)
        return ULB_OK;
    r->model->without_cache = r->model->layers - r->model->without_attention; /* nothing is decoded */
    r->model->windowed = 0;
    ulb_model_note(r->model, "no lm_head: architectures %.60s", name);
    return ULB_OK;
}

/* Sizes around a nested model. A known text model must agree with them; those of another kind of model are
 * left-overs. */
static enum ulb_status check_around(struct ulb_config_reader *r, struct ulb_error *err)
{
    static const enum ulb_config_key sizes[] = {ULB_KEY_HIDDEN, ULB_KEY_INTERMEDIATE, ULB_KEY_LAYERS,
                                                ULB_KEY_HEADS,  ULB_KEY_KV_HEADS,     ULB_KEY_HEAD_DIM,
                                                ULB_KEY_EXPERTS};
    const json_t *around = r->config.around, *type = json_object_get(around, "model_type");
    bool text = !json_is_string(type) || ulb_family_of_type(json_string_value(type));
    char unread[200] = "";
    size_t used = 0;
    for (size_t i = 0; around && i < sizeof sizes / sizeof *sizes; i++) {
        unsigned inside = 0, outside = 0;
        bool here, there;
        enum ulb_status status = ulb_config_count_of(r->config.model, sizes[i], &inside, &here, err);
        if (status == ULB_OK)
            status = ulb_config_count_of(around, sizes[i], &outside, &there, err);
        if (status != ULB_OK)
            return status;
        if (!there || (here && inside == outside))
            continue;
        const char *name = ulb_config_name(sizes[i]);
        if (here && text)
            return ulb_fail(err, ULB_BAD_INPUT, "%s is %u in the text model's configuration and %u around it",
                            name, inside, outside);
        if (used < sizeof unread)
            used += (size_t)snprintf(unread + used, sizeof unread - used, "%s%s %u", used ? ", " : "", name,
                                     outside);
    }
    if (unread[0])
        ulb_model_note(r->model, "not read, around the text model: %s", unread);
    return ULB_OK;
}

static enum ulb_status read_block(struct ulb_config_reader *r, struct ulb_error *err)
{
    bool found, sharing = false;
    enum ulb_status status = ulb_config_bool(&r->config, ULB_KEY_LAYER_SHARING, &sharing, &found, err);
    if (status == ULB_OK && sharing)
        return ulb_fail(err, ULB_BAD_INPUT, "layer_sharing: blocks that run twice are not supported");
    if (status == ULB_OK)
        status = ulb_config_bool(&r->config, ULB_KEY_PARALLEL, &r->model->parallel_block, &found, err);
    if (status == ULB_OK)
        status = read_tied(r, err);
    if (status == ULB_OK)
        status = read_function(r, err);
    if (status == ULB_OK)
        status = read_architecture(r, err);
    return status == ULB_OK ? check_around(r, err) : status;
}

enum ulb_status ulb_config_parse(const char *text, size_t bytes, struct ulb_model *model,
                                 struct ulb_error *err)
{
    struct ulb_config_reader r = {.model = model};
    enum ulb_status status = ulb_config_open(&r.config, text, bytes, err);
    if (status == ULB_OK)
        status = find_family(&r, err);
    if (status == ULB_OK)
        status = read_sizes(&r, err);
    if (status == ULB_OK)
        status = ulb_config_read_attention(&r, err);
    if (status == ULB_OK)
        status = ulb_config_read_layers(&r, err);
    if (status == ULB_OK)
        status = ulb_config_read_experts(&r, err);
    if (status == ULB_OK)
        status = ulb_config_read_windows(&r, err);
    if (status == ULB_OK)
        status = read_block(&r, err);
    if (status == ULB_OK)
        status = ulb_config_note_left_out(&r, err);
    if (status == ULB_OK)
        status = ulb_config_check_unread(&r, err);
    ulb_config_close(&r.config);
    return status;
}
