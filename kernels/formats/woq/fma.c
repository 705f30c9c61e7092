/* A scale for each row. Weights are converted and multiplied in single precision, with activations in single
 * precision or bfloat16 (kernels/x86/gemv/weight_only.h). */
#include "kernels/formats/woq/weight_only.h"

ULB_WEIGHT_ONLY_PASSES(4, .group = 0)
ULB_WEIGHT_ONLY_PASSES(8, .group = 0)

#define ROW(of, kind, symbol, bits, zeros)                                                                   \
    ULB_WOQ_KERNEL(of, kind, symbol, bits, zeros, false, .variant = "fma",                                   \
                   .mix = {ULB_WEIGHT_ONLY_COLUMNS_MIX(bits, kind), .vector_bits = ULB_VEC_BITS},            \
                   .tile_mix = {ULB_WEIGHT_ONLY_TOKENS_MIX(false, bits)})
#define SINGLE(of, bits, zeros) ROW(of, ULB_ACT_F32, of##_f32, bits, zeros)
#define BFLOAT(of, bits, zeros) ROW(of, ULB_ACT_BF16, of##_bf16, bits, zeros)

ULB_WOQ(SINGLE)
ULB_WOQ(BFLOAT)
