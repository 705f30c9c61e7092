/* Groups with a scale each, weights converted and multiplied in single precision with activations in single
 * precision or bfloat16 (kernels/x86/code_columns.h). The zero point takes the sum of the group's
 * activations.
 *
 * Ports per 32 weights at 256 bits: 4 masks, 4 conversions, 4 FMA and few shifts: FMA and conversions on two
 * ports of their own are 2 cycles, on the same two 4. Sums of a group wait for the scale in 8 registers. */
#include "kernels/affine/format.h"
#include "kernels/x86/code_tokens.h"

#include <string.h>

#ifdef ULB_DP_512
#define LAYOUT(of) ulb_##of##_planes_128
#else
#define LAYOUT(of) ulb_##of##_planes_64
#endif

enum { NEAR = 1024 };

/* results += one group of the tile's rows, from column k on. */
static inline __attribute__((always_inline)) void add_group(const struct ulb_code_row *a, const uint8_t *w,
                                                            const void *x, size_t k, struct ulb_told told,
                                                            ulb_floats *results)
{
    const uint8_t *scales = w + ULB_CODE_ROWS * a->group * a->bits / 8;
    const uint8_t *zeros = scales + ULB_CODE_ROWS * sizeof(float);
    ulb_floats sums[ULB_CODE_VECTORS];
    __m128 x_sums = _mm_setzero_ps();
    ULB_UNROLL(8)
    for (size_t v = 0; v < ULB_CODE_VECTORS; v++)
        sums[v] = ulb_no_floats();
    ulb_add_code_columns(a->bits, a->kind, w, x, k, a->group / 4, (struct ulb_ahead){NEAR, told}, sums,
                         &x_sums);
    ulb_finish_code_columns(a->bits, sums);
    ulb_floats all_x = ulb_all_floats(ulb_sum_four(x_sums));
    ulb_floats offset = ulb_all_floats((float)(1 << (a->bits - 1)));
    ULB_UNROLL(8)
    for (size_t v = 0; v < ULB_CODE_VECTORS; v++) {
        ulb_floats zero = a->zeros ? ulb_to_floats(ulb_load_unsigned_bytes(zeros + v * ULB_LANES)) : offset;
        results[v] =
            ulb_fma(ulb_fnma(zero, all_x, sums[v]), ulb_load_floats(scales + v * ULB_VEC_BYTES), results[v]);
    }
}

static inline __attribute__((always_inline)) void run_tile(const struct ulb_code_row *a,
                                                           const struct ulb_gemm *g,
                                                           const struct ulb_tiles *tiles, size_t m, size_t n)
{
    const void *x = ulb_code_x(a, g, n);
    ulb_floats results[ULB_CODE_VECTORS];
    float y[ULB_CODE_ROWS];
    ULB_UNROLL(8)
    for (size_t v = 0; v < ULB_CODE_VECTORS; v++)
        results[v] = ulb_no_floats();
    for (size_t s = 0; s < tiles->steps; s++) {
        for (size_t i = 0; i < ULB_CODE_SLICES; i++)
            add_group(a, tiles->w + i * tiles->slice_bytes + s * a->layout->tile_bytes, x,
                      (i * tiles->steps + s) * a->group, ulb_told(tiles->ask_ahead), results);
    }
    ULB_UNROLL(8)
    for (size_t v = 0; v < ULB_CODE_VECTORS; v++)
        ulb_store_floats(y + v * ULB_LANES, results[v]);
    memcpy(g->y + n * g->y_stride + m, y, ulb_rows_left(g, m, ULB_CODE_ROWS) * sizeof *y);
}

ULB_CODE_PASSES(4, false, 1)
ULB_CODE_PASSES(8, false, 1)

#define ROW(of, kind_, symbol, bits_, zero_, columns_)                                                       \
    ULB_CODE_RUN(symbol, run_tile, bits_, .layout = &LAYOUT(of), .zeros = zero_, .group = columns_,          \
                 .kind = kind_)                                                                              \
    ULB_VARIANT_ROW(symbol) = {                                                                              \
        .abi = ULB_KERNEL_ABI,                                                                               \
        .variant = "fma",                                                                                    \
        .isa = ULB_ROW_ISA,                                                                                  \
        .needs = ULB_ROW_NEEDS,                                                                              \
        .layout = &LAYOUT(of),                                                                               \
        .activation = (kind_),                                                                               \
        .mr = ULB_CODE_ROWS,                                                                                 \
        .nr = ULB_CODE_TILE(false),                                                                          \
        .kr = ULB_CODE_SLICES * (columns_),                                                                  \
        .bytes_per_step = 32.0 * ULB_AFFINE_BYTES(bits_, zero_, columns_) / (columns_),                      \
        .tolerance = ULB_CODE_TOLERANCE,                                                                     \
        .mix = {ULB_CODE_COLUMNS_MIX(bits_, kind_), .vector_bits = ULB_VEC_BITS},                            \
        .tile_mix = {ULB_CODE_TOKENS_MIX(false, bits_)},                                                     \
        .prefetch_choice = true,                                                                             \
        .prefetch_tokens = ULB_CODE_TOLD(false),                                                             \
        .run = run_##symbol,                                                                                 \
    };
#define SINGLE(of, bits, zero, columns) ROW(of, ULB_ACT_F32, of##_f32, bits, zero, columns)
#define BFLOAT(of, bits, zero, columns) ROW(of, ULB_ACT_BF16, of##_bf16, bits, zero, columns)

ULB_AFFINE_WOQ(SINGLE)
ULB_AFFINE_WOQ(BFLOAT)
