#include "shapes/gguf_tensors.h"

#include "shapes/shapes.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TYPES_MAX = 1024, ALIGNMENT = 32 };

/* What the hidden state passes through: one side of the matrix is its size. */
enum side { ANY, READS_HIDDEN, WRITES_HIDDEN };

/* Tensors of a block, "blk.N.NAME.weight", as llama.cpp names them. */
static const struct kind {
    const char *name, *layer;
    enum side side;
    bool expert;
} kinds[] = {
    {"attn_q", "q", READS_HIDDEN, false},
    {"attn_k", "k", READS_HIDDEN, false},
    {"attn_v", "v", READS_HIDDEN, false},
    {"attn_qkv", "qkv", READS_HIDDEN, false},
    {"attn_output", "o", WRITES_HIDDEN, false},
    {"attn_q_a", "q_a", READS_HIDDEN, false},
    {"attn_q_b", "q_b", ANY, false},
    {"attn_kv_a_mqa", "kv_a", READS_HIDDEN, false},
    {"attn_kv_b", "kv_b", ANY, false},
    {"ffn_gate", "gate", READS_HIDDEN, false},
    {"ffn_up", "up", READS_HIDDEN, false},
    {"ffn_down", "down", WRITES_HIDDEN, false},
    {"ffn_gate_inp", "router", READS_HIDDEN, false},
    {"ffn_gate_exps", "expert.gate", READS_HIDDEN, true},
    {"ffn_up_exps", "expert.up", READS_HIDDEN, true},
    {"ffn_gate_up_exps", "expert.gate_up", READS_HIDDEN, true},
    {"ffn_down_exps", "expert.down", WRITES_HIDDEN, true},
    {"ffn_gate_shexp", "shared.gate", READS_HIDDEN, false},
    {"ffn_up_shexp", "shared.up", READS_HIDDEN, false},
    {"ffn_down_shexp", "shared.down", WRITES_HIDDEN, false},
};

/* The two halves of kv_b, one matrix a head: the keys' is stored transposed. */
static const char KEYS_OF_LATENT[] = "k_b", VALUES_OF_LATENT[] = "v_b";

/* Names, or their ends, of tensors with two sides that no vector is multiplied by: norms in groups, depthwise
 * filters, matrices of the state, weights of a mean of two tokens. */
static const char *const no_matrices[] = {
    "norm",       "conv1d", "shortconv.conv", "ssm_a",  "ssm_d",  "time_mix_first", "time_mix_decay",
    "lerp_w",     "lerp_k", "lerp_v",         "lerp_r", "lerp_g", "lerp_fused",     "channel_mix_lerp_k",
    "token_shift"};

struct tensor {
    char name[ULB_GGUF_STRING_MAX];
    uint64_t offset;
    uint32_t type;
    uint64_t dims[ULB_GGUF_DIMS]; /* 1 beyond the last */
    unsigned n_dims;              /* without those of 1 at the end */
    double elements, bytes;
};

enum ulb_status ulb_gguf_tensors_open(struct ulb_gguf_tensors *t, unsigned blocks, unsigned nextn,
                                      unsigned hidden, struct ulb_error *err)
{
    *t = (struct ulb_gguf_tensors){.blocks = blocks, .nextn = nextn, .hidden = hidden};
    bool rows = ulb_matrix_rows_open(&t->rows);
    t->seen = calloc(blocks, sizeof *t->seen);
    return rows && t->seen ? ULB_OK : ulb_fail(err, ULB_ENVIRONMENT, "not enough memory for its tensors");
}

void ulb_gguf_tensors_close(struct ulb_gguf_tensors *t)
{
    ulb_matrix_rows_close(&t->rows);
    free(t->seen);
    *t = (struct ulb_gguf_tensors){0};
}

/* --- one tensor --- */

