#include "harness/decode/weights.h"

#include "common/bf16.h"
#include "common/rng.h"
#include "harness/verify/test_case.h"
#include "harness/compute/parallel_gemm.h"
#include "harness/session/interrupted.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { EMBEDDINGS_MAX = 1024, HEAD_ROWS_CHECKED = 8192 };

static size_t matrix_bytes(const struct ulb_decoder_shape *shape,
                           const struct ulb_kernel_choice choices[ULB_LINEARS], enum ulb_linear linear)
{
    return ulb_layout_bytes(choices[linear].kernel->layout, ulb_linear_rows(shape, linear),
                            ulb_linear_columns(shape, linear));
}

size_t ulb_weights_layer_bytes(const struct ulb_decoder_shape *shape,
                               const struct ulb_kernel_choice choices[ULB_LINEARS])
{
    size_t bytes = 0;
    for (int linear = 0; linear < ULB_HEAD; linear++) {
        size_t count = ulb_linear_count(shape, (enum ulb_linear)linear);
        bytes += count ? count * matrix_bytes(shape, choices, (enum ulb_linear)linear) : 0;
    }
    return bytes;
}

size_t ulb_weights_head_bytes(const struct ulb_decoder_shape *shape,
                              const struct ulb_kernel_choice choices[ULB_LINEARS])
{
    return matrix_bytes(shape, choices, ULB_HEAD);
}

size_t ulb_weights_making_bytes(const struct ulb_decoder_shape *shape,
                                const struct ulb_kernel_choice choices[ULB_LINEARS])
{
    size_t most = 0;
    for (int linear = 0; linear < ULB_HEAD; linear++) {
        size_t values = ulb_linear_count(shape, (enum ulb_linear)linear) == 0
                            ? 0
                            : ulb_linear_rows(shape, (enum ulb_linear)linear) *
                                  ulb_linear_columns(shape, (enum ulb_linear)linear);
        /* Values, and the copy that the scalar reference reads. */
        size_t bytes = values * sizeof(int16_t) + values * (choices[linear].kernel ? 2 : 0);
        most = bytes > most ? bytes : most;
    }
    return most;
}

/* ---- head, embedding, gains ---- */

struct fill {
    uint64_t *words;
    size_t n, threads;
    uint64_t seed;
};

/* bfloat16 in [-1, 1), four from one draw; each stretch of 512 words has a generator of its own, so that the
 * numbers do not depend on the threads. */
static void fill_part(void *arg, size_t thread)
{
    enum { STRETCH = 512 };
    struct fill *fill = arg;
    size_t stretches = (fill->n + STRETCH - 1) / STRETCH;
    size_t first = stretches * thread / fill->threads, end = stretches * (thread + 1) / fill->threads;
    size_t words = end * STRETCH < fill->n ? end * STRETCH : fill->n;
    ulb_pages_back(fill->words + first * STRETCH, (words - first * STRETCH) * sizeof *fill->words);
    for (size_t s = first; s < end; s++) {
        struct ulb_rng seeds = {fill->seed ^ s << 20}, rng = {ulb_rng_next(&seeds)};
        for (size_t i = s * STRETCH; i < (s + 1) * STRETCH && i < fill->n; i++) {
            uint64_t draw = ulb_rng_next(&rng), word = 0;
            for (unsigned shift = 0; shift < 64; shift += 16) {
                float value = (float)(draw >> shift & 0xFFFF) / 32768.0f - 1.0f;
                word |= (uint64_t)ulb_bf16_from_float(value) << shift;
            }
            fill->words[i] = word;
        }
    }
}

static void fill_bf16(struct ulb_team *team, void *data, size_t bytes, uint64_t seed)
{
    struct fill fill = {data, bytes / sizeof(uint64_t), ulb_team_size(team), seed};
    ulb_team_run(team, fill_part, &fill);
}

static size_t gain_bytes(const struct ulb_decoder_shape *shape)
{
    size_t bytes = ulb_round_up(shape->head_dim * sizeof(float), ULB_CACHE_LINE);
    for (int linear = 0; linear < ULB_LINEARS; linear++)
        bytes +=
            ulb_round_up(ulb_linear_columns(shape, (enum ulb_linear)linear) * sizeof(float), ULB_CACHE_LINE);
    return bytes;
}

