/* A scale for each row, weights converted and multiplied in single precision with activations in single
 * precision or bfloat16 (kernels/x86/code_columns.h). The zero point takes the sum of the activations.
 *
 * Ports per 32 weights at 256 bits: 4 masks, 4 conversions, 4 FMA and few shifts: FMA and conversions on two
 * ports of their own are 2 cycles, on the same two 4. */
#include "kernels/woq/format.h"
#include "kernels/x86/code_tokens.h"

#include <string.h>

#ifdef ULB_DP_512
#define LAYOUT(of) ulb_##of##_plane_128
#else
#define LAYOUT(of) ulb_##of##_plane_64
#endif

enum { NEAR = 1024 };

/* sums += so many steps of each slice, from step s on. */
static inline __attribute__((always_inline)) void add_visit(const struct ulb_code_row *a,
                                                            const struct ulb_tiles *tiles, const void *x,
                                                            size_t s, size_t steps, ulb_floats *sums,
                                                            __m128 *x_sums)
{
    ULB_UNROLL(2)
    for (size_t i = 0; i < ULB_CODE_SLICES; i++)
        ulb_add_code_columns(a->bits, a->kind,
                             tiles->w + i * tiles->slice_bytes + s * a->bits * ULB_VEC_BYTES, x,
                             (i * tiles->steps + s) * 4, steps,
                             (struct ulb_ahead){NEAR, ulb_told(tiles->ask_ahead)}, sums, x_sums);
}

/* Sums of products of all of K, codes as they are, and the sum of the activations. */
static inline __attribute__((always_inline)) float
sum_tile(const struct ulb_code_row *a, const struct ulb_tiles *tiles, const void *x, ulb_floats *sums)
{
    const size_t whole = tiles->steps / ULB_CODE_TURN_STEPS * ULB_CODE_TURN_STEPS;
    __m128 x_sums = _mm_setzero_ps();
    ULB_UNROLL(8)
    for (size_t v = 0; v < ULB_CODE_VECTORS; v++)
        sums[v] = ulb_no_floats();
    for (size_t s = 0; s < whole; s += ULB_CODE_TURN_STEPS)
        add_visit(a, tiles, x, s, ULB_CODE_TURN_STEPS, sums, &x_sums);
    add_visit(a, tiles, x, whole, tiles->steps - whole, sums, &x_sums);
    ulb_finish_code_columns(a->bits, sums);
    return ulb_sum_four(x_sums);
}

static inline __attribute__((always_inline)) void run_tile(const struct ulb_code_row *a,
                                                           const struct ulb_gemm *g,
                                                           const struct ulb_tiles *tiles, size_t m, size_t n)
{
    const void *x = ulb_code_x(a, g, n);
    const float *scale = ulb_row_scales(g, a->layout) + m, *zeros = ulb_row_zeros(g, a->layout) + m;
    ulb_floats sums[ULB_CODE_VECTORS];
    float y[ULB_CODE_ROWS], x_sum = sum_tile(a, tiles, x, sums);
    ulb_floats all_x = ulb_all_floats(x_sum), offset = ulb_all_floats((float)(1 << (a->bits - 1)));
    ULB_UNROLL(8)
    for (size_t v = 0; v < ULB_CODE_VECTORS; v++) {
        ulb_floats zero = a->zeros ? ulb_load_floats(zeros + v * ULB_LANES) : offset;
        ulb_store_floats(y + v * ULB_LANES,
                         ulb_mul(ulb_fnma(zero, all_x, sums[v]), ulb_load_floats(scale + v * ULB_LANES)));
    }
    memcpy(g->y + n * g->y_stride + m, y, ulb_rows_left(g, m, ULB_CODE_ROWS) * sizeof *y);
}

ULB_CODE_PASSES(4, false, 0)
ULB_CODE_PASSES(8, false, 0)

#define ROW(of, kind_, symbol, bits_, zeros_)                                                                \
    ULB_CODE_RUN(symbol, run_tile, bits_, .layout = &LAYOUT(of), .zeros = zeros_, .kind = kind_)             \
    ULB_VARIANT_ROW(symbol) = {                                                                              \
        .abi = ULB_KERNEL_ABI,                                                                               \
        .variant = "fma",                                                                                    \
        .isa = ULB_ROW_ISA,                                                                                  \
        .needs = ULB_ROW_NEEDS,                                                                              \
        .layout = &LAYOUT(of),                                                                               \
        .activation = (kind_),                                                                               \
        .mr = ULB_CODE_ROWS,                                                                                 \
        .nr = ULB_CODE_TILE(false),                                                                          \
        .kr = ULB_CODE_SLICES * 4,                                                                           \
        .bytes_per_step = 4 * (bits_),                                                                       \
        .tolerance = ULB_CODE_TOLERANCE,                                                                     \
        .mix = {ULB_CODE_COLUMNS_MIX(bits_, kind_), .vector_bits = ULB_VEC_BITS},                            \
        .tile_mix = {ULB_CODE_TOKENS_MIX(false, bits_)},                                                     \
        .prefetch_choice = true,                                                                             \
        .prefetch_tokens = ULB_CODE_TOLD(false),                                                             \
        .run = run_##symbol,                                                                                 \
    };
#define SINGLE(of, bits, zeros) ROW(of, ULB_ACT_F32, of##_f32, bits, zeros)
#define BFLOAT(of, bits, zeros) ROW(of, ULB_ACT_BF16, of##_bf16, bits, zeros)

ULB_WOQ(SINGLE)
ULB_WOQ(BFLOAT)
