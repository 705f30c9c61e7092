/* bf16 by vdpbf16ps: pairs of bfloat16 of weights and activations into single precision.
 *
 * Two FMAs in turn, results below 2^-126 flushed to 0 (Intel SDM, VDPBF16PS); activations in bfloat16, which
 * is what its peers take for them. Per 2 columns of a tile of 32 rows: 1 broadcast, 2 loads, 2 products; two
 * halves of K as address streams and two steps in turn make 8 chains. 64 bytes are read for each product:
 * memory is what limits everywhere.
 *
 * 4 tokens share the loads (kernels/x86/float_tokens.h), one half of K after the other, each in the order of
 * one token: of two steps 4 loads, 8 broadcasts, 16 products into 16 sums. */
#include "kernels/bf16/format.h"
#include "kernels/row.h"
#include "kernels/x86/float_tokens.h"

#include <immintrin.h>

enum { ROWS = 32, STEP_BYTES = 128, STREAMS = 2, VECTORS = 2, PREFETCH = 1024, TOKENS = 4 };

static inline __attribute__((always_inline)) void step(const uint8_t *w, const uint16_t *x, __m512 *sums)
{
    int32_t pair;
    __builtin_memcpy(&pair, x, sizeof pair);
    __m512bh both = (__m512bh)_mm512_set1_epi32(pair);
#pragma GCC unroll 2
    for (int i = 0; i < VECTORS; i++) {
        __m512bh weights = (__m512bh)_mm512_loadu_si512(w + 64 * i);
        sums[i] = _mm512_dpbf16_ps(sums[i], weights, both);
        _mm_prefetch((const char *)w + 64 * i + PREFETCH, _MM_HINT_T0);
    }
}

/* One row of tiles and one token: y[32]. */
static inline void tile(const uint8_t *w, const uint16_t *x, size_t steps, float *y)
{
    __m512 sums[2 * STREAMS][VECTORS];
    size_t half = steps / STREAMS;
#pragma GCC unroll 8
    for (int i = 0; i < 2 * STREAMS * VECTORS; i++)
        sums[i / VECTORS][i % VECTORS] = _mm512_setzero_ps();
    for (size_t s = 0; s + 2 <= half; s += 2) {
#pragma GCC unroll 4
        for (size_t i = 0; i < 2 * STREAMS; i++) {
            size_t at = i / 2 * half + s + i % 2;
            step(w + at * STEP_BYTES, x + 2 * at, sums[i]);
        }
    }
    if (half % 2) {
        step(w + (half - 1) * STEP_BYTES, x + 2 * (half - 1), sums[0]);
        step(w + (2 * half - 1) * STEP_BYTES, x + 2 * (2 * half - 1), sums[2]);
    }
    if (steps % STREAMS)
        step(w + (steps - 1) * STEP_BYTES, x + 2 * (steps - 1), sums[1]);
#pragma GCC unroll 2
    for (int i = 0; i < VECTORS; i++)
        _mm512_storeu_ps(y + 16 * i, _mm512_add_ps(_mm512_add_ps(sums[0][i], sums[1][i]),
                                                   _mm512_add_ps(sums[2][i], sums[3][i])));
}

/* Tokens one by one. */
static void run_one(const struct ulb_gemm *g)
{
    const size_t tile_m = ulb_bf16_vnni2.tile_m, steps = ulb_layout_steps(&ulb_bf16_vnni2, g->k);
    for (size_t row = g->m0; row < g->m1; row += tile_m) {
        const uint8_t *w = (const uint8_t *)g->w + row / tile_m * steps * STEP_BYTES;
        for (size_t n = 0; n < g->n; n++) {
            float y[ROWS];
            tile(w, (const uint16_t *)g->x + n * g->x_stride, steps, y);
            __builtin_memcpy(g->y + n * g->y_stride + row, y, ulb_rows_left(g, row, tile_m) * sizeof *y);
        }
    }
}

/* A vector of rows of a step, or of two. */
static inline __attribute__((always_inline)) void load_one(const uint8_t *w, ulb_floats *values)
{
    values[0] = ulb_load_floats(w);
}

static inline __attribute__((always_inline)) void load_two(const uint8_t *w, ulb_floats *values)
{
    values[0] = ulb_load_floats(w);
    values[1] = ulb_load_floats(w + STEP_BYTES);
}

static inline __attribute__((always_inline)) void add(ulb_floats *sum, ulb_floats value, ulb_floats one)
{
    __asm__("vdpbf16ps %[one], %[value], %[sum]" : [sum] "+v"(*sum) : [value] "v"(value), [one] "v"(one));
}