static float *fill_gains(float *gain, size_t n, double mean, uint64_t seed)
{
    struct ulb_rng rng = {seed};
    for (size_t i = 0; i < n; i++)
        gain[i] = (float)(mean * (1 + 0.25 * (double)ulb_rng_float(&rng)));
    return gain + ulb_round_up(n * sizeof *gain, ULB_CACHE_LINE) / sizeof *gain;
}

/* Gains of all norms; those in front of a kind of matrix are about 1 / what it makes of normed inputs. */
static void set_gains(struct ulb_weight_store *store, const struct ulb_decoder_shape *shape,
                      const double growth[ULB_LINEARS], uint64_t seed)
{
    float *at = store->rest.data;
    store->weights.qk_gain = at;
    at = fill_gains(at, shape->head_dim, 1, seed);
    for (int linear = 0; linear < ULB_LINEARS; linear++) {
        store->weights.gain[linear] = at;
        at = fill_gains(at, ulb_linear_columns(shape, (enum ulb_linear)linear), 1 / growth[linear],
                        seed + 1 + (uint64_t)linear);
    }
}

static double root_mean_square(const float *x, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += (double)x[i] * (double)x[i];
    return sqrt(sum / (double)n);
}

static size_t embeddings_of(const struct ulb_decoder_shape *shape)
{
    return shape->vocab < EMBEDDINGS_MAX ? shape->vocab : EMBEDDINGS_MAX;
}

size_t ulb_weights_rest_bytes(const struct ulb_decoder_shape *shape)
{
    size_t embedding = embeddings_of(shape) * shape->hidden * sizeof(uint16_t);
    return gain_bytes(shape) + ulb_round_up(embedding, ULB_CACHE_LINE);
}

enum ulb_status ulb_weights_open(struct ulb_weight_store *store, const struct ulb_decoder_shape *shape,
                                 const struct ulb_kernel_choice choices[ULB_LINEARS], struct ulb_team *team,
                                 uint64_t seed, struct ulb_error *err)
{
    *store = (struct ulb_weight_store){0};
    size_t gains = gain_bytes(shape), rest = ulb_weights_rest_bytes(shape);
    enum ulb_status status =
        ulb_pages_map(&store->head, ulb_weights_head_bytes(shape, choices), ULB_PAGES_HUGE, err);
    if (status == ULB_OK)
        status = ulb_pages_map(&store->rest, rest, ULB_PAGES_HUGE, err);
    if (status != ULB_OK)
        return status;
    fill_bf16(team, store->head.data, store->head.bytes, seed);
    fill_bf16(team, (char *)store->rest.data + gains, rest - gains, seed + 1);
    store->weights.head = store->head.data;
    store->weights.embedding = (const uint16_t *)(const void *)((char *)store->rest.data + gains);
    store->weights.embeddings = embeddings_of(shape);
    return ULB_OK;
}

/* ---- blocks ---- */

struct copy {
    char *from;
    size_t bytes, distance, count, threads;
};

static void copy_part(void *arg, size_t thread)
{
    struct copy *copy = arg;
    size_t begin = copy->bytes / copy->threads * thread;
    size_t end = thread + 1 == copy->threads ? copy->bytes : copy->bytes / copy->threads * (thread + 1);
    for (size_t i = 1; i < copy->count; i++) {
        char *to = copy->from + i * copy->distance + begin;
        ulb_pages_back(to, end - begin);
        memcpy(to, copy->from + begin, end - begin);
    }
}

static void copy_on(struct ulb_team *team, char *from, size_t bytes, size_t distance, size_t count)
{
    struct copy copy = {from, bytes, distance, count, ulb_team_size(team)};
    ulb_team_run(team, copy_part, &copy);
}

/* A random matrix of one kind, packed to where it goes and checked there; growth is what it makes of inputs.
 */
