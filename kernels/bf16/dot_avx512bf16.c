/* bf16 by vdpbf16ps: pairs of bfloat16 of weights and activations into single precision.
 *
 * Two FMAs in turn, results below 2^-126 flushed to 0 (Intel SDM, VDPBF16PS); activations in bfloat16, which
 * is what its peers take for them. Per 2 columns of a tile of 32 rows: 1 broadcast, 2 loads, 2 products; two
 * halves of K as address streams and two steps in turn make 8 chains. 64 bytes are read for each product:
 * memory is what limits everywhere. */
#include "kernels/bf16/format.h"
#include "kernels/row.h"

#include <immintrin.h>

enum { STEP_BYTES = 128, STREAMS = 2, VECTORS = 2, PREFETCH = 1024 };

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

static void run(const struct ulb_gemm *g)
{
    const size_t tile_m = ulb_bf16_vnni2.tile_m, steps = ulb_layout_steps(&ulb_bf16_vnni2, g->k);
    for (size_t row = g->m0; row < g->m1; row += tile_m) {
        const uint8_t *w = (const uint8_t *)g->w + row / tile_m * steps * STEP_BYTES;
        for (size_t n = 0; n < g->n; n++) {
            float y[32];
            tile(w, (const uint16_t *)g->x + n * g->x_stride, steps, y);
            __builtin_memcpy(g->y + n * g->y_stride + row, y, ulb_rows_left(g, row, tile_m) * sizeof *y);
        }
    }
}

const struct ulb_kernel ULB_ROW = {
    .abi = ULB_KERNEL_ABI,
    .variant = "dot",
    .isa = ULB_ROW_ISA,
    .needs = ULB_ROW_NEEDS,
    .layout = &ulb_bf16_vnni2,
    .activation = ULB_ACT_BF16,
    .mr = 32,
    .nr = 1,
    .kr = 2,
    .bytes_per_step = 64,
    .tolerance = ULB_FLOAT_TOLERANCE,
    .mix = {.loads = 1,
            .broadcasts = 0.5,
            .prefetches = 1,
            .dot_products = 1,
            .vector_bits = 512,
            .chains = 2 * STREAMS * VECTORS},
    .run = run,
};
