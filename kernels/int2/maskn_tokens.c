/* int2 for several tokens at once: see int2/maskn.h. */
#include "kernels/int2/format.h"
#include "kernels/int2/maskn.h"

#ifdef ULB_DP_512
#define LAYOUT ulb_int2_fields_64
#else
#define LAYOUT ulb_int2_fields
#endif

static const struct ulb_tokens row = ULB_FIELDS2_TOKENS_OF(LAYOUT, ULB_INT2_ZERO_POINT);

static void run(const struct ulb_gemm *g)
{
    ulb_run_tokens(&row, g);
}

const struct ulb_kernel ULB_ROW = {
    .abi = ULB_KERNEL_ABI,
    .variant = "maskn",
    .isa = ULB_ROW_ISA,
    .needs = ULB_ROW_NEEDS,
    .layout = &LAYOUT,
    .activation = ULB_ACT_A8,
    .mr = ULB_FIELDS2 * ULB_LANES,
    .nr = ULB_FIELDS2_TOKENS,
    .kr = 4 * ULB_FIELDS2_SLICES,
    .bytes_per_step = 8,
    .mix = ULB_FIELDS2_TOKENS_MIX(1),
    .tile_mix = ULB_FIELDS2_TOKENS_MIX(ULB_FIELDS2_TOKENS),
    .run = run,
};