static enum ulb_status make_matrix(const struct ulb_decoder_shape *shape, enum ulb_linear linear,
                                   const struct ulb_kernel_choice *choice, struct ulb_team *team,
                                   const struct ulb_settings *settings, const double *rates, void *packed,
                                   double *growth, struct ulb_error *err)
{
    const struct ulb_kernel *kernel = choice->kernel;
    struct ulb_test_case test_case;
    size_t m = ulb_linear_rows(shape, linear), k = ulb_linear_columns(shape, linear);
    m = linear == ULB_HEAD && m > HEAD_ROWS_CHECKED ? HEAD_ROWS_CHECKED : m;
    enum ulb_status status = ulb_test_case_open(&test_case, kernel, m, k, ULB_FILL_RANDOM,
                                                settings->seed + 2 + (uint64_t)linear, team, err);
    if (status != ULB_OK)
        return status;
    struct ulb_tile_range *ranges = aligned_alloc(64, ulb_team_size(team) * sizeof *ranges);
    float *y = calloc(m, sizeof *y);
    struct ulb_pages scratch = {0};
    if (!ranges || !y)
        status = ulb_fail(err, ULB_ENVIRONMENT, "not enough memory to check a matrix of %zu rows", m);
    else if (!packed)
        status = ulb_pages_map(&scratch, ulb_layout_bytes(kernel->layout, m, k), ULB_PAGES_HUGE, err);
    if (status == ULB_OK) {
        packed = packed ? packed : scratch.data;
        ulb_test_case_pack(&test_case, kernel->layout, packed, team);
        struct ulb_row_split split =
            ulb_split_of(settings->splits[0], m, kernel->mr, ulb_team_size(team), rates, ranges);
        struct ulb_team_gemm job = {kernel, ulb_test_case_gemm(&test_case, packed, y), &split};
        job.gemm.prefetch = choice->prefetch;
        ulb_team_gemm_run(team, &job);
        status = ulb_test_case_check(&test_case, kernel, y, err);
        *growth = root_mean_square(y, m) / root_mean_square(test_case.xf, k);
    }
    ulb_pages_unmap(&scratch);
    free(ranges);
    free(y);
    ulb_test_case_close(&test_case);
    return status;
}

static void lay_out(struct ulb_weight_store *store, const struct ulb_decoder_shape *shape,
                    const struct ulb_kernel_choice choices[ULB_LINEARS])
{
    size_t at = 0;
    for (int linear = 0; linear < ULB_LINEARS; linear++) {
        size_t count = ulb_linear_count(shape, (enum ulb_linear)linear);
        store->weights.kernel[linear] = count ? choices[linear].kernel : NULL;
        store->weights.prefetch[linear] = choices[linear].prefetch;
        store->weights.bytes[linear] = count ? matrix_bytes(shape, choices, (enum ulb_linear)linear) : 0;
        store->weights.offset[linear] = linear == ULB_HEAD ? 0 : at;
        at += linear == ULB_HEAD ? 0 : count * store->weights.bytes[linear];
    }
    store->weights.layer_bytes = at;
}

enum ulb_status ulb_weights_fill(struct ulb_weight_store *store, const struct ulb_decoder_shape *shape,
                                 const struct ulb_kernel_choice choices[ULB_LINEARS], struct ulb_team *team,
                                 const struct ulb_settings *settings, const double *rates,
                                 struct ulb_error *err)
{
    lay_out(store, shape, choices);
    size_t layer_bytes = store->weights.layer_bytes;
    enum ulb_status status = ulb_pages_map(&store->blocks, layer_bytes * shape->layers, ULB_PAGES_HUGE, err);
    if (status != ULB_OK)
        return status;
    char *blocks = store->blocks.data;
    store->weights.blocks = blocks;
    double growth[ULB_LINEARS] = {1, 1, 1, 1, 1, 1};
    for (int linear = 0; linear < ULB_LINEARS && status == ULB_OK; linear++) {
        char *at = linear == ULB_HEAD ? NULL : blocks + store->weights.offset[linear];
        size_t count = ulb_linear_count(shape, (enum ulb_linear)linear), bytes = store->weights.bytes[linear];
        if (count == 0)
            continue;
        status = make_matrix(shape, (enum ulb_linear)linear, &choices[linear], team, settings, rates, at,
                             &growth[linear], err);
        if (status == ULB_OK && at)
            copy_on(team, at, bytes, bytes, count);
        if (status == ULB_OK)
            status = ulb_check_interrupted(err);
    }
    if (status == ULB_OK)
        copy_on(team, blocks, layer_bytes, layer_bytes, shape->layers);
    set_gains(store, shape, growth, settings->seed);
    return status;
}

void ulb_weights_empty(struct ulb_weight_store *store)
{
    ulb_pages_unmap(&store->blocks);
}

void ulb_weights_close(struct ulb_weight_store *store)
{
    ulb_pages_unmap(&store->blocks);
    ulb_pages_unmap(&store->head);
    ulb_pages_unmap(&store->rest);
}
