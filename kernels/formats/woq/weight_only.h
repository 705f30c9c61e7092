/* Kernels of one scale for each row of weights with floating activations (kernels/x86/gemm/weight_only.h).
 * The zero point takes the sum of the activations. */
#ifndef ULB_KERNELS_FORMATS_WOQ_WEIGHT_ONLY_H
#define ULB_KERNELS_FORMATS_WOQ_WEIGHT_ONLY_H

#include "kernels/formats/woq/format.h"
#include "kernels/x86/gemm/weight_only.h"

#include <string.h>

#ifdef ULB_DP_512
#define LAYOUT(of) ulb_##of##_plane_128
#else
#define LAYOUT(of) ulb_##of##_plane_64
#endif

enum { NEAR = 1024 };

/* Sums of products of all of K, codes as they are, and the sum of the activations. */
static inline __attribute__((always_inline)) float
sum_tile(const struct ulb_weight_only_cfg *a, const struct ulb_tiles *tiles, const void *x, ulb_floats *sums)
{
    const size_t turn = ulb_weight_only_turn(a);
    const struct ulb_line_prefetch hint = {NEAR, ulb_prefetch_setting(*tiles->prefetch)};
    __m128 x_sums = _mm_setzero_ps();
    ULB_UNROLL(8)
    for (size_t v = 0; v < ULB_WEIGHT_ONLY_VECTORS; v++)
        sums[v] = ulb_no_floats();
    for (size_t s = 0; s < tiles->steps; s += turn) {
        const size_t steps = tiles->steps - s < turn ? tiles->steps - s : turn;
        ULB_UNROLL(2)
        for (size_t i = 0; i < ULB_WEIGHT_ONLY_SLICES; i++)
            ulb_add_weight_only(a, ULB_ONE_SLICE,
                                tiles->w + i * tiles->slice_bytes + s * a->bits * ULB_VEC_BYTES, x,
                                (i * tiles->steps + s) * 4, steps, hint, sums, &x_sums);
    }
    ulb_weight_only_epilogue(a, sums);
    return ulb_sum_four(x_sums);
}

static inline __attribute__((always_inline)) void run_tile(const struct ulb_weight_only_cfg *a,
                                                           const struct ulb_gemm *g,
                                                           const struct ulb_tiles *tiles, size_t m, size_t n)
{
    const void *x = ulb_weight_only_x(a, g, n);
    const float *scale = ulb_row_scales(g, a->layout) + m, *zeros = ulb_row_zeros(g, a->layout) + m;
    ulb_floats sums[ULB_WEIGHT_ONLY_VECTORS];
    float y[ULB_WEIGHT_ONLY_ROWS], x_sum = sum_tile(a, tiles, x, sums);
    ulb_floats all_x = ulb_all_floats(x_sum), offset = ulb_all_floats((float)(1 << (a->bits - 1)));
    ULB_UNROLL(8)
    for (size_t v = 0; v < ULB_WEIGHT_ONLY_VECTORS; v++) {
        ulb_floats zero = a->zeros ? ulb_load_floats(zeros + v * ULB_LANES) : offset;
        ulb_store_floats(y + v * ULB_LANES,
                         ulb_mul(ulb_fnma(zero, all_x, sums[v]), ulb_load_floats(scale + v * ULB_LANES)));
    }
    memcpy(g->y + n * g->y_stride + m, y, ulb_rows_left(g, m, ULB_WEIGHT_ONLY_ROWS) * sizeof *y);
}

/* A kernel: format, activations, symbol, bits, whether zero points are stored, whether by pairs of columns;
 * variant and mixes. */
#define ULB_WOQ_KERNEL(of, kind_, symbol, bits_, zeros_, pairs_, ...)                                        \
    ULB_WEIGHT_ONLY_RUN(symbol, run_tile, bits_, .layout = &LAYOUT(of), .zeros = zeros_,                     \
                        .bf16_pairs = pairs_, .kind = kind_)                                                 \
    ULB_KERNEL_VARIANT(symbol) = {ULB_WEIGHT_ONLY_FIELDS(symbol, LAYOUT(of), kind_, false),                  \
                                  .kr = ULB_WEIGHT_ONLY_SLICES * 4, .bytes_per_step = 4 * (bits_),           \
                                  .tolerance = ULB_WEIGHT_ONLY_TOLERANCE, __VA_ARGS__};

#endif
