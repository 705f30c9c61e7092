/* Groups with a scale each. 4-bit weights are looked up in bfloat16 and multiplied in pairs by vdpbf16ps
 * (kernels/x86/gemv/weight_only_bf16dot.h).
 *
 * Registers: eight sums of each slice are 16 chains. Results are kept in memory. */
#include "kernels/formats/affine/weight_only.h"

ULB_WEIGHT_ONLY_PASSES(4, .group = 1, .bf16_pairs = true)

#define ROW(of, bits, zero, columns)                                                                         \
    ULB_AFFINE_KERNEL(of, ULB_ACT_BF16, of##_bf16, bits, zero, columns, true, .variant = "dot",              \
                      .mix = {ULB_WEIGHT_ONLY_BF16_MIX}, .tile_mix = {ULB_WEIGHT_ONLY_BF16_TOKENS_MIX})

ULB_AFFINE_WOQ_4(ROW)
