/* bf16 by vdpbf16ps, which multiplies pairs of bfloat16 into single precision. Activations are bfloat16.
 *
 * vdpbf16ps is two FMA, one after the other, and flushes results below 2^-126 to 0 (Intel SDM, VDPBF16PS).
 * Two columns of a tile take a broadcast, two loads and two products. Two halves of K are address streams.
 * Two steps that alternate make eight chains; two rows of tiles side by side make 16. 64 bytes are read for
 * each product, so that memory is the limit everywhere.
 *
 * Four tokens share the loads (kernels/x86/gemm/float.h), one half of K after the other, each in the order of
 * the GEMV. Two steps take four loads, eight broadcasts and 16 products into 16 sums. */
#include "kernels/formats/bf16/format.h"
#include "kernels/microkernel.h"
#include "kernels/x86/gemm/float.h"

#include <immintrin.h>

enum { ROWS = 32, STEP_BYTES = 128, STREAMS = 2, VECTORS = 2, NEAR = 1024, TOKENS = 4 };

/* Step s of row i of tiles. */
static inline __attribute__((always_inline)) void step(const struct ulb_tiles *tiles, size_t i,
                                                       const uint16_t *x, size_t s, __m512 *sums)
{
    const uint8_t *w = tiles->w + i * tiles->tile_distance + s * STEP_BYTES;
    int32_t pair;
    __builtin_memcpy(&pair, x + 2 * s, sizeof pair);
    __m512bh both = (__m512bh)_mm512_set1_epi32(pair);
#pragma GCC unroll 2
    for (size_t v = 0; v < VECTORS; v++) {
        __m512bh weights = (__m512bh)_mm512_loadu_si512(w + 64 * v);
        sums[v] = _mm512_dpbf16_ps(sums[v], weights, both);
        _mm_prefetch((const char *)w + 64 * v + NEAR, _MM_HINT_T0);
    }
}

/* One row of tiles or two, of which each has sums of even and of odd steps of each half of K. */
static inline __attribute__((always_inline)) void sum(const struct ulb_tiles *tiles, size_t count,
                                                      const void *x, float (*y)[ULB_TILE_ROWS_MAX])
{
    const size_t half = tiles->steps / STREAMS, even = half - half % 2;
    __m512 sums[2][2 * STREAMS][VECTORS];
#pragma GCC unroll 16
    for (size_t i = 0; i < count * 2 * STREAMS * VECTORS; i++)
        sums[i / VECTORS / 2 / STREAMS][i / VECTORS % (2 * STREAMS)][i % VECTORS] = _mm512_setzero_ps();
    for (size_t s = 0; s < even; s += 2) {
#pragma GCC unroll 8
        for (size_t i = 0; i < count * 2 * STREAMS; i++) {
            const size_t odd = i / count / STREAMS, stream = i / count % STREAMS;
            step(tiles, i % count, x, stream * half + s + odd, sums[i % count][2 * stream + odd]);
        }
    }
#pragma GCC unroll 2
    for (size_t i = 0; i < count; i++) {
        if (half % 2) {
            step(tiles, i, x, half - 1, sums[i][0]);
            step(tiles, i, x, 2 * half - 1, sums[i][2]);
        }
        if (tiles->steps % STREAMS)
            step(tiles, i, x, tiles->steps - 1, sums[i][1]);
#pragma GCC unroll 2
        for (size_t v = 0; v < VECTORS; v++)
            _mm512_storeu_ps(y[i] + 16 * v, _mm512_add_ps(_mm512_add_ps(sums[i][0][v], sums[i][1][v]),
                                                          _mm512_add_ps(sums[i][2][v], sums[i][3][v])));
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

#define TOKENS_CFG(steps, load_)                                                                             \
    {                                                                                                        \
        .rows = ROWS, .vector_bytes = ULB_VEC_BYTES, .step_bytes = (steps)*STEP_BYTES, .streams = 1,         \
        .columns = (steps), .vectors = VECTORS, .tokens = TOKENS, .load = (load_), .add = ulb_add_pair       \
    }
static const struct ulb_float_cfg pairs = TOKENS_CFG(2, load_two), single = TOKENS_CFG(1, load_one);

/* The runs of K: each half with sums of its own, of even and of odd steps. The step that is left of two
 * halves comes at the end of the first one's odd ones. A pair of activations is as long as a float. */
static inline __attribute__((always_inline)) void
runs(const struct ulb_float_gemm *gemm, const struct ulb_gemm_block *block, struct ulb_float_n_block *n_block)
{
    const size_t steps = block->steps, half = steps / STREAMS;
    const uint8_t *w = ulb_float_panel(gemm, block);
    const float *x =
        (const float *)(const void *)((const uint16_t *)block->g->x + block->n * block->g->x_stride);
    for (size_t i = 0; i < STREAMS; i++) {
        const size_t at = i * half, odd = at + half - half % 2;
        float *totals = n_block->totals[i][0];
        ulb_add_float_run(n_block,
                          (struct ulb_float_k_block){
                              .w = w + at * STEP_BYTES, .x = x + at, .totals = totals, .steps = half / 2});
        ulb_add_float_run(
            n_block,
            (struct ulb_float_k_block){
                .w = w + odd * STEP_BYTES, .x = x + odd, .totals = totals, .steps = half % 2, .rest = true});
    }
    ulb_add_float_run(n_block, (struct ulb_float_k_block){.w = w + (steps - 1) * STEP_BYTES,
                                                          .x = x + steps - 1,
                                                          .totals = n_block->totals[0][0] + ROWS,
                                                          .steps = steps % STREAMS,
                                                          .rest = true});
}

ULB_FLOAT_PASSES(pass_pairs, pairs, TOKENS)
ULB_FLOAT_PASSES(pass_single, single, TOKENS)
static const struct ulb_float_gemm gemm = {&pairs,          &single, pass_pairs, pass_single,
                                           &ulb_bf16_vnni2, STREAMS, runs};

static __attribute__((noinline)) void run_tokens(const struct ulb_gemm *g)
{
    ulb_run_float_gemm(&gemm, g, g->x_stride / 2);
}

static void run(const struct ulb_gemm *g)
{
    if (g->n == 1 || g->x_stride % 2)
        ulb_run_float_tiles(g, &ulb_bf16_vnni2, true, sizeof(uint16_t), sum);
    else
        run_tokens(g);
}

const struct ulb_kernel ULB_KERNEL = {
    .abi = ULB_KERNEL_ABI,
    .variant = "dot",
    .isa = ULB_KERNEL_ISA,
    .needs = ULB_KERNEL_NEEDS,
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
