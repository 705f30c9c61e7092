/* What a config.json says beyond what was read: no key of it goes unread without a word. */
#include "shapes/config_reader.h"
#include "shapes/load.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Names that change no matrix; '*' stands for anything, in front or behind. */
/* clang-format off */
static const char *const harmless[] = {
    /* training, initialisation, sampling, bookkeeping */
    "*_dropout", "*_pdrop", "*_dropout_prob", "*dropout*", "layerdrop", "initializer_*", "init_*", "*_init",
    "*_std", "*_loss_coef", "*_loss_coeff", "*_aux_loss*", "aux_loss_alpha", "seq_aux", "*_jitter_noise",
    "*_z_loss*", "summary_*", "num_beams", "num_beam_groups", "*no_repeat_ngram_size", "*_token_id",
    "*_token_ids", "*_token_index", "top_k", "top_p", "temperature", "num_labels", "num_return_sequences",
    "id2label", "label2id", "pruned_heads", "task_specific_params", "generation_config", "auto_map",
    "_name_or_path", "*_version", "*dtype", "quantization_config", "quantization", "compression_config",
    "chunk_size_feed_forward", "pretraining_tp", "ep_size", "unsloth_*", "use_cache",
    "*_cache_implementation", "pre_allocate_kv_cache", "max_batch_size", "*_kernels", "use_mamba_kernels",
    "fused_*", "masked_softmax_fusion", "*_logits_to_keep", "*_router_logits", "transformers.js_config",
    "_*",
    /* scalars, vectors, switches that are no matrix */
    "*_eps", "*_epsilon", "*_bias", "bias", "*_biases", "*_affine", "*_act", "*_activation", "*_fn",
    "*_func", "*_method", "*_clip", "*_clip_qkv", "clip_qkv", "*_softcapping", "*_limit", "*_scale",
    "*_scalar", "*_scaling", "*_alpha", "*_beta", "*_fp32", "*_norm", "*_norm_type", "norm_*",
    "*_layernorm", "*_before_gate", "layer_norm_*", "layernorm_*", "num_ln_in_parallel_attn",
    "normalization_function", "normalize_*", "attention_multiplier", "attention_in_multiplier",
    "attention_out_multiplier", "ssm_in_multiplier", "ssm_out_multiplier", "rescale_prenorm_residual",
    "moe_shared_expert_overlap", "do_layer_norm_before", "*_loss_weight", "*_file", "compression_ratio",
    "moe_group", "dual_chunk_attention_config", "ffn_type", "neuron", "embedding_multiplier",
    "residual_multiplier", "logits_scaling", "key_multiplier", "lm_head_multiplier", "mlp_multipliers",
    "ssm_multipliers", "mlp_expansion_factor", "mamba_use_mlp", "mamba_rms_norm", "mamba_conv_bias",
    "mamba_proj_bias", "use_conv_bias", "time_step_*", "residual_in_fp32", "scale_*", "*_per_head_scale",
    "mup_*", "dim_model_base", "activation_sparsity_pattern", "altup_active_idx", "altup_coef_clip",
    "altup_correct_scale", "altup_lr_multiplier", "attn_temperature_tuning", "floor_scale", "hidden_act",
    "use_pos_enc", "conv_use_xavier_init", "block_mlp_init_scale",
    "block_out_init_scale", "block_use_swiglu", "block_use_xavier_init", "block_norm_eps",
    /* routing, which experts are chosen */
    "n_group", "num_expert_group", "topk_group", "topk_method", "routed_scaling_factor", "norm_topk_prob",
    "scoring_func", "*_router_*", "router_*", "use_routing_bias", "use_expert_bias", "moe_router_*",
    "moe_capacity*", "moe_gate*", "moe_use_aux*", "shared_moe_mode", "n_topk_group",
    /* positions and masks */
    "rope_*", "rotary_*", "*rope*", "partial_rotary_factor", "alibi", "*position*", "max_*", "n_ctx",
    "seq_length", "*_context_length", "*_seq_len", "*_sequence_length", "sliding_window_size",
    "*chunk_size", "no_rope_*", "query_pre_attn_scalar", "order_of_interleaved_layers", "attn_impl",
    "attn_uses_sequence_id", "prefix_lm", "qk_ln", "softmax_scale", "attn_implementation",
    "pad_vocab_size_multiple", "reorder_and_upcast_attn", "scale_attn_*", "*interpolate_factor",
    "use_bidirectional_attention", "head_dtype", "apply_residual_connection_post_layernorm",
    "sparse_config", "mtp_transformer_layers", "use_mtp", "mtp_use_dedicated_embeddings",
    "mm_tokens_per_image", "num_image_tokens", "image_size", "patch_size", "spatial_merge_size",
    "projection_dim", "tie_encoder_decoder", "use_sliding_window", "reorder_and_qk_norm", "vision_*",
    "audio_*", "image_*", "video_*", "*_tower", "*projector*", "use_post_norm", "post_norm", "fc_type",
    "verbose", "learned_pos_emb", "embedding_fraction",
};
/* clang-format on */