static void read_tensor(struct ulb_gguf_stream *s, struct tensor *tensor)
{
    *tensor = (struct tensor){.n_dims = 0};
    uint64_t length = ulb_gguf_string(s, tensor->name);
    unsigned n = ulb_gguf_u32(s);
    double elements = 1;
    if (s->status == ULB_OK && (length == 0 || length >= ULB_GGUF_STRING_MAX || n == 0 || n > ULB_GGUF_DIMS))
        ulb_gguf_fail(s,
                      "byte %" PRIu64 ": a tensor with a name of %" PRIu64
                      " bytes and %u dimensions; the file is "
                      "damaged",
                      s->at, length, n);
    for (unsigned i = 0; i < ULB_GGUF_DIMS; i++) {
        tensor->dims[i] = i < n && s->status == ULB_OK ? ulb_gguf_u64(s) : 1;
        if (s->status == ULB_OK && (tensor->dims[i] == 0 || tensor->dims[i] > ULB_SIZE_MAX))
            ulb_gguf_fail(s, "tensor %s has a side of %" PRIu64 "; 1 to %d is possible", tensor->name,
                          tensor->dims[i], ULB_SIZE_MAX);
        elements *= (double)tensor->dims[i];
        tensor->n_dims = tensor->dims[i] > 1 ? i + 1 : tensor->n_dims;
    }
    tensor->type = ulb_gguf_u32(s);
    tensor->offset = ulb_gguf_u64(s);
    tensor->elements = elements;
    if (s->status == ULB_OK)
        tensor->bytes = ulb_ggml_bytes(tensor->type, tensor->dims[0], elements);
}

/* --- offsets --- */

/* Where the tensors' data begin, in order. They tell bytes where the number of a type is that of another
 * fork, or is not known. n 0: no two may be the same, else they say nothing. */
struct offsets {
    uint64_t *at;
    size_t n;
    uint64_t end;              /* of the last tensor's data; 0: the file has none */
    double of_type[TYPES_MAX]; /* bytes a weight that tensors of a type take here; 0: not seen */
};

static int compare_offsets(const void *a, const void *b)
{
    const uint64_t *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

static uint64_t align(uint64_t value, uint64_t alignment)
{
    return (value + alignment - 1) / alignment * alignment;
}

/* Reads all offsets and goes back. */
static struct offsets read_offsets(struct ulb_gguf_tensors *t, struct ulb_gguf_stream *s)
{
    struct offsets offsets = {.at = calloc((size_t)s->tensors + 1, sizeof *offsets.at)};
    struct tensor tensor;
    uint64_t begin = s->at;
    if (!offsets.at) {
        s->status = ulb_fail(s->err, ULB_ENVIRONMENT, "not enough memory for its tensors");
        return offsets;
    }
    for (; offsets.n < s->tensors && s->status == ULB_OK; offsets.n++) {
        read_tensor(s, &tensor);
        offsets.at[offsets.n] = tensor.offset;
    }
    uint64_t alignment = t->alignment > 0 ? t->alignment : ALIGNMENT, data = align(s->at, alignment);
    qsort(offsets.at, offsets.n, sizeof *offsets.at, compare_offsets);
    for (size_t i = 1; i < offsets.n; i++) {
        if (offsets.at[i] == offsets.at[i - 1])
            offsets.n = 0;
    }
    offsets.end = s->file_bytes > data ? s->file_bytes - data : 0;
    s->at = begin;
    return offsets;
}

/* The bytes of a tensor: by its type where that fits the place up to the next tensor, else that place. */
static void settle_bytes(const struct ulb_gguf_tensors *t, struct ulb_gguf_stream *s, struct offsets *offsets,
                         struct tensor *tensor)
{
    uint64_t alignment = t->alignment > 0 ? t->alignment : ALIGNMENT;
    const uint64_t *own = offsets->n == 0 ? NULL
                                          : bsearch(&tensor->offset, offsets->at, offsets->n,
                                                    sizeof *offsets->at, compare_offsets);
    bool last = own && own + 1 == offsets->at + offsets->n;
    uint64_t next = !own ? 0 : (last ? offsets->end : own[1]);
    double place = next > tensor->offset ? (double)(next - tensor->offset) : 0;
    bool fits = tensor->bytes >= 0 && tensor->bytes <= place && place - tensor->bytes < (double)alignment;
    if (place > 0 && !fits)
        tensor->bytes = place;
    if (place > 0 && tensor->type < TYPES_MAX)
        offsets->of_type[tensor->type] = tensor->bytes / tensor->elements;
    else if (last && tensor->type < TYPES_MAX && offsets->of_type[tensor->type] > 0)
        tensor->bytes = offsets->of_type[tensor->type] * tensor->elements;
    if (tensor->type >= TYPES_MAX || tensor->bytes < 0)
        ulb_gguf_fail(s, "tensor %s of type %u cannot have rows of %" PRIu64 "; the file is damaged",
                      tensor->name, tensor->type, tensor->dims[0]);
}

/* --- purposes --- */

static void add(struct ulb_gguf_tensors *t, struct ulb_gguf_stream *s, const struct tensor *tensor,
                const char *layer, uint64_t m, uint64_t k, uint64_t count, bool expert)
{
    if (!ulb_matrix_rows_add(&t->rows, layer, m, k, count, expert, tensor->bytes))
        ulb_gguf_fail(s, "tensor %s: more matrices than a model has; the file is damaged", tensor->name);
}

static const struct kind *kind_of(const char *name)
{
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        if (strcmp(kinds[i].name, name) == 0)
            return &kinds[i];
    }
    return NULL;
}

