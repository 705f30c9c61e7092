#include "kernels/formats/int3/format.h"
#include "kernels/reference/integer_ref.h"

static int value(const uint8_t *row, size_t k)
{
    const uint8_t *three = row + k / 8 * 3;
    unsigned bits = three[0] | (unsigned)three[1] << 8 | (unsigned)three[2] << 16;
    return (int)(bits >> k % 8 * 3 & 7) - ULB_INT3_ZERO_POINT;
}

static void run(const struct ulb_gemm *g)
{
    ulb_run_ref(g, &ulb_int3_rows, value);
}

const struct ulb_kernel ULB_KERNEL = {
    .abi = ULB_KERNEL_ABI,
    .variant = "scalar",
    .isa = ULB_KERNEL_ISA,
    .needs = ULB_KERNEL_NEEDS,
    .layout = &ulb_int3_rows,
    .activation = ULB_ACT_A8,
    .mr = 1,
    .nr = 1,
    .kr = 8,
    .bytes_per_step = 12,
    .run = run,
};
