/* GEMM by matrix products. smmla and usmmla multiply two rows of eight weights by two tokens of eight
 * activations, twice the work of sdot. Written once for NEON and for SVE of any length; each 128 bits of SVE
 * are one such product. A file includes this header after it defines LAYOUT (prefix of its mmla layouts),
 * FIELDS of a byte (1, 2, 4 or 8), FACTOR and ZERO_POINT, as for kernels/arm/gemv/fields.h.
 *
 * usmmla takes unsigned weights. Fields therefore stay in their places, and the top field is the whole byte,
 * as on x86 (kernels/x86/gemm/field_tile.h). Bytes of one field are values and use smmla.
 * `|x.w| <= 255 * 128 * K < 2^31` up to `K = 65,536`.
 * trn turns 16 activations of two tokens into two operands. Passes over the lanes of a tile are as in
 * kernels/arm/gemv/k_slices.h. Registers: eight accumulators for each of two pairs of tokens, four vectors of
 * activations, up to 7 masks. If tokens do not fill the tile, the last token repeats, and its extra results
 * are dropped. */
#ifndef ULB_KERNELS_ARM_GEMM_MMLA_H
#define ULB_KERNELS_ARM_GEMM_MMLA_H

/* Sum n of each pair of tokens += products of the bytes with the q-th 8 of their activations. */
#define ULB_DOT(set, n, bytes, q)                                                                            \
    {                                                                                                        \
        const ulb_bytes weights = bytes;                                                                     \
        a##n = MULTIPLY(a##n, weights, xa##q);                                                               \
        if (token_pairs > 1)                                                                                 \
            b##n = MULTIPLY(b##n, weights, xb##q);                                                           \
    }
#if FIELDS == 1
#define MULTIPLY(sum, weights, x) ulb_multiply_signed(sum, weights, x)
#else
#define MULTIPLY(sum, weights, x) ulb_multiply_unsigned(sum, weights, x)
#endif

#include "kernels/arm/gemv/field_steps.h"
#include "kernels/arm/simd/vec.h"
#include "kernels/pack/mmla_tile.h"
#include "kernels/microkernel.h"

enum {
    ROWS = ULB_BY_ISA(ULB_MMLA_ROWS_SHORT, ULB_MMLA_ROWS_LONG),
    LANES = ROWS / FIELDS,
    PLANE = ULB_MMLA_K * LANES, /* bytes of 8 columns */
    TILE = ULB_MMLA_COLUMNS / ULB_MMLA_K * PLANE,
    BITS = 8 / FIELDS,
    TOKEN_PAIRS = 2, /* of tokens */
    NEAR = 1024
};

/* The layout of a format. */
#define MMLA_OF(format)   MMLA_OF_2(format)
#define MMLA_OF_2(format) ULB_BY_ISA(format##_mmla_16, format##_mmla_128)

/* Sums of the tokens of a pair: [FIELDS][lanes][2]. */
typedef int32_t pair_sums[2 * ROWS];

#define ULB_VECTOR_AT(i, w) ulb_load(mask##i, (w) + (i)*ulb_vec_bytes())

