/* int2 for 4 tokens at once (kernels/x86/tokens.h); the sums are those of int2/mask.h, the layout too.
 *
 * Registers: 16 accumulators, 4 vectors of activations. Ports: per vector of weights 3 and, 16 dp on two
 * ports: 0.30 cycle per 32 weights and token. */
#include "kernels/int2/format.h"
#include "kernels/x86/tokens.h"

enum { VECTORS = 1, FIELDS = 4, BITS = 2, TOKENS = 4, SLICES = 4 };

static inline __attribute__((always_inline)) void combine(ulb_vec *sums)
{
    ulb_split_fields(sums, FIELDS, BITS);
}

static const struct ulb_tokens row = {.layout = &ulb_int2_fields_64,
                                      .vectors = VECTORS,
                                      .fields = FIELDS,
                                      .bits = BITS,
                                      .tokens = TOKENS,
                                      .slices = SLICES,
                                      .zero_point = ULB_INT2_ZERO_POINT,
                                      .near = 1024,
                                      .far = 4096,
                                      .combine = combine};

static void run(const struct ulb_gemm *g)
{
    ulb_run_tokens(&row, g);
}

const struct ulb_kernel ULB_ROW = {
    .abi = ULB_KERNEL_ABI,
    .variant = "maskn",
    .isa = ULB_ROW_ISA,
    .needs = ULB_ROW_NEEDS,
    .layout = &ulb_int2_fields_64,
    .activation = ULB_ACT_A8,
    .mr = VECTORS * FIELDS * ULB_LANES,
    .nr = TOKENS,
    .kr = 4 * SLICES,
    .bytes_per_step = 4 * BITS,
    .mix = ULB_TOKENS_MIX(VECTORS, FIELDS, 2, 1),
    .tile_mix = ULB_TOKENS_MIX(VECTORS, FIELDS, 2, TOKENS),
    .run = run,
};
