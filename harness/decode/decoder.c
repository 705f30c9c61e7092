#include "harness/decode/decoder_private.h"

#include "common/rng.h"
#include "common/units.h"
#include "harness/session/interrupted.h"
#include "harness/verify/test_case.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Hands out parts of one mapping; with no base it only counts. */
struct room {
    char *base;
    size_t used;
};

static void *take(struct room *room, size_t bytes)
{
    size_t at = room->used;
    room->used += ulb_round_up(bytes, ULB_CACHE_LINE);
    return room->base ? room->base + at : NULL;
}

static size_t larger(size_t a, size_t b)
{
    return a > b ? a : b;
}

static size_t inputs_of(const struct ulb_kernel *kernel, size_t n, size_t k)
{
    return kernel ? ulb_activations_bytes(kernel->activation, n, ulb_round_up(k, ULB_X_GRAIN)) : 0;
}

/* Largest bytes of n inputs of any product. */
static size_t input_bytes(const struct ulb_decoder *d, size_t n)
{
    size_t most = 0;
    for (int linear = 0; linear < ULB_LINEARS; linear++) {
        size_t k = ulb_linear_columns(&d->shape, (enum ulb_linear)linear);
        most = larger(most, inputs_of(d->weights.kernel[linear], n, k));
        for (size_t i = 0; i < d->weights.n_steps; i++)
            most = larger(most, inputs_of(d->weights.steps[i].kernel[linear], n, k));
    }
    return most;
}

static void place_rows(const struct ulb_decoder *d, struct room *room, struct ulb_worker *worker)
{
    size_t rows = ulb_decoder_query_rows(&d->shape), dims = ulb_kv_padded(d->shape.head_dim);
    worker->scores = take(room, rows * ULB_KV_PIECE * sizeof *worker->scores);
    worker->row_sums = take(room, rows * dims * sizeof *worker->row_sums);
    worker->in = take(room, rows * sizeof *worker->in);
    worker->out = take(room, rows * sizeof *worker->out);
    worker->sums = take(room, rows * sizeof *worker->sums);
    worker->partials = take(room, rows * sizeof *worker->partials);
    worker->sofar = take(room, rows * sizeof *worker->sofar);
    worker->best = take(room, d->options.sequences * sizeof *worker->best);
    worker->best_row = take(room, d->options.sequences * sizeof *worker->best_row);
}

static void place_workers(struct ulb_decoder *d, struct room *room)
{
    const struct ulb_decoder_shape *shape = &d->shape;
    size_t wide = 0;
    for (int linear = 0; linear < ULB_LINEARS; linear++) {
        size_t k = ulb_linear_columns(shape, (enum ulb_linear)linear);
        wide = k > wide ? k : wide;
    }
    d->workers = take(room, d->threads * sizeof *d->workers);
    for (size_t t = 0; t < d->threads; t++) {
        void *inputs = take(room, input_bytes(d, shape->active));
        float *scratch = take(room, wide * sizeof *scratch);
        if (room->base) {
            d->workers[t].inputs = inputs;
            d->workers[t].scratch = scratch;
        }
        place_rows(d, room, room->base ? &d->workers[t] : &(struct ulb_worker){0});
    }
}

static void place_products(struct ulb_decoder *d, struct room *room)
{
    size_t products = d->shape.experts, slots = d->slots;
    d->splits = take(room, products * sizeof *d->splits);
    d->ranges = take(room, products * d->threads * sizeof *d->ranges);
    d->products = take(room, products * sizeof *d->products);
    d->choice = take(room, slots * sizeof *d->choice);
    d->token_of_input = take(room, slots * sizeof *d->token_of_input);
    d->slot_of_choice = take(room, slots * sizeof *d->slot_of_choice);
    d->weight_of_choice = take(room, slots * sizeof *d->weight_of_choice);
}

