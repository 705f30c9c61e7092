/* int2 by masked dot products: see int2/mask.h. */
#include "kernels/formats/int2/format.h"
#include "kernels/formats/int2/mask.h"

#ifdef ULB_DP_512
#define LAYOUT ULB_GROUPED(ulb_int2_fields_64)
#else
#define LAYOUT ULB_GROUPED(ulb_int2_fields)
#endif

#ifdef ULB_GROUP

#include "kernels/x86/gemm/grouped.h"
enum { TOKENS = ULB_GROUP_TOKENS };

ULB_GROUP_RUN(LAYOUT, ulb_fields2_k_loop, ulb_fields2_step, ulb_fields2_separate, ULB_INT2_ZERO_POINT, 1,
              ULB_FIELDS2, 2)

#else

enum { TOKENS = 1 };

static void run(const struct ulb_gemm *g)
{
    ulb_run_tiles(g, &LAYOUT, ULB_FIELDS2 * ULB_LANES, ulb_fields2_tile, ULB_INT2_ZERO_POINT);
}

#endif

const struct ulb_kernel ULB_KERNEL = {
    .abi = ULB_KERNEL_ABI,
    .variant = "mask",
    .isa = ULB_KERNEL_ISA,
    .needs = ULB_KERNEL_NEEDS,
    .layout = &LAYOUT,
    .activation = ULB_ACT_A8,
    .mr = ULB_FIELDS2 * ULB_LANES,
    .nr = TOKENS,
    .kr = ULB_K_GRAIN(ULB_FIELDS2_SLICES),
    .bytes_per_step = 8 + ULB_GROUP_SCALE_BYTES,
    .tolerance = ULB_GROUP_TOLERANCE,
    .mix = ULB_FIELDS2_MIX(1),
#if !ULB_S16_SUMS
    .tile_mix = ULB_FIELDS2_MIX(TOKENS),
#endif
    .prefetch = {.kind = ULB_PREFETCH_TUNABLE, .max_n = TOKENS > 1 ? 1 : 0},
    .run = run,
};
