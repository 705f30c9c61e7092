/* tern2 by exact tables, a bit at a time: see int2/table.c. */
#include "kernels/formats/int2/fields.h"
#include "kernels/formats/tern2/format.h"
#include "kernels/codes/lut4.h"

static const struct ulb_lut_cfg cfg = ULB_NIBBLE_CFG(
    ulb_tern2_planes, ULB_PLANES2_ROWS, 4, ULB_TERN2_ZERO_POINT, ulb_nibble_build_bits, ulb_planes2_separate);

static void run(const struct ulb_gemm *g)
{
    ulb_run_tables(g, &cfg);
}

const struct ulb_kernel ULB_KERNEL = {
    .abi = ULB_KERNEL_ABI,
    .variant = "table",
    .isa = ULB_KERNEL_ISA,
    .needs = ULB_KERNEL_NEEDS,
    .layout = &ulb_tern2_planes,
    .activation = ULB_ACT_A8,
    .mr = ULB_PLANES2_ROWS,
    .nr = 1,
    .kr = 4 * ULB_TABLE_SLICES,
    .bytes_per_step = 8,
    .mix = ULB_NIBBLE_MIX(2),
    .tables = true,
    .prefetch_choice = ULB_NIBBLE_CHOICE,
    .run = run,
};
