/* Q4_0 repacked: lanes are rows, the two nibbles of a byte two of them.
 *
 * With dot products the bytes go in as they are (see kernels/int4/mask_vnniu.c) and 16 S1 is what is left
 * when the low nibbles' sum is taken off; 1/16 is a factor of the finished row. With AVX2 a step adds at most
 * 2 * 15 * 127 = 3,810 to a 16-bit sum, the 8 steps of a block 30,480.
 * Registers: 3 vectors of 2 fields: 6 sums and 6 results.
 * Ports per 32 weights: half a load, half an and, one dp, and per block a subtraction for two, a conversion
 * each of sum and scale, a multiplication and an FMA: 0.7 cycles on three ports of 256 bits. */
#include "kernels/q4_0/format.h"
#include "kernels/x86/block_walk.h"

#ifdef ULB_DP_512
#define LAYOUT ulb_q4_0_rows_96
#else
#define LAYOUT ulb_q4_0_rows_48
#endif

enum { BYTE_VECTORS = 3, VECTORS = 2 * BYTE_VECTORS, SLICES = 2 };

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

/* Bytes as they are hold the low nibbles' zero point too. */
static inline int32_t zero_point(size_t v)
{
    return ULB_Q4_0_ZERO_POINT * (v % 2 && !ULB_WORD_SUMS ? 17 : 1);
}

static inline ulb_floats block_scale(const uint8_t *scales, size_t v)
{
    return ulb_load_halves(scales + v * ULB_LANES * sizeof(uint16_t));
}

static inline float factor(size_t v)
{
    return v % 2 ? ULB_HIGH_NIBBLE : 1.0f;
}

static const struct ulb_block_row row = {.layout = &LAYOUT,
                                         .vectors = VECTORS,
                                         .step_bytes = BYTE_VECTORS * ULB_VEC_BYTES,
                                         .columns = ULB_Q4_0_COLUMNS,
                                         .group = ULB_Q4_0_COLUMNS,
                                         .word_steps = ULB_WORD_STEPS(15),
                                         .slices = SLICES,
                                         .near = 1024,
                                         .far = 4096,
                                         .activation = ULB_ACT_Q8_0,
                                         .zero_point = zero_point,
                                         .step = step,
                                         .split = split,
                                         .block_scale = block_scale,
                                         .factor = factor};

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
    .activation = ULB_ACT_Q8_0,
    .mr = VECTORS * ULB_LANES,
    .nr = 1,
    .kr = SLICES * ULB_Q4_0_COLUMNS,
    .bytes_per_step = 18,
    .tolerance = ULB_BLOCK_TOLERANCE,
    .mix = {.loads = 0.75, .vector_bits = ULB_VEC_BITS},
    .run = run,
};