/* Each expert by itself, as early files have them: "ffn_gate.7". */
static const struct kind *kind_of_single_expert(const char *name)
{
    char stack[ULB_GGUF_STRING_MAX + 8];
    const char *dot = strchr(name, '.');
    if (!dot || strncmp(name, "ffn_", 4) != 0 || strspn(dot + 1, "0123456789") != strlen(dot + 1) || !dot[1])
        return NULL;
    snprintf(stack, sizeof stack, "%.*s_exps", (int)(dot - name), name);
    return kind_of(stack);
}

static void note_vector(struct ulb_gguf_tensors *t, const char *name)
{
    t->qk_norm |= strcmp(name, "attn_q_norm") == 0;
    t->sub_norms |= strcmp(name, "attn_sub_norm") == 0;
    t->post_norms |= strcmp(name, "post_attention_norm") == 0 || strcmp(name, "post_ffw_norm") == 0;
}

/* A matrix of a block, name without "blk.N." and ".weight". */
static void add_of_block(struct ulb_gguf_tensors *t, struct ulb_gguf_stream *s, const struct tensor *tensor,
                         const char *name)
{
    const uint64_t *dims = tensor->dims;
    uint64_t stack = dims[2] * dims[3];
    const struct kind *kind = kind_of(name);
    if (!kind)
        kind = kind_of_single_expert(name);
    if (stack > ULB_SIZE_MAX || dims[0] > ULB_SIZE_MAX || dims[1] > ULB_SIZE_MAX) {
        ulb_gguf_fail(s, "tensor %s has more than %d rows, columns or matrices; the file is damaged",
                      tensor->name, ULB_SIZE_MAX);
    } else if (strcmp(name, "attn_k_b") == 0 && stack > 1) {
        add(t, s, tensor, KEYS_OF_LATENT, dims[0] * stack, dims[1], 1, false);
    } else if (strcmp(name, "attn_v_b") == 0 && stack > 1) {
        add(t, s, tensor, VALUES_OF_LATENT, dims[1] * stack, dims[0], 1, false);
    } else if (!kind) {
        add(t, s, tensor, name, dims[1], dims[0], stack, false);
    } else if ((kind->side == READS_HIDDEN && dims[0] != t->hidden) ||
               (kind->side == WRITES_HIDDEN && dims[1] != t->hidden)) {
        ulb_gguf_fail(s,
                      "tensor %s is %" PRIu64 "x%" PRIu64 ", but embedding_length is %u; the file is damaged",
                      tensor->name, dims[1], dims[0], t->hidden);
    } else if (stack > 1 && !kind->expert) {
        ulb_gguf_fail(s, "tensor %s is a stack of %" PRIu64 " matrices; the file is damaged", tensor->name,
                      stack);
    } else {
        add(t, s, tensor, kind->layer, dims[1], dims[0], stack, kind->expert);
        t->cached += strcmp(name, "attn_k") == 0 || strcmp(name, "attn_qkv") == 0 ||
                     strcmp(name, "attn_kv_a_mqa") == 0;
    }
}

