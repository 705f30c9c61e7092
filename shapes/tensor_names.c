#include "shapes/tensor_names.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Words between the dots of a name. */
enum { WORDS = 16, WORD_BYTES = 64 };
struct words {
    char at[WORDS][WORD_BYTES];
    size_t n;
};

static void split(const char *text, struct words *words)
{
    words->n = 0;
    while (*text && words->n < WORDS) {
        size_t length = strcspn(text, ".");
        snprintf(words->at[words->n++], WORD_BYTES, "%.*s",
                 (int)(length < WORD_BYTES ? length : WORD_BYTES - 1), text);
        text += length + (text[length] == '.');
    }
}

static bool is_number(const char *word)
{
    size_t length = strlen(word);
    return length > 0 && length < 9 && strspn(word, "0123456789") == length;
}

static bool listed(const char *list, const char *word)
{
    char wanted[WORD_BYTES + 2];
    snprintf(wanted, sizeof wanted, " %.63s ", word);
    return strstr(list, wanted);
}

static bool any_listed(const char *list, const struct words *words)
{
    for (size_t i = 0; i < words->n; i++) {
        if (listed(list, words->at[i]))
            return true;
    }
    return false;
}

static bool ends_in(const char *word, const char *end)
{
    size_t length = strlen(word), tail = strlen(end);
    return length >= tail && strcmp(word + length - tail, end) == 0;
}

/* Last words of matrices, as transformers, Mistral and Meta name them. */
static const struct {
    const char *words, *layer;
} layers[] = {
    {" q_proj wq query ", "q"},
    {" k_proj wk key ", "k"},
    {" v_proj wv value ", "v"},
    {" o_proj wo ", "o"},
    {" gate_proj w1 ", "gate"},
    {" up_proj w3 ", "up"},
    {" down_proj w2 ", "down"},
    {" qkv_proj query_key_value Wqkv wqkv c_attn ", "qkv"},
    {" gate_up_proj ", "gate_up"},
    {" q_a_proj ", "q_a"},
    {" q_b_proj ", "q_b"},
    {" kv_a_proj_with_mqa ", "kv_a"},
    {" kv_b_proj ", "kv_b"},
    {" fc_in dense_h_to_4h c_fc fc1 ", "up"},
    {" fc_out dense_4h_to_h fc2 ", "down"},
};

static const char towers[] =
    " vision_tower vision_model visual vision_encoder vision_embed_tokens vit audio_tower "
    "audio_model audio_encoder embed_vision embed_audio multi_modal_projector mm_projector "
    "vision_language_adapter patch_merger aligner ";
static const char embeddings[] =
    " embed_tokens wte tok_embeddings word_embeddings embedding embeddings embed_in ";
static const char heads[] = " lm_head output embed_out ";
static const char scales[] =
    " scales qzeros g_idx weight_scale weight_scale_inv weight_scale_2 weight_shape "
    "weight_zero_point weight_global_scale input_scale input_global_scale absmax quant_map "
    "weight_g_idx scale_inv biases output_scale k_scale v_scale ";
static const char routers[] = " gate router ";

/* The last words of a matrix, for what no table names: "linear_attn.in_proj_qkvz". */
static void name_by_words(const struct words *words, size_t first, size_t last, char layer[32])
{
    size_t from = last > first ? last - 1 : last;
    if (from == last)
        snprintf(layer, 32, "%.31s", words->at[last]);
    else
        snprintf(layer, 32, "%.15s.%.15s", words->at[from], words->at[last]);
}

static void name_layer(const struct words *words, size_t first, size_t last, struct ulb_tensor_name *name)
{
    bool shared = any_listed(" shared_expert shared_experts shared_mlp ", words);
    const char *prefix = name->of_expert ? "expert." : (shared ? "shared." : "");
    const char *word = words->at[last];
    char stacked[WORD_BYTES];
    snprintf(stacked, sizeof stacked, "%s", word);
    if (ends_in(stacked, "_blocks"))
        stacked[strlen(stacked) - strlen("_blocks")] = '\0';
    if (!name->of_expert && listed(routers, word)) {
        snprintf(name->layer, sizeof name->layer, "router");
        return;
    }
    for (size_t i = 0; i < sizeof layers / sizeof *layers; i++) {
        if (listed(layers[i].words, stacked)) {
            snprintf(name->layer, sizeof name->layer, "%s%s", prefix, layers[i].layer);
            return;
        }
    }
    name_by_words(words, first, last, name->layer);
}

/* The block and the expert that a tensor belongs to; the word behind them. */
static size_t read_place(const struct words *words, struct ulb_tensor_name *name)
{
    size_t first = 0;
    for (size_t i = 1; i < words->n; i++) {
        if (!is_number(words->at[i]))
            continue;
        if (name->block < 0 && listed(" layers h blocks block layer ", words->at[i - 1])) {
            name->block = strtol(words->at[i], NULL, 10);
            first = i + 1;
        } else if (strcmp(words->at[i - 1], "experts") == 0) {
            name->expert = strtol(words->at[i], NULL, 10);
        }
    }
    name->of_expert = any_listed(" experts ", words);
    return first;
}

void ulb_tensor_name_read(const char *text, struct ulb_tensor_name *name)
{
    struct words words;
    split(text, &words);
    *name = (struct ulb_tensor_name){.use = ULB_TENSOR_MATRIX, .block = -1, .expert = -1};
    if (words.n == 0)
        return;
    size_t first = read_place(&words, name), last = words.n - 1;
    const char *end = words.at[last];
    bool weight = listed(" weight qweight weight_packed ", end);
    bool stacked = name->of_expert && name->expert < 0 && !ends_in(end, "_bias");
    name->packed = listed(" qweight weight_packed ", end) || ends_in(end, "_blocks");
    const char *of = weight && last > 0 ? words.at[last - 1] : end;
    if (any_listed(towers, &words))
        name->use = ULB_TENSOR_TOWER;
    else if (any_listed(" mtp mtp_layers ", &words))
        name->use = ULB_TENSOR_FURTHER;
    else if (listed(scales, end) || ends_in(end, "_scales") || ends_in(end, "_scale_inv"))
        name->use = ULB_TENSOR_SCALE;
    else if (name->block < 0 && listed(embeddings, of))
        name->use = ULB_TENSOR_EMBEDDING;
    else if (name->block < 0 && listed(heads, of))
        name->use = ULB_TENSOR_HEAD;
    else if (strstr(of, "norm") || ends_in(end, "bias") || ends_in(of, "ln_f"))
        name->use = ULB_TENSOR_VECTOR;
    else if (strstr(of, "embed") || strstr(of, "conv") || listed(" wpe conv ", of) || (!weight && !stacked))
        name->use = ULB_TENSOR_TABLE;
    if (name->use == ULB_TENSOR_MATRIX)
        name_layer(&words, first, weight && last > first ? last - 1 : last, name);
}
