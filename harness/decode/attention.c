#include "harness/decode/decoder_private.h"

#include <math.h>
#include <stdatomic.h>
#include <string.h>

enum {
    QUERY_ROWS = 32, /* of one task of a prompt: heads of a group times tokens */
    MERGED = 64      /* pieces at a time */
};

size_t ulb_decoder_query_rows(const struct ulb_decoder_shape *shape)
{
    size_t group = shape->heads / shape->kv_heads;
    return group > QUERY_ROWS ? group : QUERY_ROWS / group * group;
}

/* ---- where things are ---- */

/* Positions from begin on, before end. */
struct span {
    size_t begin, end;
};

/* What a token sees. */
static struct span seen_by(const struct ulb_decoder *d, size_t token)
{
    struct span seen = {0, ulb_decoder_position(d, token) + 1};
    if (ulb_layer_windowed(&d->shape, d->layer) && seen.end > d->shape.window)
        seen.begin = seen.end - d->shape.window;
    return seen;
}

/* Of that what a piece holds, counted from the piece's first position. */
static struct span seen_in(const struct ulb_decoder *d, size_t token, size_t piece)
{
    struct span seen = seen_by(d, token), in = {0, 0};
    size_t first = piece * ULB_KV_PIECE, last = first + ULB_KV_PIECE;
    if (seen.end > first && seen.begin < last) {
        in.begin = seen.begin > first ? seen.begin - first : 0;
        in.end = (seen.end < last ? seen.end : last) - first;
    }
    return in;
}

/* Pieces of which tokens first to last see some. */
static struct span pieces_of(const struct ulb_decoder *d, size_t first, size_t last)
{
    return (struct span){seen_by(d, first).begin / ULB_KV_PIECE,
                         (seen_by(d, last).end + ULB_KV_PIECE - 1) / ULB_KV_PIECE};
}

/* Keys or values of a piece of a token's sequence. */
static char *half_at(const struct ulb_decoder *d, size_t token, size_t kv_head, size_t piece, bool value)
{
    size_t pieces = ulb_decoder_pieces(&d->options), layer = token / d->length * d->shape.layers + d->layer;
    size_t number = ((layer * d->shape.kv_heads + kv_head) * pieces + piece) * 2 + value;
    return d->cache + number * ulb_kv_half_bytes(d->options.kv_type, d->shape.head_dim);
}

static float *query_at(const struct ulb_decoder *d, size_t token, size_t head)
{
    return d->queries + (token * d->shape.heads + head) * ulb_kv_padded(d->shape.head_dim);
}

/* ---- into the cache ---- */

/* Head j of a token's q, k, v: queries are rotated and scaled, keys and values go to the cache. */
static void place_head(struct ulb_decoder *d, size_t token, size_t j)
{
    const struct ulb_decoder_shape *shape = &d->shape;
    const struct ulb_vector_ops *ops = d->options.ops;
    size_t position = ulb_decoder_position(d, token), half = shape->rope_dims / 2, dims = shape->head_dim;
    float *head = d->qkv + (token * (shape->heads + 2 * shape->kv_heads) + j) * dims;
    bool value = j >= shape->heads + shape->kv_heads;
    if (!value && shape->qk_norm)
        ops->rms_norm(head, d->weights.qk_gain, dims, head);
    if (!value)
        ops->rotate(head, d->cosine + position * half, d->sine + position * half, half);
    if (j < shape->heads) {
        d->options.attention->query(d->options.kv_type, head, 1 / sqrtf((float)dims), dims,
                                    query_at(d, token, j));
        return;
    }
    size_t kv_head = (j - shape->heads) % shape->kv_heads;
    d->options.attention->store(d->options.kv_type, value, head, dims, position % ULB_KV_PIECE,
                                half_at(d, token, kv_head, position / ULB_KV_PIECE, value));
}

/* Blocks of a cache that a sequence's tokens fall into. */
static struct span blocks_of(const struct ulb_decoder *d)
{
    return (struct span){d->position / ULB_KV_LINES, (d->position + d->length - 1) / ULB_KV_LINES + 1};
}

/* One head of a sequence's tokens in a block: elements of a block share words, which no two threads may
 * write.
 */
static void place_block(struct ulb_decoder *d, size_t i, struct ulb_worker *worker)
{
    (void)worker;
    struct span blocks = blocks_of(d);
    size_t n = blocks.end - blocks.begin, heads = d->shape.heads + 2 * d->shape.kv_heads;
    size_t first = (blocks.begin + i % n) * ULB_KV_LINES, token = i / n / heads * d->length;
    for (size_t position = first; position < first + ULB_KV_LINES; position++) {
        if (position >= d->position && position < d->position + d->length)
            place_head(d, token + position - d->position, i / n % heads);
    }
}

/* ---- out of the cache ---- */

/* Consecutive tokens that all see some of a piece, with the query heads of one key head. */
struct meeting {
    size_t kv_head, token, tokens, piece;
};