/* Words of a name, between underscores, of keys that can change the weights. */
static const char weight_words[] =
    " expert experts moe layer layers size sizes dim dims head heads rank ranks lora ssm mamba"
    " conv tie tied tying linear altup laurel interleave pattern block blocks interval index idx"
    " idxs inter intermediate ffn ff mlp kv embed embd embedding embeddings state states rnn lru"
    " recurrent latent delta groups depth width channels expand expansion ratio share shared"
    " sharing residual adapter memory engram hyper mtp nextn medusa eagle step frequency freq"
    " multiplier multipliers hybrid vocab types list cross loop loops repeat recursion ";

/* Words of keys that are worth a word and change nothing. */
static const char noted_words[] = " steps config cfg args ";

static bool matches(const char *pattern, const char *name)
{
    size_t length = strlen(pattern), whole = strlen(name);
    bool front = pattern[0] == '*', back = length > 1 && pattern[length - 1] == '*';
    char middle[64];
    snprintf(middle, sizeof middle, "%.*s", (int)(length - front - back), pattern + front);
    size_t inner = strlen(middle);
    if (front && back)
        return strstr(name, middle);
    if (front)
        return whole >= inner && strcmp(name + whole - inner, middle) == 0;
    return strncmp(name, middle, inner) == 0 && (back || whole == inner);
}

static bool is_harmless(const char *name)
{
    for (size_t i = 0; i < sizeof harmless / sizeof *harmless; i++) {
        if (matches(harmless[i], name))
            return true;
    }
    return false;
}

/* True when one of the name's words is on the list; names that begin with "d_" are sizes. */
static bool has_word(const char *list, const char *name)
{
    for (const char *at = name; *at; at += strspn(at, "_-.")) {
        char word[66] = " ";
        size_t length = strcspn(at, "_-.");
        for (size_t i = 0; i < length && i < sizeof word - 3; i++)
            word[i + 1] = (char)tolower((unsigned char)at[i]);
        strcat(word, " "); /* NOLINT: two bytes are left for it */
        if (length > 0 && strstr(list, word))
            return true;
        at += length;
    }
    return list == weight_words && strncmp(name, "d_", 2) == 0;
}

/* MiniMax: 1 for each layer with attention, 0 for each without. */
static bool is_attention_everywhere(const char *name, const json_t *value)
{
    size_t i;
    const json_t *item;
    json_array_foreach((json_t *)value, i, item)
    {
        if (!json_is_integer(item) || json_integer_value(item) != 1)
            return false;
    }
    return strcmp(name, "attn_type_list") == 0 && json_is_array(value);
}

/* Values that leave a model as it is without the key. A tie that is off may be on by default. */
static bool is_neutral(const char *name, const json_t *value)
{
    if (is_attention_everywhere(name, value))
        return true;
    bool tie = has_word(" tie tied tying ", name);
    return json_is_null(value) || (json_is_false(value) && !tie) ||
           (json_is_number(value) && json_number_value(value) == 0) ||
           (json_is_string(value) &&
            (json_string_length(value) == 0 || strcmp(json_string_value(value), "default") == 0)) ||
           (json_is_array(value) && json_array_size(value) == 0) ||
           (json_is_object(value) && json_object_size(value) == 0);
}

static enum ulb_status refuse_unread(const char *name, const char *inside, const json_t *value,
                                     struct ulb_error *err)
{
    char *text = json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT | JSON_REAL_PRECISION(9));
    ulb_fail(err, ULB_BAD_INPUT,
             "%s%s%.60s is %.40s, which can change the weights and is not read in this model_type; give the "
             "model's "
             "GGUF or safetensors file",
             inside, inside[0] ? "." : "", name, text ? text : "?");
    free(text);
    return ULB_BAD_INPUT;
}

/* Judged by itself, or switched off. */
static bool is_part(const struct ulb_config *config, const char *name)
{
    if (config->off && strcmp(config->off, name) == 0)
        return true;
    for (unsigned i = 0; i < config->n_parts; i++) {
        if (strcmp(config->part_names[i], name) == 0)
            return true;
    }
    return false;
}

/* Names that were neither read nor are harmless, as far as they fit. */
struct unread {
    char names[200];
    size_t used;
};

/* Judges all keys of an object; inside: its name, "" for the model's own level. level: keys of the model are
 * read in it. An object that is not known is judged by what it holds. */
