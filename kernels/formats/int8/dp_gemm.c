/* int8 for several tokens at once (kernels/x86/gemm/field_tile.h); the sums are those of int8/dp.c, the
 * layouts too.
 *
 * 512 bits: 24 accumulators, 4 vectors of activations. Ports: per 6 vectors of weights 24 dp on two ports:
 * 0.25 cycle per 32 weights and token. 256 bits: 12 accumulators, 2 vectors of activations: 0.5. */
#include "kernels/formats/int8/format.h"
#include "kernels/x86/gemm/field_tile.h"

#ifdef ULB_DP_512
#define LAYOUT ulb_int8_vnni4_96
#else
#define LAYOUT ulb_int8_vnni4
#endif

enum { VECTORS = 6, FIELDS = 1, BITS = 8, TOKENS = ULB_BY_ENCODING(2, 4), SLICES = 2 };

/* Whole bytes are their own sums. */
static inline void separate(ulb_vec *sums)
{
    (void)sums;
}

static const struct ulb_field_tile_cfg cfg = {.layout = &LAYOUT,
                                              .vectors = VECTORS,
                                              .fields = FIELDS,
                                              .bits = BITS,
                                              .tokens = TOKENS,
                                              .slices = SLICES,
                                              .zero_point = ULB_INT8_ZERO_POINT,
                                              .near = ULB_BY_WIDTH(1024, 512),
                                              .far = 0,
                                              .prefetch_stride = 2 * ULB_LINE,
                                              .separate = separate};

ULB_TOKENS_RUN(cfg)

const struct ulb_kernel ULB_KERNEL = {
    .abi = ULB_KERNEL_ABI,
    .variant = "dpn",
    .isa = ULB_KERNEL_ISA,
    .needs = ULB_KERNEL_NEEDS,
    .layout = &LAYOUT,
    .activation = ULB_ACT_A8,
    .mr = VECTORS * FIELDS * ULB_LANES,
    .nr = TOKENS,
    .kr = 4 * SLICES,
    .bytes_per_step = 4 * BITS,
    .mix = ULB_TOKENS_MIX(VECTORS, FIELDS, 0.5, 1),
    .tile_mix = ULB_TOKENS_MIX(VECTORS, FIELDS, 0.5, TOKENS),
    .prefetch_choice = true,
    .prefetch_tokens = ULB_TUNABLE_TOKENS(TOKENS),
    .run = run,
};