/* Turns a row's scores into weights; positions of the blocks that its token does not see get none. */
static struct ulb_partial weigh(const struct ulb_decoder *d, float *scores, struct span seen,
                                struct span blocks)
{
    struct ulb_partial partial;
    size_t begin = blocks.begin * ULB_KV_LINES, end = blocks.end * ULB_KV_LINES;
    partial.sum = d->options.ops->soften(scores + seen.begin, seen.end - seen.begin, &partial.largest);
    memset(scores + begin, 0, (seen.begin - begin) * sizeof *scores);
    memset(scores + seen.end, 0, (end - seen.end) * sizeof *scores);
    return partial;
}

/* Leaves partials and sums of its rows, tokens x heads of the group, in those of the worker. */
static void meet(const struct ulb_decoder *d, struct ulb_worker *worker, const struct meeting *m)
{
    size_t group = d->shape.heads / d->shape.kv_heads, rows = m->tokens * group;
    size_t seen = seen_in(d, m->token + m->tokens - 1, m->piece).end;
    struct span blocks = {seen_in(d, m->token, m->piece).begin / ULB_KV_LINES, (seen - 1) / ULB_KV_LINES + 1};
    struct ulb_kv_rows call = {.type = d->options.kv_type,
                               .dims = ulb_kv_padded(d->shape.head_dim),
                               .rows = rows,
                               .begin = blocks.begin,
                               .end = blocks.end,
                               .seen = seen,
                               .in = worker->in,
                               .out = worker->out,
                               .half = half_at(d, m->token, m->kv_head, m->piece, false)};
    for (size_t r = 0; r < rows; r++) {
        worker->in[r] = query_at(d, m->token + r / group, m->kv_head * group + r % group);
        worker->out[r] = worker->scores + r * ULB_KV_PIECE;
    }
    d->options.attention->scores(&call);
    for (size_t r = 0; r < rows; r++) {
        worker->partials[r] = weigh(d, worker->out[r], seen_in(d, m->token + r / group, m->piece), blocks);
        worker->in[r] = worker->out[r];
    }
    call.out = worker->sums;
    call.half = half_at(d, m->token, m->kv_head, m->piece, true);
    d->options.attention->sums(&call);
}

/* exp of a difference from the larger of two, which is 0 for one of them. */
static float exp_of(float below)
{
    return below < 0 ? expf(below) : 1;
}

/* Adds a further piece to those before it; gives what becomes of their sums and its own. */
static struct ulb_kv_shares add_piece(struct ulb_partial *sofar, const struct ulb_partial *piece)
{
    const float largest = fmaxf(sofar->largest, piece->largest);
    const struct ulb_kv_shares shares = {exp_of(sofar->largest - largest), exp_of(piece->largest - largest)};
    *sofar = (struct ulb_partial){largest, shares.keep * sofar->sum + shares.take * piece->sum};
    return shares;
}

/* Of a token that is its sequence's only one, where a head and a piece have their partial sums. */
static size_t partial_at(const struct ulb_decoder *d, size_t token, size_t head, size_t piece)
{
    return (token * d->shape.heads + head) * ulb_decoder_pieces(&d->options) + piece;
}

static float *partial_sums(const struct ulb_decoder *d, size_t at)
{
    return d->partial_sums + at * ulb_kv_padded(d->shape.head_dim);
}

/* Puts the pieces of a head of a token, its sequence's only one, together. */
static void merge_head(struct ulb_decoder *d, size_t token, struct span pieces, size_t head)
{
    const size_t dims = d->shape.head_dim, end = partial_at(d, token, head, pieces.end);
    size_t at = partial_at(d, token, head, pieces.begin);
    float *out = d->attended + (token * d->shape.heads + head) * dims;
    struct ulb_partial sofar = d->partials[at];
    struct ulb_kv_shares shares[MERGED];
    memcpy(out, partial_sums(d, at++), dims * sizeof *out);
    while (at < end) {
        struct ulb_kv_pieces further = {
            .shares = shares, .sums = partial_sums(d, at), .distance = ulb_kv_padded(dims)};
        for (; further.n < MERGED && at < end; further.n++)
            shares[further.n] = add_piece(&sofar, &d->partials[at++]);
        d->options.attention->merge(&further, dims, out);
    }
    d->options.ops->scale(out, dims, 1 / sofar.sum);
}

/* Sequences with one token each: groups of heads and pieces apart. Who ends a group's last piece puts its
 * pieces together, most of which are then in its own caches. */
static void attend_one(struct ulb_decoder *d, size_t i, struct ulb_worker *worker)
{
    size_t group = d->shape.heads / d->shape.kv_heads;
    struct span pieces = pieces_of(d, 0, 0);
    size_t n = pieces.end - pieces.begin, kv_head = i / n % d->shape.kv_heads, piece = pieces.begin + i % n,
           token = i / n / d->shape.kv_heads;
    for (size_t g = 0; g < group; g++)
        worker->sums[g] = partial_sums(d, partial_at(d, token, kv_head * group + g, piece));
    meet(d, worker, &(struct meeting){.kv_head = kv_head, .token = token, .tokens = 1, .piece = piece});
    for (size_t g = 0; g < group; g++)
        d->partials[partial_at(d, token, kv_head * group + g, piece)] = worker->partials[g];
    if (atomic_fetch_sub_explicit(&d->pieces_left[token * d->shape.kv_heads + kv_head], 1,
                                  memory_order_acq_rel) != 1)
        return;
    for (size_t g = 0; g < group; g++)
        merge_head(d, token, pieces, kv_head * group + g);
}

