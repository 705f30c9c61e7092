/* int8 for 4 tokens at once (kernels/x86/tokens.h); the sums are those of int8/dp_vnni.c, the layout too.
 *
 * Registers: 24 accumulators, 4 vectors of activations. Ports: per 6 vectors of weights 24 dp on two
 * ports: 0.25 cycle per 32 weights and token. */
#include "kernels/int8/format.h"
#include "kernels/x86/tokens.h"

enum { VECTORS = 6, FIELDS = 1, BITS = 8, TOKENS = 4, SLICES = 2 };

/* Whole bytes are their own sums. */
static inline void combine(ulb_vec *sums)
{
    (void)sums;
}

static const struct ulb_tokens row = {.layout = &ulb_int8_vnni4_96,
                                      .vectors = VECTORS,
                                      .fields = FIELDS,
                                      .bits = BITS,
                                      .tokens = TOKENS,
                                      .slices = SLICES,
                                      .zero_point = ULB_INT8_ZERO_POINT,
                                      .near = 512,
                                      .far = 0,
                                      .gap = 2 * ULB_LINE,
                                      .combine = combine};

static void run(const struct ulb_gemm *g)
{
    ulb_run_tokens(&row, g);
}

const struct ulb_kernel ULB_ROW = {
    .abi = ULB_KERNEL_ABI,
    .variant = "dpn",
    .isa = ULB_ROW_ISA,
    .needs = ULB_ROW_NEEDS,
    .layout = &ulb_int8_vnni4_96,
    .activation = ULB_ACT_A8,
    .mr = VECTORS * FIELDS * ULB_LANES,
    .nr = TOKENS,
    .kr = 4 * SLICES,
    .bytes_per_step = 4 * BITS,
    .mix = ULB_TOKENS_MIX(VECTORS, FIELDS, 0.5, 1),
    .tile_mix = ULB_TOKENS_MIX(VECTORS, FIELDS, 0.5, TOKENS),
    .prefetch_choice = true,
    .run = run,
};
