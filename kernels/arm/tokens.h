/* Several tokens at once by matrix products: smmla and usmmla multiply 2 rows of 8 weights by 2 tokens of 8
 * activations, twice what sdot does in an instruction. Included after LAYOUT, FIELDS of a byte (1, 2, 4 or
 * 8), FACTOR and ZERO_POINT as for kernels/arm/fields.h.
 *
 * A tile is 16 rows of 8 columns: 8 / FIELDS vectors of bytes, 8 columns of two rows in each; field f of lane
 * l is row f * 16 / FIELDS + l. usmmla takes unsigned weights, so that fields stay where they are and the top
 * one is the whole byte, as on x86 (kernels/x86/tokens.h): |x.w| <= 255 * 128 * K < 2^31. Bytes of one field
 * are values: smmla. Registers: 8 accumulators for each pair of tokens, two pairs, two vectors of
 * activations. Tokens that do not fill the tile are the last one again, whose results are dropped. Ports per
 * 32 weights and 4 tokens: 4 matrix products, 2 - 2/FIELDS and, on four pipes 1 to 1.4 cycles. */
#ifndef ULB_KERNELS_ARM_TOKENS_H
#define ULB_KERNELS_ARM_TOKENS_H

#include "kernels/row.h"

#include <arm_neon.h>

enum {
    ROWS = ULB_PAIRS_ROWS,
    LANES = ROWS / FIELDS,
    VECTORS = LANES / 2,
    BITS = 8 / FIELDS,
    PAIRS = 2, /* of tokens */
    NEAR = 1024
};

static inline int32x4_t multiply(int32x4_t sum, uint8x16_t weights, int8x16_t x)
{
#if FIELDS == 1
    return vmmlaq_s32(sum, vreinterpretq_s8_u8(weights), x);
#else
    return vusmmlaq_s32(sum, weights, x);
#endif
}

/* One tile for so many pairs of tokens, whose activations are at x. */
static inline __attribute__((always_inline)) void step(const uint8_t *w, const int8_t *const *x, size_t k,
                                                       size_t pairs, int32x4_t (*sums)[VECTORS * FIELDS])
{
    int8x16_t two[PAIRS];
#pragma GCC unroll 2
    for (size_t p = 0; p < pairs; p++)
        two[p] = vcombine_s8(vld1_s8(x[2 * p] + k), vld1_s8(x[2 * p + 1] + k));
#pragma GCC unroll 8
    for (size_t v = 0; v < VECTORS; v++) {
        uint8x16_t packed = vld1q_u8(w + 16 * v);
#pragma GCC unroll 8
        for (size_t f = 0; f < FIELDS; f++) {
            uint8_t mask = (uint8_t)(((1u << BITS) - 1) << f * BITS);
            uint8x16_t field = f + 1 == FIELDS ? packed : vandq_u8(packed, vdupq_n_u8(mask));
#pragma GCC unroll 2
            for (size_t p = 0; p < pairs; p++)
                sums[p][v * FIELDS + f] = multiply(sums[p][v * FIELDS + f], field, two[p]);
        }
    }
#pragma GCC unroll 2
    for (size_t line = 0; line < 16 * VECTORS; line += 64)
        __builtin_prefetch(w + line + NEAR, 0, 3);
}

/* The dot products of token t of a pair, from sums of fields at their places. */
static inline __attribute__((always_inline)) void dots_of(const int32x4_t *sums, size_t t, int32_t *dots)
{
    for (size_t v = 0; v < VECTORS; v++) {
        uint32_t whole[2] = {0, 0};
        for (size_t f = 0; f < FIELDS; f++) {
            int32_t four[4];
            vst1q_s32(four, sums[v * FIELDS + f]);
            for (size_t i = 0; i < 2; i++) {
                uint32_t sum = (uint32_t)four[2 * i + t];
                if (f + 1 == FIELDS)
                    sum -= whole[i];
                whole[i] += sum;
                dots[f * LANES + 2 * v + i] = FACTOR * ((int32_t)sum >> BITS * f);
            }
        }
    }
}

/* One row of tiles for tokens [n, n + tokens), at most as many as the pairs hold. */
static inline __attribute__((always_inline)) void tile(const struct ulb_gemm *g,
                                                       const struct ulb_tiles *tiles, size_t row, size_t n,
                                                       size_t tokens, size_t pairs)
{
    int32x4_t sums[PAIRS][VECTORS * FIELDS];
    const int8_t *x[2 * PAIRS];
    const float *w_scale = ulb_row_scales(g, &LAYOUT);
#pragma GCC unroll 4
    for (size_t t = 0; t < 2 * pairs; t++)
        x[t] = (const int8_t *)g->x + (n + (t < tokens ? t : tokens - 1)) * g->x_stride;
#pragma GCC unroll 2
    for (size_t p = 0; p < pairs; p++) {
#pragma GCC unroll 8
        for (size_t i = 0; i < VECTORS * FIELDS; i++)
            sums[p][i] = vdupq_n_s32(0);
    }
    for (size_t s = 0; s < tiles->steps; s++) {
#pragma GCC unroll 2
        for (size_t i = 0; i < ULB_PAIRS_SLICES; i++)
            step(tiles->w + i * tiles->slice_bytes + s * VECTORS * 16, x,
                 (i * tiles->steps + s) * ULB_PAIRS_COLUMNS, pairs, sums);
    }
#pragma GCC unroll 4
    for (size_t t = 0; t < 2 * pairs; t++) {
        int32_t dots[ROWS];
        if (t >= tokens)
            break;
        dots_of(sums[t / 2], t % 2, dots);
        ulb_finish_tile(g, w_scale, row, ROWS, n + t, dots, ZERO_POINT);
    }
}

static void run(const struct ulb_gemm *g)
{
    struct ulb_tiles tiles = {.slice_bytes = ulb_layout_slice_bytes(&LAYOUT, g->m, g->k),
                              .steps = ulb_layout_steps(&LAYOUT, g->k)};
    for (size_t row = g->m0; row < g->m1; row += ROWS) {
        tiles.w = (const uint8_t *)g->w + row / ROWS * tiles.steps * VECTORS * 16;
        size_t n = 0;
        for (; n + 2 < g->n; n += 2 * PAIRS)
            tile(g, &tiles, row, n, g->n - n < 2 * PAIRS ? g->n - n : 2 * PAIRS, PAIRS);
        if (n < g->n)
            tile(g, &tiles, row, n, g->n - n, 1);
    }
}

/* The mix is that of one token, as gamma is: a pair with half of its results dropped. */
const struct ulb_kernel ULB_ROW = {
    .abi = ULB_KERNEL_ABI,
    .variant = FIELDS == 1 ? "dotn" : "maskn",
    .isa = ULB_ROW_ISA,
    .needs = ULB_ROW_NEEDS,
    .layout = &LAYOUT,
    .activation = ULB_ACT_A8,
    .mr = ROWS,
    .nr = 2 * PAIRS,
    .kr = ULB_PAIRS_COLUMNS * ULB_PAIRS_SLICES,
    .bytes_per_step = 4 * BITS,
    .mix = {.loads = VECTORS / 4.0 + 0.5,
            .prefetches = BITS / 16.0,
            .logic = (8 - VECTORS) / 4.0,
            .matrix_products = 2,
            .vector_bits = 128,
            .chains = VECTORS * FIELDS},
    .run = run,
};

#endif