/* Tokens of one task of a prompt. */
static size_t tokens_together(const struct ulb_decoder *d)
{
    return ulb_decoder_query_rows(&d->shape) / (d->shape.heads / d->shape.kv_heads);
}

/* Puts rows of a piece to what their tokens have so far, in the order of pieces as for one token. */
static void take_piece(const struct ulb_decoder *d, struct ulb_worker *worker, const struct meeting *m,
                       struct ulb_partial *sofar)
{
    size_t group = d->shape.heads / d->shape.kv_heads, dims = d->shape.head_dim;
    for (size_t r = 0; r < m->tokens * group; r++) {
        size_t token = m->token + r / group, head = m->kv_head * group + r % group;
        float *out = d->attended + (token * d->shape.heads + head) * dims;
        if (m->piece > seen_by(d, token).begin / ULB_KV_PIECE) {
            const struct ulb_kv_shares shares = add_piece(&sofar[r], &worker->partials[r]);
            d->options.attention->merge(&(struct ulb_kv_pieces){1, &shares, worker->sums[r], 0}, dims, out);
        } else {
            memcpy(out, worker->sums[r], dims * sizeof *out);
            sofar[r] = worker->partials[r];
        }
        if (m->piece + 1 == pieces_of(d, token, token).end)
            d->options.ops->scale(out, dims, 1 / sofar[r].sum);
    }
}

/* Many tokens: a group of heads of some of them, which share what they read, over all pieces. */
static void attend_many(struct ulb_decoder *d, size_t i, struct ulb_worker *worker)
{
    size_t each = tokens_together(d), tiles = (d->n + each - 1) / each, first = i % tiles * each;
    size_t end = first + each < d->n ? first + each : d->n, group = d->shape.heads / d->shape.kv_heads;
    struct span pieces = pieces_of(d, first, end - 1);
    for (size_t r = 0; r < each * group; r++)
        worker->sums[r] = worker->row_sums + r * ulb_kv_padded(d->shape.head_dim);
    for (size_t piece = pieces.begin; piece < pieces.end; piece++) {
        struct meeting m = {.kv_head = i / tiles, .token = first, .piece = piece};
        while (seen_in(d, m.token, piece).end == 0)
            m.token++;
        while (m.token + m.tokens < end && seen_in(d, m.token + m.tokens, piece).end > 0)
            m.tokens++;
        meet(d, worker, &m);
        take_piece(d, worker, &m, worker->sofar + (m.token - first) * group);
    }
}

/* ---- jobs ---- */

struct attention_job {
    struct ulb_decoder *d;
    struct ulb_row_split split;
    void (*run)(struct ulb_decoder *, size_t, struct ulb_worker *);
};

static void attention_part(void *arg, size_t thread)
{
    struct attention_job *job = arg;
    struct ulb_worker *worker = &job->d->workers[thread];
    size_t begin, end;
    ulb_lap(worker, ULB_PART_WAIT);
    while (ulb_split_next(&job->split, thread, &begin, &end)) {
        for (size_t i = begin; i < end; i++)
            job->run(job->d, i, worker);
    }
    ulb_lap(worker, ULB_PART_ATTENTION);
}

static void share(struct ulb_decoder *d, size_t tasks,
                  void (*run)(struct ulb_decoder *, size_t, struct ulb_worker *))
{
    struct attention_job job = {d, ulb_decoder_split(d, tasks, 1), run};
    ulb_team_run(d->options.team, attention_part, &job);
}

static void read_cache(struct ulb_decoder *d)
{
    struct span pieces = pieces_of(d, 0, 0);
    size_t each = tokens_together(d);
    const size_t groups = d->n * d->shape.kv_heads; /* of sequences with one token */
    for (size_t i = 0; i < groups && d->length == 1; i++)
        atomic_store_explicit(&d->pieces_left[i], pieces.end - pieces.begin, memory_order_relaxed);
    if (d->length == 1)
        share(d, groups * (pieces.end - pieces.begin), attend_one);
    else
        share(d, d->shape.kv_heads * ((d->n + each - 1) / each), attend_many);
}

void ulb_decoder_attend(struct ulb_decoder *d)
{
    struct span blocks = blocks_of(d);
    share(d,
          ulb_decoder_sequences(d) * (d->shape.heads + 2 * d->shape.kv_heads) * (blocks.end - blocks.begin),
          place_block);
    read_cache(d);
}

double ulb_decoder_attend_alone(struct ulb_decoder *d, size_t n, size_t position)
{
    double begin = ulb_now();
    d->n = n;
    d->length = 1;
    d->position = position;
    for (d->layer = 0; d->layer < d->shape.layers; d->layer++)
        read_cache(d);
    return ulb_now() - begin;
}
