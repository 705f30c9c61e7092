/* Groups with a scale each. Weights are converted and multiplied in single precision, with activations in
 * single precision or bfloat16 (kernels/x86/gemv/weight_only.h). */
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
