/* int4 for 4 tokens at once (kernels/x86/gemm/field_tile.h).
 *
 * 512 bits: sums and layout of int4/mask.c. Registers: 24 accumulators, 4 vectors of activations.
 * Ports: per 3 vectors of weights 3 and, 24 dp on two ports: 0.28 cycle per 32 weights and token. AVX2: those
 * of int4/maddubs.c. Registers: 8 word sums, 2 vectors of nibbles. Ports: per vector shift, 2 and, 8
 * maddubs, 8 add and 2 of widening: 21 operations on three ports are 0.88 cycle per 32 weights and token, on
 * the four of Zen 0.66. */
#include "kernels/formats/int4/format.h"
#include "kernels/x86/gemm/field_tile.h"

#ifdef ULB_DP_512
#define LAYOUT ulb_int4_vnni4i_96
#else
#define LAYOUT ulb_int4_vnni4i
#endif

enum { VECTORS = 3, FIELDS = 2, BITS = 4, TOKENS = 4, SLICES = 4 };

/* Nibbles that are shifted down are sums already. */
static inline __attribute__((always_inline)) void separate(ulb_vec *sums)
{
#if ULB_S16_SUMS
    (void)sums;
#else
    ULB_UNROLL(4)
    for (int i = 0; i < VECTORS; i++)
        ulb_separate_fields(sums + FIELDS * i, FIELDS, BITS);
#endif
}

static const struct ulb_field_tile_cfg cfg = {.layout = &LAYOUT,
                                              .vectors = VECTORS,
                                              .fields = FIELDS,
                                              .bits = BITS,
                                              .tokens = TOKENS,
                                              .slices = SLICES,
                                              .zero_point = ULB_INT4_ZERO_POINT,
                                              .near = 1024,
                                              .far = ULB_BY_SUMS(0, 4096),
                                              .prefetch_stride = ULB_LINE,
                                              .separate = separate};

ULB_TOKENS_RUN(cfg)

const struct ulb_kernel ULB_KERNEL = {
    .abi = ULB_KERNEL_ABI,
    .variant = "maskn",
    .isa = ULB_KERNEL_ISA,
    .needs = ULB_KERNEL_NEEDS,
    .layout = &LAYOUT,
    .activation = ULB_ACT_A8,
    .mr = VECTORS * FIELDS * ULB_LANES,
    .nr = TOKENS,
    .kr = 4 * SLICES,
    .bytes_per_step = 4 * BITS,
    .mix = ULB_TOKENS_MIX(VECTORS, FIELDS, 2, 1),
    .tile_mix = ULB_TOKENS_MIX(VECTORS, FIELDS, 2, TOKENS),
    .prefetch_choice = true,
    .prefetch_tokens = ULB_TUNABLE_TOKENS(TOKENS),
    .run = run,
};
