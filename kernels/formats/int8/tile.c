/* int8 on tiles: whole bytes, multiplied where they lie.
 *
 * Weights are value + 128. |x.w| <= 255 * 127 * K < 2^31 up to K = 65,536. */
#include "kernels/formats/int8/format.h"
#include "kernels/x86/amx/amx.h"

enum { VECTORS = 2, FIELDS = 1, BITS = 8 };

/* Whole bytes are their own sums. */
static inline void separate(ulb_vec *sums)
{
    (void)sums;
}

static const struct ulb_amx_cfg cfg = {.layout = &ulb_int8_tiles,
                                       .vectors = VECTORS,
                                       .fields = FIELDS,
                                       .bits = BITS,
                                       .zero_point = ULB_INT8_ZERO_POINT,
                                       .separate = separate};

static void run(const struct ulb_gemm *g)
{
    ulb_run_amx(&cfg, g, NULL);
}

const struct ulb_kernel ULB_KERNEL = {
    .abi = ULB_KERNEL_ABI,
    .variant = "tile",
    .isa = ULB_KERNEL_ISA,
    .needs = ULB_KERNEL_NEEDS,
    .layout = &ulb_int8_tiles,
    .activation = ULB_ACT_A8,
    .mr = 2 * VECTORS * FIELDS * ULB_TILE_ROWS,
    .nr = ULB_AMX_GROUP,
    .kr = ULB_AMX_SLICES * ULB_TILE_COLUMNS,
    .bytes_per_step = 4 * BITS,
    .run = run,
};
