#include "tests/shapes/gguf_writer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { COUNTS_AT = 8, TYPE_F16 = 1 };

static void append(struct gguf_writer *w, const void *bytes, size_t n)
{
    if (w->n + n > w->capacity) {
        w->capacity = 2 * (w->n + n);
        w->bytes = realloc(w->bytes, w->capacity);
        if (!w->bytes)
            abort();
    }
    memcpy(w->bytes + w->n, bytes, n);
    w->n += n;
}

static void encode(const struct gguf_writer *w, uint64_t value, size_t bytes, uint8_t *out)
{
    for (size_t i = 0; i < bytes; i++)
        out[i] = (uint8_t)(value >> 8 * (w->big_endian ? bytes - 1 - i : i));
}

void gguf_raw(struct gguf_writer *w, uint64_t value, size_t bytes)
{
    uint8_t raw[8];
    encode(w, value, bytes, raw);
    append(w, raw, bytes);
}

void gguf_text(struct gguf_writer *w, const char *text)
{
    gguf_raw(w, strlen(text), 8);
    append(w, text, strlen(text));
}

void gguf_open(struct gguf_writer *w, unsigned version, bool big_endian)
{
    *w = (struct gguf_writer){.big_endian = big_endian};
    append(w, "GGUF", 4);
    gguf_raw(w, version, 4);
    gguf_raw(w, 0, 8);
    gguf_raw(w, 0, 8);
}

void gguf_close(struct gguf_writer *w)
{
    encode(w, w->tensors, 8, w->bytes + COUNTS_AT);
    encode(w, w->pairs, 8, w->bytes + COUNTS_AT + 8);
}

void gguf_free(struct gguf_writer *w)
{
    free(w->bytes);
    w->bytes = NULL;
}

void gguf_key(struct gguf_writer *w, const char *key, enum ulb_gguf_type type)
{
    gguf_text(w, key);
    gguf_raw(w, type, 4);
    w->pairs++;
}

void gguf_u32(struct gguf_writer *w, const char *key, unsigned value)
{
    gguf_key(w, key, ULB_GGUF_U32);
    gguf_raw(w, value, 4);
}

void gguf_f32(struct gguf_writer *w, const char *key, float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    gguf_key(w, key, ULB_GGUF_F32);
    gguf_raw(w, bits, 4);
}

void gguf_string(struct gguf_writer *w, const char *key, const char *value)
{
    gguf_key(w, key, ULB_GGUF_STRING);
    gguf_text(w, value);
}

void gguf_list(struct gguf_writer *w, const char *key, const unsigned *values, size_t n)
{
    gguf_key(w, key, ULB_GGUF_ARRAY);
    gguf_raw(w, ULB_GGUF_U32, 4);
    gguf_raw(w, n, 8);
    for (size_t i = 0; i < n; i++)
        gguf_raw(w, values[i], 4);
}

static void number(struct gguf_writer *w, const char *architecture, const char *key, unsigned value)
{
    char name[96];
    snprintf(name, sizeof name, "%s.%s", architecture, key);
    if (value > 0)
        gguf_u32(w, name, value);
}

void gguf_metadata(struct gguf_writer *w, const struct ulb_model *model, const char *architecture)
{
    char name[96];
    gguf_string(w, "general.architecture", architecture);
    gguf_string(w, "general.name", "a test");
    number(w, architecture, "embedding_length", model->hidden);
    number(w, architecture, "block_count", model->layers);
    number(w, architecture, "feed_forward_length", model->intermediate);
    number(w, architecture, "attention.head_count", model->heads);
    number(w, architecture, "attention.head_count_kv", model->kv_heads);
    number(w, architecture, "attention.key_length", model->head_dim);
    number(w, architecture, "attention.value_length", model->v_head_dim);
    number(w, architecture, "attention.kv_lora_rank", model->mla_kv_rank);
    number(w, architecture, "attention.q_lora_rank", model->mla_q_rank);
    number(w, architecture, "rope.dimension_count", model->rope_dims);
    number(w, architecture, "expert_count", model->experts);
    number(w, architecture, "expert_used_count", model->experts_active);
    number(w, architecture, "expert_feed_forward_length", model->expert_intermediate);
    number(w, architecture, "expert_shared_feed_forward_length", model->shared_intermediate);
    number(w, architecture, "leading_dense_block_count", model->experts > 0 ? model->dense_layers : 0);
    number(w, architecture, "vocab_size", model->vocab);
    snprintf(name, sizeof name, "%s.rope.freq_base", architecture);
    gguf_f32(w, name, (float)(model->rope_base > 0 ? model->rope_base : 10000));
    gguf_key(w, "tokenizer.ggml.tokens", ULB_GGUF_ARRAY);
    gguf_raw(w, ULB_GGUF_STRING, 4);
    gguf_raw(w, 3, 8);
    for (int i = 0; i < 3; i++)
        gguf_text(w, i ? "<s>" : "<unknown>");
}

