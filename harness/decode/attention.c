#include "harness/decode/decoder_private.h"

#include <math.h>
#include <string.h>

static size_t positions_seen(const struct ulb_decoder *d, size_t token)
{
    return d->position + token + 1;
}

static size_t pieces_of(size_t positions)
{
    return (positions + ULB_KV_PIECE - 1) / ULB_KV_PIECE;
}

static size_t cache_at(const struct ulb_decoder *d, size_t kv_head, size_t position)
{
    return ((d->layer * d->shape.kv_heads + kv_head) * d->options.positions + position) * d->shape.head_dim;
}

/* Head j of a token's q, k, v: queries are rotated and scaled in place, keys and values go to the cache. */
static void place_head(struct ulb_decoder *d, size_t token, size_t j)
{
    const struct ulb_decoder_shape *shape = &d->shape;
    const struct ulb_vector_ops *ops = d->options.ops;
    size_t position = d->position + token, half = shape->rope_dims / 2, dims = shape->head_dim;
    float *head = d->qkv + (token * (shape->heads + 2 * shape->kv_heads) + j) * dims;
    if (j < shape->heads + shape->kv_heads && shape->qk_norm)
        ops->rms_norm(head, d->weights.qk_gain, dims, head);
    if (j < shape->heads + shape->kv_heads)
        ops->rotate(head, d->cosine + position * half, d->sine + position * half, half);
    if (j < shape->heads)
        ops->scale(head, dims, 1 / sqrtf((float)dims));
    else if (j < shape->heads + shape->kv_heads)
        ops->to_bf16(head, dims, d->keys + cache_at(d, j - shape->heads, position));
    else
        ops->to_bf16(head, dims, d->values + cache_at(d, j - shape->heads - shape->kv_heads, position));
}

struct attention_job {
    struct ulb_decoder *d;
    struct ulb_row_split split;
};

static void place_part(void *arg, size_t thread)
{
    struct attention_job *job = arg;
    struct ulb_worker *worker = &job->d->workers[thread];
    size_t begin, end, heads = job->d->shape.heads + 2 * job->d->shape.kv_heads;
    ulb_lap(worker, ULB_PART_WAIT);
    while (ulb_split_next(&job->split, thread, &begin, &end)) {
        for (size_t i = begin; i < end; i++)
            place_head(job->d, i / heads, i % heads);
    }
    ulb_lap(worker, ULB_PART_ATTENTION);
}

/* One head over one piece of what the token sees. */
static struct ulb_partial attend_piece(const struct ulb_decoder *d, size_t token, size_t head, size_t piece,
                                       float *scores, float *out)
{
    const struct ulb_decoder_shape *shape = &d->shape;
    const struct ulb_vector_ops *ops = d->options.ops;
    size_t dims = shape->head_dim, kv_head = head / (shape->heads / shape->kv_heads);
    size_t first = piece * ULB_KV_PIECE, left = positions_seen(d, token) - first;
    size_t n = left < ULB_KV_PIECE ? left : ULB_KV_PIECE, at = cache_at(d, kv_head, first);
    const float *q = d->qkv + (token * (shape->heads + 2 * shape->kv_heads) + head) * dims;
    struct ulb_partial partial;
    ops->dot_rows(q, d->keys + at, n, dims, scores);
    partial.sum = ops->soften(scores, n, &partial.largest);
    ops->sum_rows(scores, d->values + at, n, dims, out);
    return partial;
}

/* Adds a further piece to what the pieces before it came to. */
static void add_piece(const struct ulb_decoder *d, struct ulb_partial *sofar, float *out,
                      const struct ulb_partial *piece, const float *values)
{
    float largest = fmaxf(sofar->largest, piece->largest);
    float keep = expf(sofar->largest - largest), take = expf(piece->largest - largest);
    d->options.ops->scale(out, d->shape.head_dim, keep);
    d->options.ops->add_scaled(out, values, take, d->shape.head_dim);
    *sofar = (struct ulb_partial){largest, keep * sofar->sum + take * piece->sum};
}

void ulb_decoder_merge(const struct ulb_decoder *d, float *out)
{
    size_t heads = d->shape.heads, dims = d->shape.head_dim, pieces = pieces_of(positions_seen(d, 0));
    for (size_t head = 0; head < heads; head++) {
        struct ulb_partial sofar = d->partials[head];
        memcpy(out + head * dims, d->attended + head * dims, dims * sizeof *out);
        for (size_t i = heads + head; i < pieces * heads; i += heads)
            add_piece(d, &sofar, out + head * dims, &d->partials[i], d->attended + i * dims);
        d->options.ops->scale(out + head * dims, dims, 1 / sofar.sum);
    }
}

/* One token: heads and pieces apart. */
static void attend_one(struct ulb_decoder *d, size_t i, struct ulb_worker *worker)
{
    size_t heads = d->shape.heads;
    d->partials[i] =
        attend_piece(d, 0, i % heads, i / heads, worker->scores, d->attended + i * d->shape.head_dim);
}

/* Many tokens: all pieces of one head of one token, in the same order. */
static void attend_many(struct ulb_decoder *d, size_t i, struct ulb_worker *worker)
{
    size_t heads = d->shape.heads, dims = d->shape.head_dim, token = i / heads;
    float *out = d->attended + i * dims;
    struct ulb_partial sofar = attend_piece(d, token, i % heads, 0, worker->scores, out);
    for (size_t piece = 1; piece < pieces_of(positions_seen(d, token)); piece++) {
        struct ulb_partial next = attend_piece(d, token, i % heads, piece, worker->scores, worker->scratch);
        add_piece(d, &sofar, out, &next, worker->scratch);
    }
    d->options.ops->scale(out, dims, 1 / sofar.sum);
}

static void attend_part(void *arg, size_t thread)
{
    struct attention_job *job = arg;
    struct ulb_worker *worker = &job->d->workers[thread];
    size_t begin, end;
    ulb_lap(worker, ULB_PART_WAIT);
    while (ulb_split_next(&job->split, thread, &begin, &end)) {
        for (size_t i = begin; i < end; i++)
            (job->d->n == 1 ? attend_one : attend_many)(job->d, i, worker);
    }
    ulb_lap(worker, ULB_PART_ATTENTION);
}

static void read_cache(struct ulb_decoder *d)
{
    const struct ulb_decoder_shape *shape = &d->shape;
    size_t tasks = d->n == 1 ? shape->heads * pieces_of(positions_seen(d, 0)) : d->n * shape->heads;
    struct attention_job attend = {d, ulb_decoder_split(d, tasks, 1)};
    ulb_team_run(d->options.team, attend_part, &attend);
}

void ulb_decoder_attend(struct ulb_decoder *d)
{
    size_t heads = d->n * (d->shape.heads + 2 * d->shape.kv_heads);
    struct attention_job place = {d, ulb_decoder_split(d, heads, 1)};
    ulb_team_run(d->options.team, place_part, &place);
    read_cache(d);
}

double ulb_decoder_attend_alone(struct ulb_decoder *d, size_t position)
{
    double begin = ulb_now();
    d->n = 1;
    d->position = position;
    for (d->layer = 0; d->layer < d->shape.layers; d->layer++) {
        read_cache(d);
        ulb_decoder_merge(d, d->workers[0].scratch);
    }
    return ulb_now() - begin;
}
