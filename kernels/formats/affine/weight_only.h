/* Kernels of groups with a scale each and floating activations (kernels/x86/gemm/weight_only.h). The zero
 * point takes the sum of the group's activations. Sums of a group wait for the scale in 8 registers, of both
 * slices side by side in 16. */
#ifndef ULB_KERNELS_FORMATS_AFFINE_WEIGHT_ONLY_H
#define ULB_KERNELS_FORMATS_AFFINE_WEIGHT_ONLY_H

#include "kernels/formats/affine/format.h"
#include "kernels/x86/gemm/weight_only.h"

#include <string.h>

#ifdef ULB_DP_512
#define LAYOUT(of) ulb_##of##_planes_128
#else
#define LAYOUT(of) ulb_##of##_planes_64
#endif

enum { NEAR = 1024 };

/* Whether the two slices alternate after each step, each with its own sums, or after each group. At 512 bits
 * the registers suffice for that, but not with the seven masks of 4-bit codes in single precision. */
#define ULB_INTERLEAVES(pairs, bits) ((pairs) || ULB_BY_WIDTH(false, (bits) == 8))

/* results += the group at w, from its sums of codes and its sum of activations. */
static inline __attribute__((always_inline)) void epilogue_group(const struct ulb_weight_only_cfg *a,
                                                                 const uint8_t *w, float x_sum,
                                                                 ulb_floats *sums, ulb_floats *results)
{
    const uint8_t *scales = w + ULB_WEIGHT_ONLY_ROWS * a->group * a->bits / 8;
    const uint8_t *zeros = scales + ULB_WEIGHT_ONLY_ROWS * sizeof(float);
    const ulb_floats all_x = ulb_all_floats(x_sum), offset = ulb_all_floats((float)(1 << (a->bits - 1)));
    ulb_weight_only_epilogue(a, sums);
    ULB_UNROLL(8)
    for (size_t v = 0; v < ULB_WEIGHT_ONLY_VECTORS; v++) {
        ulb_floats zero = a->zeros ? ulb_to_floats(ulb_load_unsigned_bytes(zeros + v * ULB_LANES)) : offset;
        results[v] =
            ulb_fma(ulb_fnma(zero, all_x, sums[v]), ulb_load_floats(scales + v * ULB_VEC_BYTES), results[v]);
    }
}

/* results += groups of the tile's rows side by side, the first from column k on. */
static inline __attribute__((always_inline)) void
add_groups(const struct ulb_weight_only_cfg *a, struct ulb_interleave interleave, const uint8_t *w,
           const void *x, size_t k, struct ulb_prefetch_setting prefetch, ulb_floats *results)
{
    ulb_floats sums[ULB_WEIGHT_ONLY_SLICES * ULB_WEIGHT_ONLY_VECTORS];
    __m128 x_sums[ULB_WEIGHT_ONLY_SLICES];
    ULB_UNROLL(2)
    for (size_t i = 0; i < interleave.slices; i++)
        x_sums[i] = _mm_setzero_ps();
    ULB_UNROLL(16)
    for (size_t v = 0; v < interleave.slices * ULB_WEIGHT_ONLY_VECTORS; v++)
        sums[v] = ulb_no_floats();
    ulb_add_weight_only(a, interleave, w, x, k, a->group / 4, (struct ulb_line_prefetch){NEAR, prefetch},
                        sums, x_sums);
    ULB_UNROLL(2)
    for (size_t i = 0; i < interleave.slices; i++)
        epilogue_group(a, w + i * interleave.bytes, ulb_sum_four(x_sums[i]),
                       sums + i * ULB_WEIGHT_ONLY_VECTORS, results);
    if (interleave.slices > 1) {
        ULB_UNROLL(8)
        for (size_t v = 0; v < ULB_WEIGHT_ONLY_VECTORS; v++)
            __asm__("" : "+m"(results[v])); /* keeps results in memory: registers hold 16 sums */
    }
}

static inline __attribute__((always_inline)) void run_tile(const struct ulb_weight_only_cfg *a,
                                                           const struct ulb_gemm *g,
                                                           const struct ulb_tiles *tiles, size_t m, size_t n)
{
    const size_t slices = ULB_INTERLEAVES(a->bf16_pairs, a->bits) ? ULB_WEIGHT_ONLY_SLICES : 1;
    const struct ulb_interleave interleave = {slices, tiles->slice_bytes, tiles->steps * a->group};
    const void *x = ulb_weight_only_x(a, g, n);
    ulb_floats results[ULB_WEIGHT_ONLY_VECTORS];
    float y[ULB_WEIGHT_ONLY_ROWS];
    ULB_UNROLL(8)
    for (size_t v = 0; v < ULB_WEIGHT_ONLY_VECTORS; v++)
        results[v] = ulb_no_floats();
    for (size_t s = 0; s < tiles->steps; s++) {
        for (size_t i = 0; i < ULB_WEIGHT_ONLY_SLICES; i += slices)
            add_groups(a, interleave, tiles->w + i * tiles->slice_bytes + s * a->layout->tile_bytes, x,
                       (i * tiles->steps + s) * a->group, ulb_prefetch_setting(*tiles->prefetch), results);
    }
    ULB_UNROLL(8)
    for (size_t v = 0; v < ULB_WEIGHT_ONLY_VECTORS; v++)
        ulb_store_floats(y + v * ULB_LANES, results[v]);
    memcpy(g->y + n * g->y_stride + m, y, ulb_rows_left(g, m, ULB_WEIGHT_ONLY_ROWS) * sizeof *y);
}

/* A kernel: format, activations, symbol, bits, whether there are zero points, columns of a group, whether by
 * pairs of columns; variant and mixes. */
#define ULB_AFFINE_KERNEL(of, kind_, symbol, bits_, zero_, columns_, pairs_, ...)                            \
    ULB_WEIGHT_ONLY_RUN(symbol, run_tile, bits_, .layout = &LAYOUT(of), .zeros = zero_, .group = columns_,   \
                        .bf16_pairs = pairs_, .kind = kind_)                                                 \
    ULB_KERNEL_VARIANT(symbol) = {                                                                           \
        ULB_WEIGHT_ONLY_FIELDS(symbol, LAYOUT(of), kind_, false), .kr = ULB_WEIGHT_ONLY_SLICES * (columns_), \
        .bytes_per_step = 32.0 * ULB_AFFINE_BYTES(bits_, zero_, columns_) / (columns_),                      \
        .tolerance = ULB_WEIGHT_ONLY_TOLERANCE, __VA_ARGS__};

#endif