static void place_buffers(struct ulb_decoder *d, struct room *room)
{
    const struct ulb_decoder_shape *shape = &d->shape;
    size_t batch = d->options.batch, sequences = d->options.sequences;
    size_t pieces = sequences * ulb_decoder_pieces(&d->options);
    size_t wide = shape->heads * ulb_kv_padded(shape->head_dim);
    size_t angles = d->options.positions * shape->rope_dims / 2;
    place_workers(d, room);
    place_products(d, room);
    d->x = take(room, batch * shape->hidden * sizeof *d->x);
    d->qkv = take(room, batch * ulb_linear_rows(shape, ULB_QKV) * sizeof *d->qkv);
    d->queries = take(room, batch * wide * sizeof *d->queries);
    d->attended = take(room, batch * shape->heads * shape->head_dim * sizeof *d->attended);
    d->partial_sums = take(room, pieces * wide * sizeof *d->partial_sums);
    d->partials = take(room, pieces * shape->heads * sizeof *d->partials);
    d->pieces_left = take(room, sequences * shape->kv_heads * sizeof *d->pieces_left);
    d->mlp = take(room, d->slots * ulb_linear_rows(shape, ULB_GATE_UP) * sizeof *d->mlp);
    d->result = take(room, d->slots * shape->hidden * sizeof *d->result);
    d->logits = take(room, sequences * shape->vocab * sizeof *d->logits);
    d->router_logits = take(room, batch * shape->experts * sizeof *d->router_logits);
    d->inputs = take(room, batch > 1 ? input_bytes(d, d->slots) : 0);
    d->cosine = take(room, angles * sizeof *d->cosine);
    d->sine = take(room, angles * sizeof *d->sine);
}

/* Angle of pair i at a position: position * base^(-2i / rope_dims). */
static void fill_angles(struct ulb_decoder *d)
{
    size_t half = d->shape.rope_dims / 2;
    for (size_t i = 0; i < half; i++) {
        double step = pow(d->shape.rope_base, -(double)i / (double)half);
        for (size_t position = 0; position < d->options.positions; position++) {
            d->cosine[position * half + i] = (float)cos((double)position * step);
            d->sine[position * half + i] = (float)sin((double)position * step);
        }
    }
}

/* A decoder with nothing behind it yet. */
static void set_up(struct ulb_decoder *d, const struct ulb_decoder_shape *shape,
                   const struct ulb_decoder_weights *weights, const struct ulb_decoder_options *options)
{
    d->shape = *shape;
    d->weights = *weights;
    d->options = *options;
    d->options.sequences = larger(options->sequences, 1);
    d->threads = ulb_team_size(options->team);
    d->slots = options->batch * shape->active;
}

size_t ulb_decoder_buffer_bytes(const struct ulb_decoder_shape *shape,
                                const struct ulb_decoder_weights *weights,
                                const struct ulb_decoder_options *options)
{
    struct ulb_decoder d = {0};
    struct room room = {0};
    set_up(&d, shape, weights, options);
    place_buffers(&d, &room);
    return room.used;
}

static enum ulb_status map_memory(struct ulb_decoder *d, struct ulb_error *err)
{
    struct room room = {0};
    place_buffers(d, &room);
    size_t cache = d->options.sequences * d->shape.layers *
                   ulb_kv_capacity(&d->shape, d->options.kv_type, d->options.positions);
    enum ulb_status status = ulb_pages_map(&d->storage, room.used, ULB_PAGES_HUGE, err);
    if (status == ULB_OK)
        status = ulb_pages_map(&d->cache_pages, cache, ULB_PAGES_HUGE, err);
    if (status != ULB_OK)
        return status;
    /* Else the first step is timed with a fault for each page. */
    ulb_pages_back(d->storage.data, room.used);
    ulb_pages_back(d->cache_pages.data, cache);
    room = (struct room){.base = d->storage.data};
    place_buffers(d, &room);
    d->cache = d->cache_pages.data;
    fill_angles(d);
    return ULB_OK;
}

