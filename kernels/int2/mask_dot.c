/* int2 by masked dot products: see int2/mask.h. */
#include "kernels/int2/format.h"
#include "kernels/int2/mask.h"

#ifdef ULB_DP_512
#define LAYOUT ULB_GROUPED(ulb_int2_fields_64)
#else
#define LAYOUT ULB_GROUPED(ulb_int2_fields)
#endif

#ifdef ULB_GROUP

#include "kernels/x86/groups.h"

static void run(const struct ulb_gemm *g)
{
    ulb_run_groups(g, &LAYOUT, &ulb_fields2_walk, ulb_fields2_step, ulb_fields2_split, ULB_INT2_ZERO_POINT);
}

#else

static void run(const struct ulb_gemm *g)
{
    ulb_run_tiles(g, &LAYOUT, ULB_FIELDS2 * ULB_LANES, ulb_fields2_tile, ULB_INT2_ZERO_POINT);
}

#endif

const struct ulb_kernel ULB_ROW = {
    .abi = ULB_KERNEL_ABI,
    .variant = "mask",
    .isa = ULB_ROW_ISA,
    .needs = ULB_ROW_NEEDS,
    .layout = &LAYOUT,
    .activation = ULB_ACT_A8,
    .mr = ULB_FIELDS2 * ULB_LANES,
    .nr = 1,
    .kr = ULB_K_GRAIN(ULB_FIELDS2_SLICES),
    .bytes_per_step = 8 + ULB_GROUP_SCALE_BYTES,
    .tolerance = ULB_GROUP_TOLERANCE,
    .mix = ULB_FIELDS2_MIX,
    .prefetch_choice = true,
    .run = run,
};
