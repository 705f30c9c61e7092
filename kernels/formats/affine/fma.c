/* Groups with a scale each, weights converted and multiplied in single precision with activations in single
 * precision or bfloat16 (kernels/x86/gemv/weight_only.h).
 *
 * Ports per 32 weights at 256 bits: 4 masks, 4 conversions, 4 FMA and few shifts: FMA and conversions on two
 * ports of their own are 2 cycles, on the same two 4. */
#include "kernels/formats/affine/weight_only.h"

ULB_WEIGHT_ONLY_PASSES(4, .group = 1)
ULB_WEIGHT_ONLY_PASSES(8, .group = 1)

#define ROW(of, kind, symbol, bits, zero, columns)                                                           \
    ULB_AFFINE_KERNEL(of, kind, symbol, bits, zero, columns, false, .variant = "fma",                        \
                      .mix = {ULB_WEIGHT_ONLY_COLUMNS_MIX(bits, kind), .vector_bits = ULB_VEC_BITS},         \
                      .tile_mix = {ULB_WEIGHT_ONLY_TOKENS_MIX(false, bits)})
#define SINGLE(of, bits, zero, columns) ROW(of, ULB_ACT_F32, of##_f32, bits, zero, columns)
#define BFLOAT(of, bits, zero, columns) ROW(of, ULB_ACT_BF16, of##_bf16, bits, zero, columns)

ULB_AFFINE_WOQ(SINGLE)
ULB_AFFINE_WOQ(BFLOAT)
