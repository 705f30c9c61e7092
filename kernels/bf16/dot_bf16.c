/* bf16 by bfdot, which multiplies pairs of bfloat16 into single precision. Activations are in single
 * precision: each is cut into three bfloat16 of 8 bits whose sum it is exactly, once per call and block of
 * columns.
 *
 * bfdot rounds the sum of a pair, and that to the accumulator, to odd and flushes what is below 2^-126: two
 * errors of 2^-23 for two columns in place of two of 2^-24, hence four times the tolerance of FMAs.
 * Registers: 8 accumulators for each of the three parts, 3 activations. Ports per 32 weights: 4 loads, 12
 * bfdot: 3 cycles on four pipes as by FMA (bf16/fma_neon.c), with half as many instructions; the 24 chains
 * hide latency 5. */
#include "kernels/bf16/format.h"
#include "kernels/row.h"

#include <arm_neon.h>

enum {
    VECTORS = 8,
    STEP_BYTES = 16 * VECTORS,
    PARTS = 3,
    BLOCK = 2048,
    QUAD = 8 /* columns of a vector */,
    PREFETCH = 1024
};

/* The parts of a block of columns, zeros behind its end. */
struct parts {
    uint16_t of[PARTS][BLOCK];
};

static void cut(const float *x, size_t columns, struct parts *parts)
{
    for (size_t k = 0; k < (columns + QUAD - 1) / QUAD * QUAD; k++) {
        float rest = k < columns ? x[k] : 0;
        for (size_t p = 0; p < PARTS; p++) {
            uint32_t bits;
            float part;
            __builtin_memcpy(&bits, &rest, sizeof bits);
            parts->of[p][k] = (uint16_t)(bits >> 16);
            bits &= 0xFFFF0000;
            __builtin_memcpy(&part, &bits, sizeof part);
            rest -= part;
        }
    }
}

/* Two columns of a tile; q: which pair of the vectors of activations, a constant. */
#define STEP(at, q)                                                                                          \
    _Pragma("GCC unroll 8") for (int i = 0; i < VECTORS; i++)                                                \
    {                                                                                                        \
        bfloat16x8_t weights = vreinterpretq_bf16_u8(vld1q_u8((at) + 16 * i));                               \
        sums[0][i] = vbfdotq_laneq_f32(sums[0][i], weights, x[0], q);                                        \
        sums[1][i] = vbfdotq_laneq_f32(sums[1][i], weights, x[1], q);                                        \
        sums[2][i] = vbfdotq_laneq_f32(sums[2][i], weights, x[2], q);                                        \
    }                                                                                                        \
    __builtin_prefetch((at) + PREFETCH, 0, 3);                                                               \
    __builtin_prefetch((at) + PREFETCH + 64, 0, 3);

/* sums += so many steps of two columns from column 2 s on. */
static inline __attribute__((always_inline)) void add_steps(const uint8_t *w, const struct parts *parts,
                                                            size_t steps, float32x4_t (*sums)[VECTORS])
{
    size_t s = 0;
    bfloat16x8_t x[PARTS];
    for (; s + 4 <= steps; s += 4, w += 4 * STEP_BYTES) {
        for (int p = 0; p < PARTS; p++)
            x[p] = vreinterpretq_bf16_u16(vld1q_u16(parts->of[p] + 2 * s));
        STEP(w, 0)
        STEP(w + STEP_BYTES, 1)
        STEP(w + 2 * STEP_BYTES, 2)
        STEP(w + 3 * STEP_BYTES, 3)
    }
    for (; s < steps; s++, w += STEP_BYTES) {
        for (int p = 0; p < PARTS; p++)
            x[p] = vreinterpretq_bf16_u32(
                vdupq_n_u32(parts->of[p][2 * s] | (uint32_t)parts->of[p][2 * s + 1] << 16));
        STEP(w, 0)
    }
}

/* One row of tiles: y += block, or y = block for the first. rows: of the tile, at its lower edge fewer. */
static void add_tile(const uint8_t *w, const struct parts *parts, size_t steps, int first, size_t rows,
                     float *y)
{
    float32x4_t sums[PARTS][VECTORS];
    float before[4 * VECTORS] = {0};
    if (!first)
        __builtin_memcpy(before, y, rows * sizeof *y);
#pragma GCC unroll 8
    for (int i = 0; i < VECTORS; i++) {
        sums[0][i] = vld1q_f32(before + 4 * i);
        sums[1][i] = sums[2][i] = vdupq_n_f32(0);
    }
    add_steps(w, parts, steps, sums);
#pragma GCC unroll 8
    for (int i = 0; i < VECTORS; i++)
        vst1q_f32(before + 4 * i, vaddq_f32(sums[0][i], vaddq_f32(sums[1][i], sums[2][i])));
    __builtin_memcpy(y, before, rows * sizeof *y);
}

static void run(const struct ulb_gemm *g)
{
    const size_t tile_m = ulb_bf16_vnni2.tile_m, all = ulb_layout_steps(&ulb_bf16_vnni2, g->k);
    struct parts parts;
    for (size_t n = 0; n < g->n; n++) {
        const float *x = (const float *)g->x + n * g->x_stride;
        for (size_t s = 0; s < all; s += BLOCK / 2) {
            size_t steps = all - s < BLOCK / 2 ? all - s : BLOCK / 2;
            cut(x + 2 * s, 2 * steps, &parts);
            for (size_t row = g->m0; row < g->m1; row += tile_m)
                add_tile((const uint8_t *)g->w + (row / tile_m * all + s) * STEP_BYTES, &parts, steps, s == 0,
                         ulb_rows_left(g, row, tile_m), g->y + n * g->y_stride + row);
        }
    }
}

const struct ulb_kernel ULB_ROW = {
    .abi = ULB_KERNEL_ABI,
    .variant = "dot",
    .isa = ULB_ROW_ISA,
    .needs = ULB_ROW_NEEDS,
    .layout = &ulb_bf16_vnni2,
    .activation = ULB_ACT_F32,
    .mr = 32,
    .nr = 1,
    .kr = 2,
    .bytes_per_step = 64,
    .tolerance = 4 * ULB_FLOAT_TOLERANCE,
    .mix = {.loads = 4 + 3 / 8.0,
            .prefetches = 1,
            .dot_products = 12,
            .vector_bits = 128,
            .chains = PARTS * VECTORS},
    .run = run,
};