static enum ulb_status judge(const struct ulb_config *config, const json_t *object, const char *inside,
                             bool level, struct unread *unread, struct ulb_error *err)
{
    const char *name;
    json_t *value;
    json_object_foreach((json_t *)object, name, value)
    {
        enum ulb_config_key key = ulb_config_key_of(name, strlen(name));
        bool known = key != ULB_KEYS; /* one that was not read is never harmless */
        if ((known && level && config->read[key]) || is_neutral(name, value) ||
            (!known && is_harmless(name)) || (!inside[0] && is_part(config, name)))
            continue;
        if (json_is_object(value) && !inside[0]) {
            enum ulb_status status = judge(config, value, name, false, unread, err);
            if (status != ULB_OK)
                return status;
        } else if (has_word(weight_words, name) || json_is_object(value)) {
            return refuse_unread(name, inside, value, err);
        }
        bool noted = json_is_object(value) || (!inside[0] && has_word(noted_words, name));
        if (noted && unread->used < sizeof unread->names)
            unread->used +=
                (size_t)snprintf(unread->names + unread->used, sizeof unread->names - unread->used, "%s%.60s",
                                 unread->used ? ", " : "", name);
    }
    return ULB_OK;
}

enum ulb_status ulb_config_check_unread(struct ulb_config_reader *r, struct ulb_error *err)
{
    struct unread unread = {.used = 0};
    enum ulb_status status = judge(&r->config, r->config.model, "", true, &unread, err);
    for (unsigned i = 0; i < r->config.n_parts && status == ULB_OK; i++)
        status = judge(&r->config, r->config.parts[i], r->config.part_names[i], true, &unread, err);
    if (status == ULB_OK && unread.names[0])
        ulb_model_note(r->model, "not read: %s", unread.names);
    return status;
}

/* --- what stands beside the language model --- */

/* Weights in the blocks of a tower: attention of four hidden x hidden, a network of two matrices; 0 where the
 * object does not say. */
static double tower_weights(const json_t *object)
{
    unsigned hidden = 0, layers = 0, intermediate = 0;
    bool found;
    struct ulb_error unused;
    const json_t *depth = json_object_get(object, "depth"); /* Qwen's towers */
    if (json_is_integer(depth) && json_integer_value(depth) > 0 && json_integer_value(depth) < 1000)
        layers = (unsigned)json_integer_value(depth);
    bool said = ulb_config_count_of(object, ULB_KEY_HIDDEN, &hidden, &found, &unused) == ULB_OK &&
                ulb_config_count_of(object, ULB_KEY_LAYERS, &layers, &found, &unused) == ULB_OK &&
                ulb_config_count_of(object, ULB_KEY_INTERMEDIATE, &intermediate, &found, &unused) == ULB_OK;
    return said ? layers * (double)hidden * (4.0 * hidden + 2.0 * intermediate) : 0;
}

static void note_towers(struct ulb_config_reader *r)
{
    static const char *const towers[][2] = {
        {"vision_config", "vision tower"}, {"visual", "vision tower"}, {"audio_config", "audio tower"}};
    const json_t *object = r->config.around ? r->config.around : r->config.model;
    for (size_t i = 0; i < sizeof towers / sizeof *towers; i++) {
        const json_t *tower = json_object_get(object, towers[i][0]);
        double weights = tower_weights(tower);
        if (!json_is_object(tower) || json_object_size(tower) == 0)
            continue;
        if (weights > 0)
            ulb_model_note(r->model, "%s left out (%.2fe9 in its blocks)", towers[i][1], weights / 1e9);
        else
            ulb_model_note(r->model, "%s left out", towers[i][1]);
    }
}

/* Weights of one block as the last ones are, and of the matrix that joins two hidden states. 0: not known. */
static double last_block_weights(const struct ulb_model *model)
{
    struct ulb_shape_list list;
    struct ulb_error unused;
    unsigned experts = model->experts > 0 ? model->layers - model->dense_layers : 0;
    double sum = 2.0 * model->hidden * model->hidden;
    if (model->without_attention > 0 || model->without_network > 0 ||
        ulb_model_check(model, &unused) != ULB_OK ||
        ulb_model_shapes(model, ULB_FORM_STORED, &list, &unused) != ULB_OK)
        return 0;
    for (size_t i = 0; i < list.n; i++) {
        const struct ulb_layer_shape *shape = &list.items[i];
        double weights = (double)shape->m * (double)shape->k * shape->count;
        bool of_experts = strcmp(shape->layer, "router") == 0 || strchr(shape->layer, '.');
        if (shape->count >= model->layers && !of_experts)
            sum += weights / model->layers;
        else if (of_experts && experts > 0)
            sum += weights / experts;
    }
    free(list.items);
    return sum;
}

enum ulb_status ulb_config_note_left_out(struct ulb_config_reader *r, struct ulb_error *err)
{
    unsigned blocks = 0;
    bool found;
    enum ulb_status status = ulb_config_count(&r->config, ULB_KEY_MTP, &blocks, &found, err);
    if (status == ULB_OK && blocks > 0) {
        double weights = last_block_weights(r->model) * blocks;
        char size[48] = "";
        if (weights > 0)
            snprintf(size, sizeof size, " (%.2fe9)", weights / 1e9);
        ulb_model_note(r->model, "%u block%s that predict%s further tokens left out%s", blocks,
                       blocks == 1 ? "" : "s", blocks == 1 ? "s" : "", size);
    }
    if (status == ULB_OK)
        note_towers(r);
    return status;
}
