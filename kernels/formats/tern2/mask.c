/* tern2 by masked dot products: see kernels/formats/int2/mask.h. Codes are fields of two bits, as in int2. */
#include "kernels/formats/tern2/format.h"
#include "kernels/formats/int2/mask.h"

#ifdef ULB_DP_512
#define LAYOUT ulb_tern2_fields_64
#else
#define LAYOUT ulb_tern2_fields
#endif

static void run(const struct ulb_gemm *g)
{
    ulb_run_tiles(g, &LAYOUT, ULB_FIELDS2 * ULB_LANES, ulb_fields2_tile, ULB_TERN2_ZERO_POINT);
}

const struct ulb_kernel ULB_KERNEL = {
    .abi = ULB_KERNEL_ABI,
    .variant = "mask",
    .isa = ULB_KERNEL_ISA,
    .needs = ULB_KERNEL_NEEDS,
    .layout = &LAYOUT,
    .activation = ULB_ACT_A8,
    .mr = ULB_FIELDS2 * ULB_LANES,
    .nr = 1,
    .kr = 4 * ULB_FIELDS2_SLICES,
    .bytes_per_step = 8,
    .mix = ULB_FIELDS2_MIX(1),
    .prefetch = {.kind = ULB_PREFETCH_TUNABLE},
    .run = run,
};
