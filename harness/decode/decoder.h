/* A decoder on synthetic weights: the whole step of a Llama-class model from a token to the next, on the
 * suite's team and kernels.
 *
 *     x = embedding[token]
 *     each block:  q, k, v = qkv * norm(x);  rotary;  cache k, v;  a = attention(q, cache);  x += o * a
 *                  h = f(gate * norm(x)) . (up * norm(x));  x += down * h
 *     next = argmax(head * norm(x))
 *
 * With experts, a router's softmax chooses the active ones, whose results are added in proportion. Without a
 * gate h = f(up * norm(x)); in a parallel block (GPT-J) attention and MLP read the same norm. No biases.
 *
 * A step takes many tokens of one sequence, or one token of each of several, which share what is read of the
 * weights. Each sequence has a cache of its own.
 *
 * Rows of each product are shared out as the split says. Attention of one token is shared out by the heads of
 * keys and by pieces of ULB_KV_PIECE positions, that of many by the heads of keys and by tokens. Query heads
 * of a group, and tokens, share what they read. Pieces are put together in their order, so that results do
 * not depend on threads, split or how many tokens a step has. */
#ifndef ULB_HARNESS_DECODE_DECODER_H
#define ULB_HARNESS_DECODE_DECODER_H

#include "common/mem.h"
#include "harness/threads/split.h"
#include "harness/threads/team.h"
#include "kernels/kernel.h"
#include "kernels/vector/attention.h"
#include "kernels/vector/vector.h"
#include "shapes/model.h"

#include <stdbool.h>

/* What a model consists of. */
struct ulb_decoder_shape {
    size_t layers, hidden, heads, kv_heads, head_dim, intermediate, vocab;
    size_t experts, active; /* MLPs of a block, and those that a token reads; 1 and 1: dense */
    size_t rope_dims;       /* elements of a head that are rotated; even, 0: none */
    double rope_base;
    size_t windowed, window; /* layers that see the last `window` positions only */
    enum ulb_ffn_function function;
    bool gated, parallel, layer_norm;
    bool qk_norm;   /* RMS norm of each head's query and key */
    bool sub_norms; /* also a norm in front of o and of down */
};

/* ULB_BAD_INPUT names what a model has that the decoder does not run. */
enum ulb_status ulb_decoder_shape_of(const struct ulb_model *model, struct ulb_decoder_shape *shape,
                                     struct ulb_error *err);

/* The same model with so many layers; of those with a window a share. */
struct ulb_decoder_shape ulb_decoder_shape_cut(const struct ulb_decoder_shape *shape, size_t layers);
/* Layers with a window are spread evenly among the others. */
bool ulb_layer_windowed(const struct ulb_decoder_shape *shape, size_t layer);

/* The matrices of a block, and the head. */
enum ulb_linear { ULB_QKV, ULB_O, ULB_GATE_UP, ULB_DOWN, ULB_ROUTER, ULB_HEAD, ULB_LINEARS };

enum { ULB_QUANTISED_LINEARS = ULB_ROUTER /* those that come in the weights' format; the others in bf16 */ };

/* Where the time of a token goes: its products by kind, then the rest. */
enum ulb_decode_part {
    ULB_PART_ATTENTION = ULB_LINEARS,
    ULB_PART_OTHER,    /* norms, activation functions, embedding, argmax, choice of experts */
    ULB_PART_QUANTISE, /* of activations */
    ULB_PART_WAIT,     /* for other threads: fork, join and uneven parts */
    ULB_DECODE_PARTS
};

/* M and K of one matrix of a kind. */
size_t ulb_linear_rows(const struct ulb_decoder_shape *shape, enum ulb_linear linear);
size_t ulb_linear_columns(const struct ulb_decoder_shape *shape, enum ulb_linear linear);
/* Matrices of a kind in one block, or heads: an expert has its own; 0: the model has none. */
size_t ulb_linear_count(const struct ulb_decoder_shape *shape, enum ulb_linear linear);

/* Bytes that a token reads of the cache, so many positions in it, all layers. */
double ulb_kv_bytes(const struct ulb_decoder_shape *shape, enum ulb_kv_type type, double positions);
/* Bytes of the cache of one layer with room for so many positions. */
size_t ulb_kv_capacity(const struct ulb_decoder_shape *shape, enum ulb_kv_type type, size_t positions);