static void add_outside(struct ulb_gguf_tensors *t, struct ulb_gguf_stream *s, const struct tensor *tensor,
                        const char *name)
{
    const uint64_t *dims = tensor->dims;
    size_t length = strlen(name);
    bool embedding = strcmp(name, "token_embd") == 0, head = strcmp(name, "output") == 0;
    if ((embedding || head) && dims[0] != t->hidden) {
        ulb_gguf_fail(s, "tensor %s has rows of %" PRIu64 ", but embedding_length is %u; the file is damaged",
                      tensor->name, dims[0], t->hidden);
    } else if (embedding) {
        t->vocab = (size_t)dims[1];
        t->embedding_bytes = tensor->bytes;
    } else if (head) {
        t->head = true;
        add(t, s, tensor, "lm_head", dims[1], dims[0], 1, false);
    } else if ((length > 4 && strcmp(name + length - 4, "embd") == 0) || strcmp(name, "token_types") == 0) {
        t->other_bytes += tensor->bytes; /* looked up, a row a token */
        t->other_parameters += tensor->elements;
    } else {
        add(t, s, tensor, name, dims[1], dims[0], dims[2] * dims[3], false);
    }
}

/* The number behind "blk." and, in *rest, what follows the dot behind it; false for another name. */
static bool block_of(const char *name, unsigned long *block, const char **rest)
{
    char *end;
    if (strncmp(name, "blk.", 4) != 0 || name[4] < '0' || name[4] > '9')
        return false;
    *block = strtoul(name + 4, &end, 10);
    *rest = end + 1;
    return *end == '.';
}

/* A tensor of two sides or more that no vector is multiplied by. */
static bool is_no_matrix(const struct tensor *tensor, const char *name, bool weight)
{
    size_t length = strlen(name);
    bool side = tensor->dims[0] == 1 || tensor->dims[1] == 1;
    for (size_t i = 0; i < sizeof no_matrices / sizeof *no_matrices; i++) {
        size_t tail = strlen(no_matrices[i]);
        if (length >= tail && strcmp(name + length - tail, no_matrices[i]) == 0)
            return true;
    }
    return !weight || side;
}

/* Parameters of tensors that are no vectors; biases are none that are counted. */
static void add_other(struct ulb_gguf_tensors *t, const struct tensor *tensor, const char *name)
{
    size_t length = strlen(name);
    bool bias = length > 5 && strcmp(name + length - 5, ".bias") == 0;
    t->other_bytes += tensor->bytes;
    if (tensor->n_dims >= 2 && !bias)
        t->other_parameters += tensor->elements;
}

