/* int2 and tern2 for several tokens at once (kernels/x86/gemm/field_tile.h); sums and layouts are those of
 * int2/mask.h.
 *
 * 512 bits: 16 accumulators, 4 vectors of activations. Ports: per vector of weights 3 and, 16 dp on two
 * ports: 0.30 cycle per 32 weights and token. AVX2: 8 word sums of 2 tokens, 4 fields. Ports: per vector 4
 * and, shift, 8 maddubs, 8 add and 2 of widening: 23 operations on three ports are 0.96 cycle per 32 weights
 * and token, on the four of Zen 0.72. */
#ifndef ULB_KERNELS_FORMATS_INT2_MASKN_H
#define ULB_KERNELS_FORMATS_INT2_MASKN_H

#include "kernels/formats/int2/mask.h"
#include "kernels/x86/gemm/field_tile.h"

enum { ULB_FIELDS2_TOKENS = ULB_BY_SUMS(2, 4) };

#define ULB_FIELDS2_TOKENS_MIX(tokens) ULB_TOKENS_MIX(1, ULB_FIELDS2, 2, tokens)

/* The constants of a file's kernel. */
#define ULB_FIELDS2_TOKENS_CFG(layout_, zero_point_)                                                         \
    static const struct ulb_field_tile_cfg cfg = {.layout = &(layout_),                                      \
                                                  .vectors = 1,                                              \
                                                  .fields = ULB_FIELDS2,                                     \
                                                  .bits = 2,                                                 \
                                                  .tokens = ULB_FIELDS2_TOKENS,                              \
                                                  .slices = ULB_FIELDS2_SLICES,                              \
                                                  .zero_point = (zero_point_),                               \
                                                  .near = 1024,                                              \
                                                  .far = ULB_BY_SUMS(0, 4096),                               \
                                                  .prefetch_stride = ULB_LINE,                               \
                                                  .separate = ulb_fields2_separate};                         \
    ULB_TOKENS_RUN(cfg)                                                                                      \
    const struct ulb_kernel ULB_ROW = {                                                                      \
        .abi = ULB_KERNEL_ABI,                                                                               \
        .variant = "maskn",                                                                                  \
        .isa = ULB_ROW_ISA,                                                                                  \
        .needs = ULB_ROW_NEEDS,                                                                              \
        .layout = &(layout_),                                                                                \
        .activation = ULB_ACT_A8,                                                                            \
        .mr = ULB_FIELDS2 * ULB_LANES,                                                                       \
        .nr = ULB_FIELDS2_TOKENS,                                                                            \
        .kr = 4 * ULB_FIELDS2_SLICES,                                                                        \
        .bytes_per_step = 8,                                                                                 \
        .mix = ULB_FIELDS2_TOKENS_MIX(1),                                                                    \
        .tile_mix = ULB_FIELDS2_TOKENS_MIX(ULB_FIELDS2_TOKENS),                                              \
        .prefetch_choice = true,                                                                             \
        .prefetch_tokens = ULB_TUNABLE_TOKENS(ULB_FIELDS2_TOKENS),                                           \
        .run = run,                                                                                          \
    };

#endif