#define DECLARE(i)      ulb_ints a##i = ulb_no_ints(), b##i = ulb_no_ints();
#define DECLARE_MASK(i) const ulb_mask mask##i = ulb_bytes_left(at + (i)*ulb_vec_bytes(), PLANE);
#define STORE(i)                                                                                             \
    {                                                                                                        \
        const size_t first = at / 4 + (i) / FIELDS * ulb_lanes();                                            \
        if (first < 2 * LANES) {                                                                             \
            const ulb_mask left = ulb_lanes_left(first, 2 * LANES);                                          \
            ulb_store_ints(left, sums[0] + (i) % FIELDS * 2 * LANES + first, a##i);                          \
            if (token_pairs > 1)                                                                             \
                ulb_store_ints(left, sums[1] + (i) % FIELDS * 2 * LANES + first, b##i);                      \
        }                                                                                                    \
    }

/* The lanes from byte `at` of one row of tiles for some pairs of tokens, whose activations are at x. */
static inline __attribute__((always_inline)) void pass(const struct ulb_tiles *tiles, const int8_t *const *x,
                                                       size_t token_pairs, size_t at, pair_sums *sums)
{
    SUMS(DECLARE)
    VECTORS(DECLARE_MASK)
    MASKS
    for (size_t s = 0; s < tiles->steps; s++) {
#pragma GCC unroll 2
        for (size_t i = 0; i < ULB_MMLA_SLICES; i++) {
            const uint8_t *w = tiles->w + i * tiles->slice_bytes + s * TILE + at;
            const size_t k = (i * tiles->steps + s) * ULB_MMLA_COLUMNS;
            const ulb_bytes even = ulb_load16(x[0] + k), odd = ulb_load16(x[1] + k);
            const ulb_bytes xa0 = ulb_first_halves(even, odd), xa1 = ulb_second_halves(even, odd);
            ulb_bytes xb0 = xa0, xb1 = xa1;
            if (token_pairs > 1) {
                const ulb_bytes third = ulb_load16(x[2] + k), fourth = ulb_load16(x[3] + k);
                xb0 = ulb_first_halves(third, fourth);
                xb1 = ulb_second_halves(third, fourth);
            }
            STEP(, w, 0)
            STEP(, w + PLANE, 1)
            for (size_t line = 0; at == 0 && line < TILE; line += 64)
                __builtin_prefetch(w + line + NEAR, 0, 3);
        }
    }
    SUMS(STORE)
}

/* The dot products of token t of a pair, from sums of fields at their places. */
static inline __attribute__((always_inline)) void dots_of(const int32_t *sums, size_t t, int32_t *dots)
{
    for (size_t lane = 0; lane < LANES; lane++) {
        uint32_t lower = 0;
        for (size_t f = 0; f < FIELDS; f++) {
            uint32_t sum = (uint32_t)sums[(f * LANES + lane) * 2 + t];
            if (f + 1 == FIELDS)
                sum -= lower;
            lower += sum;
            dots[f * LANES + lane] = FACTOR * ((int32_t)sum >> BITS * f);
        }
    }
}

/* One row of tiles for tokens [n, n + tokens), at most as many as the pairs hold. */
static inline __attribute__((always_inline)) void tile(const struct ulb_gemm *g,
                                                       const struct ulb_tiles *tiles, size_t row, size_t n,
                                                       size_t tokens, size_t token_pairs)
{
    pair_sums sums[TOKEN_PAIRS];
    const int8_t *x[2 * TOKEN_PAIRS];
    const float *w_scale = ulb_row_scales(g, &MMLA_OF(LAYOUT));
#pragma GCC unroll 4
    for (size_t t = 0; t < 2 * token_pairs; t++)
        x[t] = (const int8_t *)g->x + (n + (t < tokens ? t : tokens - 1)) * g->x_stride;
    for (size_t at = 0; at < PLANE; at += (0 VECTORS(ULB_COUNT)) * ulb_vec_bytes())
        pass(tiles, x, token_pairs, at, sums);
#pragma GCC unroll 4
    for (size_t t = 0; t < 2 * token_pairs; t++) {
        int32_t dots[ROWS];
        if (t >= tokens)
            break;
        dots_of(sums[t / 2], t % 2, dots);
        ulb_epilogue_tile(g, w_scale, row, ROWS, n + t, dots, ZERO_POINT);
    }
}

static void run(const struct ulb_gemm *g)
{
    const struct ulb_layout *layout = &MMLA_OF(LAYOUT);
    struct ulb_tiles tiles = {.slice_bytes = ulb_layout_slice_bytes(layout, g->m, g->k),
                              .steps = ulb_layout_steps(layout, g->k)};
    for (size_t row = g->m0; row < g->m1; row += ROWS) {
        tiles.w = (const uint8_t *)g->w + row / ROWS * tiles.steps * TILE;
        size_t n = 0;
        for (; n + 2 < g->n; n += 2 * TOKEN_PAIRS)
            tile(g, &tiles, row, n, g->n - n < 2 * TOKEN_PAIRS ? g->n - n : 2 * TOKEN_PAIRS, TOKEN_PAIRS);
        if (n < g->n)
            tile(g, &tiles, row, n, g->n - n, 1);
    }
}

/* Instructions for some pairs of tokens. */
#define MIX(token_pairs)                                                                                     \
    {                                                                                                        \
        .loads = BITS / 4.0 + (token_pairs)*0.25, .prefetches = BITS / 16.0, .logic = 2 - 2.0 / FIELDS,      \
        .transposes = (token_pairs)*0.25, .matrix_products = (token_pairs)*2, .vector_bits = 128,            \
        .chains = 8 * (token_pairs)                                                                          \
    }

const struct ulb_kernel ULB_KERNEL = {
    .abi = ULB_KERNEL_ABI,
    .variant = FIELDS == 1 ? "dotn" : "maskn",
    .isa = ULB_KERNEL_ISA,
    .needs = ULB_KERNEL_NEEDS,
    .layout = &MMLA_OF(LAYOUT),
    .activation = ULB_ACT_A8,
    .mr = ROWS,
    .nr = 2 * TOKEN_PAIRS,
    .kr = ULB_MMLA_COLUMNS * ULB_MMLA_SLICES,
    .bytes_per_step = 4 * BITS,
    .mix = MIX(1), /* of one token: a pair, half of whose results are dropped */
    .tile_mix = MIX(TOKEN_PAIRS),
    .run = run,
};

#endif