enum ulb_status ulb_decoder_open(struct ulb_decoder **out, const struct ulb_decoder_shape *shape,
                                 const struct ulb_decoder_weights *weights,
                                 const struct ulb_decoder_options *options, struct ulb_error *err)
{
    struct ulb_decoder *d = calloc(1, sizeof *d);
    *out = d;
    if (!d)
        return ulb_fail(err, ULB_ENVIRONMENT, "not enough memory for a decoder");
    set_up(d, shape, weights, options);
    enum ulb_status status = map_memory(d, err);
    if (status != ULB_OK) {
        ulb_decoder_close(d);
        *out = NULL;
    }
    return status;
}

void ulb_decoder_close(struct ulb_decoder *d)
{
    if (!d)
        return;
    ulb_pages_unmap(&d->storage);
    ulb_pages_unmap(&d->cache_pages);
    free(d);
}

const struct ulb_step_kernels *ulb_step_kernels_of(const struct ulb_decoder_weights *weights, size_t n)
{
    size_t i = 0;
    while (i + 1 < weights->n_steps && weights->steps[i].tokens < n)
        i++;
    return n > 1 && weights->n_steps > 0 ? &weights->steps[i] : NULL;
}

void ulb_decoder_set_split(struct ulb_decoder *d, enum ulb_split split, const double *rates)
{
    d->options.split = split;
    d->options.rates = rates;
}

/* Pieces of random keys and values, of which copies fill the cache: one for each of as many neighbours. */
enum { RANDOM_PIECES = 8 };

static enum ulb_status make_pieces(const struct ulb_decoder *d, uint64_t seed, char *pieces,
                                   struct ulb_error *err)
{
    struct ulb_rng rng = {seed};
    size_t dims = d->shape.head_dim, half = ulb_kv_half_bytes(d->options.kv_type, dims);
    float *x = calloc(dims, sizeof *x);
    if (!x)
        return ulb_fail(err, ULB_ENVIRONMENT, "not enough memory for a key of %zu elements", dims);
    for (size_t i = 0; i < (size_t)2 * RANDOM_PIECES * ULB_KV_PIECE && !ulb_interrupted; i++) {
        for (size_t k = 0; k < dims; k++)
            x[k] = ulb_rng_float(&rng);
        d->options.attention->store(d->options.kv_type, i / ULB_KV_PIECE % 2 == 1, x, dims, i % ULB_KV_PIECE,
                                    pieces + i / ULB_KV_PIECE * half);
    }
    free(x);
    return ULB_OK;
}

/* Copies of random pieces to the first positions of a sequence. */
static void copy_pieces(struct ulb_decoder *d, size_t sequence, size_t positions, const char *random)
{
    size_t each = 2 * ulb_kv_half_bytes(d->options.kv_type, d->shape.head_dim);
    size_t pieces = (positions + ULB_KV_PIECE - 1) / ULB_KV_PIECE, all = ulb_decoder_pieces(&d->options);
    size_t heads = d->shape.layers * d->shape.kv_heads;
    for (size_t head = 0; head < heads && !ulb_interrupted; head++) {
        for (size_t i = 0; i < pieces; i++)
            memcpy(d->cache + ((sequence * heads + head) * all + i) * each,
                   random + (head + i) % RANDOM_PIECES * each, each);
    }
}

enum ulb_status ulb_decoder_fill_cache(struct ulb_decoder *d, size_t positions, uint64_t seed,
                                       struct ulb_error *err)
{
    char *random = calloc(RANDOM_PIECES, 2 * ulb_kv_half_bytes(d->options.kv_type, d->shape.head_dim));
    enum ulb_status status =
        random ? ULB_OK : ulb_fail(err, ULB_ENVIRONMENT, "not enough memory for a random context");
    for (size_t s = 0; s < d->options.sequences && positions > 0 && status == ULB_OK && !ulb_interrupted;
         s++) {
        status = make_pieces(d, seed + s, random, err);
        if (status == ULB_OK)
            copy_pieces(d, s, positions, random);
    }
    free(random);
    return status;
}

const float *ulb_decoder_logits(const struct ulb_decoder *d)
{
    return d->logits;
}

const double *ulb_decoder_seconds(const struct ulb_decoder *d, size_t thread)
{
    return d->workers[thread].seconds;
}
