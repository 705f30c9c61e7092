/* A scale for each row. 4-bit weights are looked up in bfloat16 and multiplied in pairs by vdpbf16ps
 * (kernels/x86/gemv/weight_only_bf16dot.h).
 *
 * Registers: eight sums, eight chains. */
#include "kernels/formats/woq/weight_only.h"

ULB_WEIGHT_ONLY_PASSES(4, .bf16_pairs = true)

#define ROW(of, bits, zeros)                                                                                 \
    ULB_WOQ_KERNEL(of, ULB_ACT_BF16, of##_bf16, bits, zeros, true, .variant = "dot",                         \
                   .mix = {ULB_WEIGHT_ONLY_BF16_MIX}, .tile_mix = {ULB_WEIGHT_ONLY_BF16_TOKENS_MIX})

ULB_WOQ_4(ROW)