static void add_tensor(struct ulb_gguf_tensors *t, struct ulb_gguf_stream *s, const struct tensor *tensor)
{
    char name[ULB_GGUF_STRING_MAX];
    const char *rest = name;
    unsigned long block;
    size_t length = strlen(tensor->name);
    bool weight = length > 7 && strcmp(tensor->name + length - 7, ".weight") == 0;
    snprintf(name, sizeof name, "%.*s", (int)(weight ? length - 7 : length), tensor->name);
    bool in_block = block_of(name, &block, &rest);
    if (in_block && block >= t->blocks)
        ulb_gguf_fail(s, "tensor %s lies behind the last of %u blocks; the file is damaged", tensor->name,
                      t->blocks);
    bool further = in_block && block >= t->blocks - t->nextn;
    if (further) {
        t->other_bytes += tensor->bytes;
    } else if (tensor->n_dims < 2 || is_no_matrix(tensor, name, weight)) {
        add_other(t, tensor, name);
        if (in_block && weight)
            note_vector(t, rest);
    } else if (in_block && s->status == ULB_OK) {
        t->seen[block] = true;
        add_of_block(t, s, tensor, rest);
    } else {
        add_outside(t, s, tensor, name);
    }
}

void ulb_gguf_tensors_read(struct ulb_gguf_tensors *t, struct ulb_gguf_stream *s)
{
    struct tensor tensor;
    struct offsets offsets = read_offsets(t, s);
    for (uint64_t i = 0; i < s->tensors && s->status == ULB_OK; i++) {
        read_tensor(s, &tensor);
        if (s->status == ULB_OK)
            settle_bytes(t, s, &offsets, &tensor);
        if (s->status == ULB_OK)
            add_tensor(t, s, &tensor);
    }
    free(offsets.at);
    t->n_tensors += s->tensors;
}

/* --- all together --- */

static void join_latent(struct ulb_gguf_tensors *t)
{
    struct ulb_matrix_row *keys = ulb_matrix_rows_find(&t->rows, KEYS_OF_LATENT),
                          *values = ulb_matrix_rows_find(&t->rows, VALUES_OF_LATENT);
    if (!keys || !values || keys->shape.k != values->shape.k || keys->shape.count != values->shape.count)
        return;
    keys->shape.m += values->shape.m;
    keys->bytes += values->bytes;
    snprintf(keys->shape.layer, sizeof keys->shape.layer, "kv_b");
    *values = t->rows.items[--t->rows.n];
}

/* "up" without a gate and with twice as many rows as "down" reads holds both. */
static void name_gates(struct ulb_gguf_tensors *t)
{
    static const char *const names[][4] = {{"gate", "up", "down", "gate_up"},
                                           {"shared.gate", "shared.up", "shared.down", "shared.gate_up"},
                                           {"expert.gate", "expert.up", "expert.down", "expert.gate_up"}};
    for (size_t i = 0; i < 3; i++) {
        struct ulb_matrix_row *up = ulb_matrix_rows_find(&t->rows, names[i][1]),
                              *down = ulb_matrix_rows_find(&t->rows, names[i][2]);
        if (up && down && !ulb_matrix_rows_find(&t->rows, names[i][0]) && up->shape.m == 2 * down->shape.k)
            snprintf(up->shape.layer, sizeof up->shape.layer, "%s", names[i][3]);
    }
}

enum ulb_status ulb_gguf_tensors_finish(struct ulb_gguf_tensors *t, unsigned experts, unsigned experts_active,
                                        struct ulb_error *err)
{
    for (unsigned i = 0; i < t->blocks - t->nextn; i++) {
        if (!t->seen[i])
            return ulb_fail(err, ULB_BAD_INPUT,
                            "block %u of %u has no matrices; the file is damaged or not whole", i, t->blocks);
    }
    join_latent(t);
    name_gates(t);
    if (ulb_matrix_rows_activate(&t->rows, experts, experts_active, err) != ULB_OK)
        return ULB_BAD_INPUT;
    if (!t->head && !t->headless && t->vocab > 0 && t->rows.n < ULB_MATRIX_ROWS) {
        t->rows.items[t->rows.n++] = (struct ulb_matrix_row){
            .bytes = t->embedding_bytes,
            .shape = {.layer = "lm_head", .m = t->vocab, .k = t->hidden, .count = 1, .active = 1}};
    }
    return ULB_OK;
}
