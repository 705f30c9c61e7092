/* bf16 by single-precision FMA: a shift makes the even column a float, a mask the odd one.
 *
 * Even and odd columns have eight accumulators each: 16 chains of latency 4 on four pipes. */
#include "kernels/formats/bf16/format.h"
#include "kernels/microkernel.h"

#include <arm_neon.h>

enum { VECTORS = 8, STEP_BYTES = 16 * VECTORS, PREFETCH = 1024 };

static inline __attribute__((always_inline)) void step(const uint8_t *w, float x0, float x1,
                                                       float32x4_t *even, float32x4_t *odd)
{
#pragma GCC unroll 8
    for (int i = 0; i < VECTORS; i++) {
        uint32x4_t pair = vreinterpretq_u32_u8(vld1q_u8(w + 16 * i));
        float32x4_t w0 = vreinterpretq_f32_u32(vshlq_n_u32(pair, 16));
        float32x4_t w1 = vreinterpretq_f32_u32(vandq_u32(pair, vdupq_n_u32(0xFFFF0000)));
        even[i] = vfmaq_n_f32(even[i], w0, x0);
        odd[i] = vfmaq_n_f32(odd[i], w1, x1);
    }
    __builtin_prefetch(w + PREFETCH, 0, 3);
    __builtin_prefetch(w + PREFETCH + 64, 0, 3);
}

static inline void sum(const struct ulb_tiles *tiles, size_t count, const void *x_,
                       float (*y)[ULB_TILE_ROWS_MAX])
{
    const float *x = x_;
    (void)count; /* 1 */
    float32x4_t even[VECTORS], odd[VECTORS];
#pragma GCC unroll 8
    for (int i = 0; i < VECTORS; i++)
        even[i] = odd[i] = vdupq_n_f32(0);
    for (size_t s = 0; s < tiles->steps; s++)
        step(tiles->w + s * STEP_BYTES, x[2 * s], x[2 * s + 1], even, odd);
#pragma GCC unroll 8
    for (int i = 0; i < VECTORS; i++)
        vst1q_f32(y[0] + 4 * i, vaddq_f32(even[i], odd[i]));
}

static void run(const struct ulb_gemm *g)
{
    ulb_run_float_tiles(g, &ulb_bf16_vnni2, false, sizeof(float), sum);
}

const struct ulb_kernel ULB_KERNEL = {
    .abi = ULB_KERNEL_ABI,
    .variant = "fma",
    .isa = ULB_KERNEL_ISA,
    .needs = ULB_KERNEL_NEEDS,
    .layout = &ulb_bf16_vnni2,
    .activation = ULB_ACT_F32,
    .mr = 32,
    .nr = 1,
    .kr = 2,
    .bytes_per_step = 64,
    .tolerance = ULB_FLOAT_TOLERANCE,
    .mix = {.loads = 4,
            .broadcasts = 1,
            .prefetches = 1,
            .logic = 4,
            .shifts = 4,
            .fmas = 8,
            .vector_bits = 128,
            .chains = 2 * VECTORS},
    .run = run,
};
