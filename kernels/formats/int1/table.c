/* int1 by exact tables (see kernels/codes/lut4.h): the nibbles of a byte are 4 columns of rows r and 32 +
 * r. */
#include "kernels/formats/int1/format.h"
#include "kernels/codes/lut4.h"

/* A set bit is -1: the row's sum is sum(x) - 2 T. */
static void dots_of_sums(const int32_t *sums, int32_t *dots)
{
    for (int i = 0; i < ULB_NIBBLE_SUMS; i++)
        dots[i] = -2 * sums[i];
}

static const struct ulb_lut_cfg cfg =
    ULB_NIBBLE_CFG(ulb_int1_nibbles, 64, 4, -1, ulb_nibble_build_bits, dots_of_sums);

static void run(const struct ulb_gemm *g)
{
    ulb_run_tables(g, &cfg);
}

const struct ulb_kernel ULB_KERNEL = {
    .abi = ULB_KERNEL_ABI,
    .variant = "table",
    .isa = ULB_KERNEL_ISA,
    .needs = ULB_KERNEL_NEEDS,
    .layout = &ulb_int1_nibbles,
    .activation = ULB_ACT_A8,
    .mr = 64,
    .nr = 1,
    .kr = 4 * ULB_TABLE_SLICES,
    .bytes_per_step = 4,
    .mix = ULB_NIBBLE_MIX(1),
    .tables = true,
    .prefetch_choice = ULB_NIBBLE_CHOICE,
    .run = run,
};