void gguf_tensor_of(struct gguf_writer *w, const char *name, unsigned type, const size_t *dims, unsigned n)
{
    gguf_text(w, name);
    gguf_raw(w, n, 4);
    for (unsigned i = 0; i < n; i++)
        gguf_raw(w, dims[i], 8);
    gguf_raw(w, type, 4);
    gguf_raw(w, 0, 8);
    w->tensors++;
}

void gguf_tensor(struct gguf_writer *w, const char *name, unsigned type, size_t k, size_t m, size_t stack)
{
    gguf_tensor_of(w, name, type, (const size_t[]){k, m, stack}, stack > 1 ? 3 : m > 1 ? 2 : 1);
}

/* llama.cpp's name of a layer; experts in stacks. */
static const char *tensor_name(const char *layer)
{
    static const char *const names[][2] = {
        {"q", "attn_q"},
        {"k", "attn_k"},
        {"v", "attn_v"},
        {"qkv", "attn_qkv"},
        {"o", "attn_output"},
        {"q_a", "attn_q_a"},
        {"q_b", "attn_q_b"},
        {"kv_a", "attn_kv_a_mqa"},
        {"kv_b", "attn_kv_b"},
        {"gate", "ffn_gate"},
        {"up", "ffn_up"},
        {"gate_up", "ffn_up"},
        {"down", "ffn_down"},
        {"router", "ffn_gate_inp"},
        {"expert.gate", "ffn_gate_exps"},
        {"expert.up", "ffn_up_exps"},
        {"expert.down", "ffn_down_exps"},
        {"shared.gate", "ffn_gate_shexp"},
        {"shared.up", "ffn_up_shexp"},
        {"shared.down", "ffn_down_shexp"},
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (strcmp(names[i][0], layer) == 0)
            return names[i][1];
    }
    abort();
}

/* True for the layers that only blocks with experts, or only those without, have. */
static bool belongs(const struct ulb_model *model, const char *layer, unsigned block)
{
    bool dense = model->experts == 0 || block < model->dense_layers;
    bool of_experts = strncmp(layer, "expert.", 7) == 0 || strncmp(layer, "shared.", 7) == 0 ||
                      strcmp(layer, "router") == 0;
    bool of_dense = strcmp(layer, "gate") == 0 || strcmp(layer, "up") == 0 || strcmp(layer, "down") == 0 ||
                    strcmp(layer, "gate_up") == 0;
    return dense ? !of_experts : !of_dense;
}

void gguf_block(struct gguf_writer *w, const struct ulb_model *model, unsigned block)
{
    struct ulb_shape_list list;
    struct ulb_error err;
    char name[96];
    if (ulb_model_shapes(model, ULB_FORM_STORED, &list, &err) != ULB_OK)
        abort();
    snprintf(name, sizeof name, "blk.%u.attn_norm.weight", block);
    gguf_tensor(w, name, 0, model->hidden, 1, 1);
    for (size_t i = 0; i < list.n; i++) {
        const struct ulb_layer_shape *shape = &list.items[i];
        if (ulb_shape_is_head(shape) || !belongs(model, shape->layer, block))
            continue;
        size_t stack = strncmp(shape->layer, "expert.", 7) == 0 ? model->experts : 1;
        snprintf(name, sizeof name, "blk.%u.%s.weight", block, tensor_name(shape->layer));
        gguf_tensor(w, name, TYPE_F16, shape->k, shape->m, stack);
    }
    free(list.items);
}

void gguf_outside(struct gguf_writer *w, const struct ulb_model *model)
{
    gguf_tensor(w, "token_embd.weight", TYPE_F16, model->hidden, model->vocab, 1);
    gguf_tensor(w, "output_norm.weight", 0, model->hidden, 1, 1);
    if (!model->tied_head)
        gguf_tensor(w, "output.weight", TYPE_F16, model->hidden, model->vocab, 1);
}

void gguf_model(struct gguf_writer *w, const struct ulb_model *model, const char *architecture)
{
    gguf_metadata(w, model, architecture);
    for (unsigned i = 0; i < model->layers; i++)
        gguf_block(w, model, i);
    gguf_outside(w, model);
    gguf_close(w);
}

void gguf_save(const struct gguf_writer *w, const char *folder, const char *name, char path[256])
{
    snprintf(path, 256, "%s/%s", folder, name);
    FILE *file = fopen(path, "wb");
    if (!file || fwrite(w->bytes, 1, w->n, file) != w->n || fclose(file) != 0)
        abort();
}
