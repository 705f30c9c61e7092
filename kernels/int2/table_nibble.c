/* int2 by exact tables (see x86/nibble_table.h), a bit at a time: the low nibble of a byte holds the low bits
 * of 4 columns of a row, the high nibble their high bits, so that the row's sum is T_low + 2 T_high. */
#include "kernels/int2/format.h"
#include "kernels/x86/nibble_table.h"

static void combine(const int32_t *sums, int32_t *dots)
{
    for (int i = 0; i < 32; i++)
        dots[i] = sums[i] + 2 * sums[32 + i];
}

static const struct ulb_nibble_row row = {
    .layout = &ulb_int2_planes, .rows = 32, .zero_point = ULB_INT2_ZERO_POINT, .combine = combine};

static void run(const struct ulb_gemm *g)
{
    ulb_run_nibbles(g, &row);
}

const struct ulb_kernel ULB_ROW = {
    .abi = ULB_KERNEL_ABI,
    .variant = "table",
    .isa = ULB_ROW_ISA,
    .needs = ULB_ROW_NEEDS,
    .layout = &ulb_int2_planes,
    .activation = ULB_ACT_A8,
    .mr = 32,
    .nr = 1,
    .kr = 4 * ULB_NIBBLE_SLICES,
    .bytes_per_step = 8,
    .mix = ULB_NIBBLE_MIX(2),
    .tables = true,
    .run = run,
};
