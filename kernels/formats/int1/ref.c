#include "kernels/formats/int1/format.h"
#include "kernels/reference/integer_ref.h"

static int value(const uint8_t *row, size_t k)
{
    return 1 - 2 * (row[k / 8] >> k % 8 & 1);
}

static void run(const struct ulb_gemm *g)
{
    ulb_run_ref(g, &ulb_int1_rows, value);
}

const struct ulb_kernel ULB_KERNEL = {
    .abi = ULB_KERNEL_ABI,
    .variant = "scalar",
    .isa = ULB_KERNEL_ISA,
    .needs = ULB_KERNEL_NEEDS,
    .layout = &ulb_int1_rows,
    .activation = ULB_ACT_A8,
    .mr = 1,
    .nr = 1,
    .kr = 8,
    .bytes_per_step = 4,
    .run = run,
};
