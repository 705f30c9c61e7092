#include "kernels/reference/integer_ref.h"
#include "kernels/formats/tl1/format.h"

static int value(const uint8_t *row, size_t k)
{
    unsigned index = (unsigned)row[k / 4] >> k / 2 % 2 * 4 & 15;
    return (int)(k % 2 ? index % 3 : index / 3) - ULB_TL1_ZERO_POINT;
}

static void run(const struct ulb_gemm *g)
{
    ulb_run_ref(g, &ulb_tl1_rows, value);
}

const struct ulb_kernel ULB_KERNEL = {
    .abi = ULB_KERNEL_ABI,
    .variant = "scalar",
    .isa = ULB_KERNEL_ISA,
    .needs = ULB_KERNEL_NEEDS,
    .layout = &ulb_tl1_rows,
    .activation = ULB_ACT_A8,
    .mr = 1,
    .nr = 1,
    .kr = 4,
    .bytes_per_step = 8,
    .run = run,
};