#define TOKENS_ROW(steps, load_)                                                                             \
    {                                                                                                        \
        .rows = ROWS, .vector_bytes = ULB_VEC_BYTES, .step_bytes = (steps)*STEP_BYTES, .streams = 1,         \
        .columns = (steps), .vectors = VECTORS, .tokens = TOKENS, .load = (load_), .add = add                \
    }
static const struct ulb_float_tokens pairs = TOKENS_ROW(2, load_two), single = TOKENS_ROW(1, load_one);

/* Steps [from, from + n) of one row of tiles: totals += their products, with sums of even and of odd ones. */
static inline __attribute__((always_inline)) void add_steps(const struct ulb_gemm *g, const uint8_t *w,
                                                            const float *x, size_t from, size_t n,
                                                            size_t tokens, ulb_float_totals totals)
{
    struct ulb_float_chunk all = {.w = w + from * STEP_BYTES, .x = x + from, .steps = n / 2};
    ulb_float_chunks(&pairs, &all, g->x_stride / 2, tokens, totals);
    all.w += (n - n % 2) * STEP_BYTES;
    all.x += n - n % 2;
    all.steps = n % 2;
    ulb_float_chunks(&single, &all, g->x_stride / 2, tokens, totals);
}

/* The step that is left of two halves, at the end of the first one's odd ones. */
static inline __attribute__((always_inline)) void add_last(const struct ulb_gemm *g, const uint8_t *w,
                                                           const float *x, size_t step, size_t tokens,
                                                           ulb_float_totals totals)
{
    const struct ulb_float_chunk last = {.w = w + step * STEP_BYTES, .x = x + step, .steps = 1};
    ulb_float_totals odd;
    for (size_t t = 0; t < tokens; t++)
        memcpy(odd[t], totals[t] + ROWS, ROWS * sizeof **odd);
    ulb_float_chunks(&single, &last, g->x_stride / 2, tokens, odd);
    for (size_t t = 0; t < tokens; t++)
        memcpy(totals[t] + ROWS, odd[t], ROWS * sizeof **odd);
}

/* One row of tiles, row m on, for tokens [n, n + tokens); a pair of activations is as long as a float. */
static inline __attribute__((always_inline)) void run_rows(const struct ulb_gemm *g, size_t m, size_t n,
                                                           size_t tokens)
{
    const size_t steps = ulb_layout_steps(&ulb_bf16_vnni2, g->k), half = steps / STREAMS;
    const uint8_t *w = (const uint8_t *)g->w + m / ROWS * steps * STEP_BYTES;
    const float *x = (const float *)(const void *)((const uint16_t *)g->x + n * g->x_stride);
    ulb_float_totals totals[STREAMS];
    for (size_t i = 0; i < STREAMS; i++) {
        memset(totals[i], 0, tokens * sizeof *totals[i]);
        add_steps(g, w, x, i * half, half, tokens, totals[i]);
    }
    if (steps % STREAMS)
        add_last(g, w, x, steps - 1, tokens, totals[0]);
    for (size_t t = 0; t < tokens; t++) {
        float *y = g->y + (n + t) * g->y_stride + m;
        for (size_t i = 0; i < ulb_rows_left(g, m, ROWS); i++)
            y[i] = (totals[0][t][i] + totals[0][t][ROWS + i]) + (totals[1][t][i] + totals[1][t][ROWS + i]);
    }
}

static __attribute__((noinline)) void run_tokens(const struct ulb_gemm *g)
{
    for (size_t m = g->m0; m < g->m1; m += ROWS) {
        for (size_t n = 0; n < g->n; n += ULB_FLOAT_BLOCK)
            run_rows(g, m, n, g->n - n < ULB_FLOAT_BLOCK ? g->n - n : ULB_FLOAT_BLOCK);
    }
}

static void run(const struct ulb_gemm *g)
{
    if (g->n == 1 || g->x_stride % 2)
        run_one(g);
    else
        run_tokens(g);
}

const struct ulb_kernel ULB_ROW = {
    .abi = ULB_KERNEL_ABI,
    .variant = "dot",
    .isa = ULB_ROW_ISA,
    .needs = ULB_ROW_NEEDS,
    .layout = &ulb_bf16_vnni2,
    .activation = ULB_ACT_BF16,
    .mr = ROWS,
    .nr = TOKENS,
    .kr = 2,
    .bytes_per_step = 64,
    .tolerance = ULB_FLOAT_TOLERANCE,
    .mix = {.loads = 1,
            .broadcasts = 0.5,
            .prefetches = 1,
            .dot_products = 1,
            .vector_bits = 512,
            .chains = 2 * STREAMS * VECTORS},
    .tile_mix = {.loads = 1,
                 .broadcasts = 0.5 * TOKENS,
                 .prefetches = 1,
                 .dot_products = TOKENS,
                 .vector_bits = 512,
                 .chains = 2 * VECTORS * TOKENS},
    .run = run,
};
