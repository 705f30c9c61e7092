/* Q4_K repacked: the core of kernels/q4_0/rows_dot.c, with a scale for each group of 32 columns, a byte of it
 * for a row, and minima as dot products of their own.
 *
 * In single precision |scale * sum| <= 63 * 15 * 128 * 32 < 2^22 is exact, the block's sum of 8 rounded.
 * Registers: 2 vectors of 2 fields: 4 sums, 4 of the block, 4 results.
 * Ports per 32 weights: half a load, half an and, one dp; per group and vector of rows a subtraction for two,
 * two conversions, a widening of bytes and an FMA; minima 6 operations per 64 steps: 0.75 cycles on three
 * ports of 256 bits. */
#include "kernels/q4_k/format.h"
#include "kernels/x86/minima.h"

#ifdef ULB_DP_512
#define LAYOUT ulb_q4_k_rows_64
#else
#define LAYOUT ulb_q4_k_rows_32
#endif

enum {
    BYTE_VECTORS = 2,
    VECTORS = 2 * BYTE_VECTORS,
    ROWS = VECTORS * ULB_LANES,
    SLICES = 2,
    /* Scales of a tile: */
    MINIMA = 0,
    GROUP_SCALES = MINIMA + ROWS * ULB_Q4_K_GROUPS,
    BLOCK_SCALES = GROUP_SCALES + ROWS * ULB_Q4_K_GROUPS,
    BLOCK_MINIMA = BLOCK_SCALES + ROWS * 2
};

static inline void step(const uint8_t *w, const int8_t *x, ulb_vec *sums)
{
    ulb_vec x4 = ulb_broadcast4(x);
#pragma GCC unroll 4
    for (int i = 0; i < BYTE_VECTORS; i++)
        ulb_dot_nibbles(sums + 2 * i, w + i * ULB_VEC_BYTES, x4);
}

static inline void split(ulb_vec *sums)
{
#pragma GCC unroll 4
    for (int i = 0; i < BYTE_VECTORS; i++)
        ulb_split_nibbles(sums + 2 * i);
}

static inline ulb_floats group_scale(const uint8_t *scales, size_t g, size_t v)
{
    return ulb_load_unsigned_bytes(scales + GROUP_SCALES + g * ROWS + v * ULB_LANES);
}

static inline ulb_floats block_scale(const uint8_t *scales, size_t v)
{
    ulb_floats d = ulb_load_halves(scales + BLOCK_SCALES + v * ULB_LANES * 2);
    return v % 2 ? ulb_mul(d, ulb_all_floats(ULB_HIGH_NIBBLE)) : d;
}

static inline ulb_floats minima(const uint8_t *scales, const int16_t *x_sums, size_t v)
{
    return ulb_mul(ulb_sum_minima(scales + MINIMA, ROWS, x_sums, v),
                   ulb_load_halves(scales + BLOCK_MINIMA + v * ULB_LANES * 2));
}

static const struct ulb_block_row row = {.layout = &LAYOUT,
                                         .vectors = VECTORS,
                                         .step_bytes = BYTE_VECTORS * ULB_VEC_BYTES,
                                         .columns = ULB_Q4_K_COLUMNS,
                                         .group = ULB_Q4_K_GROUP,
                                         .word_steps = ULB_WORD_STEPS(15),
                                         .slices = SLICES,
                                         .near = 2048,
                                         .far = 6144,
                                         .activation = ULB_ACT_Q8_K,
                                         .step = step,
                                         .split = split,
                                         .group_scale = group_scale,
                                         .block_scale = block_scale,
                                         .minima = minima};

static void run(const struct ulb_gemm *g)
{
    ulb_run_blocks(g, &row);
}

const struct ulb_kernel ULB_ROW = {
    .abi = ULB_KERNEL_ABI,
    .variant = "rows",
    .isa = ULB_ROW_ISA,
    .needs = ULB_ROW_NEEDS,
    .layout = &LAYOUT,
    .activation = ULB_ACT_Q8_K,
    .mr = ROWS,
    .nr = 1,
    .kr = SLICES * ULB_Q4_K_COLUMNS,
    .bytes_per_step = 18.5,
    .tolerance = ULB_BLOCK_TOLERANCE,
    .mix = {.loads = 0.75, .vector_bits = ULB_VEC_BITS},
    .run = run,
};