/* Kernels for steps of so many tokens. */
struct ulb_step_kernels {
    size_t tokens;
    const struct ulb_kernel *kernel[ULB_LINEARS]; /* NULL: that for one token */
    struct ulb_prefetch prefetch[ULB_LINEARS];
};

/* Packed weights: what a layer reads one after the other, layer after layer. The matrices of experts are
 * neighbours. */
struct ulb_decoder_weights {
    const struct ulb_kernel *kernel[ULB_LINEARS]; /* for one token */
    struct ulb_prefetch prefetch[ULB_LINEARS];
    /* For more tokens, same layouts, by their number. A step takes the first that is for as many or more, or
     * the last. */
    const struct ulb_step_kernels *steps;
    size_t n_steps;
    size_t offset[ULB_LINEARS]; /* in a layer; of the head, in its own mapping */
    size_t bytes[ULB_LINEARS];  /* of one matrix, rounded up to whole lines */
    size_t layer_bytes;
    const char *blocks, *head;
    const float *gain[ULB_LINEARS]; /* of the norm in front of a kind, [K], where the model has one */
    const float *qk_gain;           /* [head_dim] */
    const uint16_t *embedding;      /* bfloat16 [embeddings][hidden]; token t has row t % embeddings */
    size_t embeddings;
};

/* The kernels of a step of n tokens; NULL: those for one token. */
const struct ulb_step_kernels *ulb_step_kernels_of(const struct ulb_decoder_weights *weights, size_t n);

struct ulb_decoder_options {
    struct ulb_team *team;
    const struct ulb_vector_ops *ops;
    const struct ulb_attention_ops *attention;
    enum ulb_kv_type kv_type;
    enum ulb_split split;
    const double *rates; /* weighted split: of each thread */
    size_t positions;    /* capacity of each cache */
    size_t batch;        /* most tokens of one step */
    size_t sequences;    /* caches; 0: 1 */
    /* For tests: this thread runs every tile so many times, like a slow core; 0 or 1: no thread does. */
    size_t slow_thread, slow_times;
};

struct ulb_decoder;

/* Bytes of its buffers, without the cache; of weights the kernels are looked at. */
size_t ulb_decoder_buffer_bytes(const struct ulb_decoder_shape *shape,
                                const struct ulb_decoder_weights *weights,
                                const struct ulb_decoder_options *options);

/* The weights, and what they and the options point at, must outlive the decoder. ULB_ENVIRONMENT when memory
 * is short.
 */
enum ulb_status ulb_decoder_open(struct ulb_decoder **out, const struct ulb_decoder_shape *shape,
                                 const struct ulb_decoder_weights *weights,
                                 const struct ulb_decoder_options *options, struct ulb_error *err);
void ulb_decoder_close(struct ulb_decoder *decoder);

/* How the following steps share out rows; rates as in the options. */
void ulb_decoder_set_split(struct ulb_decoder *decoder, enum ulb_split split, const double *rates);

/* Random keys and values in the first positions of each cache, by seed, seed + 1, ...: contexts that nobody
 * computed. ULB_ENVIRONMENT when memory is short. */
enum ulb_status ulb_decoder_fill_cache(struct ulb_decoder *decoder, size_t positions, uint64_t seed,
                                       struct ulb_error *err);

/* Runs n tokens (1 to batch) of the first sequence that stand at position, position + 1, ...; gives the token
 * that follows the last one. The same step may be repeated. */
uint32_t ulb_decoder_forward(struct ulb_decoder *decoder, const uint32_t *tokens, size_t n, size_t position);

/* Runs a token at position of each of the first n sequences (1 to both sequences and batch); next [n] are the
 * tokens that follow. */
void ulb_decoder_step(struct ulb_decoder *decoder, const uint32_t *tokens, size_t n, size_t position,
                      uint32_t *next);

/* Runs the attention phase of a token at position of each of the first n sequences alone, all layers, with
 * the queries that the last step left; gives its seconds, fork, join and the merging of pieces included. */
double ulb_decoder_attend_alone(struct ulb_decoder *decoder, size_t n, size_t position);

/* [sequences of the last step][vocab], of the last token of each. */
const float *ulb_decoder_logits(const struct ulb_decoder *decoder);

/* Seconds that each part of the last step took on one thread; they add up to the whole step. */
const double *ulb_decoder_seconds(const struct ulb_decoder *decoder, size_t thread);

#endif
