/* Shared by the files of the decoder. */
#ifndef ULB_HARNESS_DECODE_DECODER_PRIVATE_H
#define ULB_HARNESS_DECODE_DECODER_PRIVATE_H

#include "harness/timing/stopwatch.h"
#include "kernels/activations.h"
#include "harness/decode/decoder.h"

/* Partial attention of one head over a piece of the context: sum over positions of exp(s - largest) v. */
struct ulb_partial {
    float largest, sum; /* of the scores; of exp(s - largest) */
};

/* A thread's own: its clock, its inputs of a product and room to make them in. */
struct ulb_worker {
    _Alignas(64) double seconds[ULB_DECODE_PARTS];
    double last;  /* time up to which seconds accounts for */
    void *inputs; /* of the product in hand, when each thread makes its own */
    float *scratch;
    /* Of attention, a row for each query head of a task, see ulb_decoder_query_rows(). */
    float *scores, *row_sums; /* [rows][ULB_KV_PIECE]; [rows][padded dims] */
    const float **in;
    float **out, **sums;
    struct ulb_partial *partials, *sofar;
    float *best;      /* [sequences]: of the logits seen */
    size_t *best_row; /* [sequences]; SIZE_MAX: none yet */
};

/* One matrix, its inputs and its results: those of an expert stand side by side. */
struct ulb_product {
    size_t expert, n, first_x, first_y;
};

struct ulb_decoder {
    struct ulb_decoder_shape shape;
    struct ulb_decoder_weights weights;
    struct ulb_decoder_options options;
    size_t threads, slots; /* slots: token and active expert; tokens where the model is dense */
    struct ulb_pages storage, cache_pages;
    struct ulb_worker *workers;
    struct ulb_row_split split;    /* kind, rates and threads of all */
    struct ulb_row_split *splits;  /* of the products in hand */
    struct ulb_tile_range *ranges; /* [products][threads] */

    /* The step in hand. */
    size_t n, position, layer; /* n: tokens of all sequences, one after the other */
    size_t length;             /* tokens of each sequence, the first at position */
    float *x;                  /* [batch][hidden] */
    float *qkv;                /* [batch][rows of qkv] */
    float *queries;            /* [batch][heads][padded dims]; what pads them stays 0 */
    float *attended;           /* [batch][heads][head_dim] */
    /* Of sequences with one token. */
    float *partial_sums;          /* [sequences][heads][pieces][padded dims] */
    struct ulb_partial *partials; /* [sequences][heads][pieces] */
    _Atomic size_t *pieces_left;  /* [sequences][kv_heads]: not yet attended to */

    float *mlp;                    /* [slots][rows of gate_up]; h takes the place of gate */
    float *result;                 /* [slots][hidden] */
    float *logits, *router_logits; /* [sequences][vocab]; [batch][experts] */
    void *inputs;                  /* of many tokens, made together */
    struct ulb_product *products;
    size_t *choice;          /* [slots]: the expert that token slot / active chose */
    size_t *token_of_input;  /* [slots]: by expert */
    size_t *slot_of_choice;  /* [slots]: where a choice stands when all are sorted by expert */
    float *weight_of_choice; /* [slots] */
    char *cache; /* [sequences][layers][kv_heads][pieces][keys, values]: kernels/vector/attention.h */
    float *cosine, *sine; /* [positions][rope_dims / 2] */
};

/* Adds the time since the last account to a part; what begins a job has been waiting. */
static inline void ulb_lap(struct ulb_worker *worker, size_t part)
{
    double now = ulb_now();
    worker->seconds[part] += now - worker->last;
    worker->last = now;
}

/* Pieces of a head's cache. */
static inline size_t ulb_decoder_pieces(const struct ulb_decoder_options *options)
{
    return (options->positions + ULB_KV_PIECE - 1) / ULB_KV_PIECE;
}

/* Sequences of the step in hand. */
static inline size_t ulb_decoder_sequences(const struct ulb_decoder *d)
{
    return d->n / d->length;
}

/* Where a token of the step stands in its sequence. */
static inline size_t ulb_decoder_position(const struct ulb_decoder *d, size_t token)
{
    return d->position + token % d->length;
}

/* Query heads times tokens that one task of attention takes together. */
size_t ulb_decoder_query_rows(const struct ulb_decoder_shape *shape);

/* A split of items in grains, for the work between products. */
struct ulb_row_split ulb_decoder_split(struct ulb_decoder *d, size_t items, size_t grain);

/* Rotates queries and keys, caches keys and values, and attends: one job to write the cache, one to read it.
 */
void ulb_decoder_attend(struct ulb_decoder *d);

/* h[n] = f(x[n]), with a gate times what lies a width further on. h may be x. */
void ulb_decoder_activate(const struct ulb_decoder *d, const float *x, size_t n, float *h);

enum ulb_input {
    ULB_INPUT_NORM, /* of x */
    ULB_INPUT_ATTENTION,
    ULB_INPUT_MLP,
};

/* One product of the layer in hand for all tokens: inputs made of source, results to y (row stride: M), or
 * added to x. n_products matrices with their slots are in d->products; inputs of them all together. */
struct ulb_linear_call {
    enum ulb_linear linear;
    enum ulb_input source;
    size_t first_token;           /* 0; for the head the last one, or the first of sequences with one each */
    const size_t *token_of_input; /* NULL: first_token, first_token + 1, ... */
    size_t inputs, products;
    float *y;
    bool residual;
};
void ulb_decoder_multiply(struct ulb_decoder *d, const struct ulb_linear_call *call);

#endif
