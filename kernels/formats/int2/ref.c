#include "kernels/formats/int2/format.h"
#include "kernels/reference/integer_ref.h"

static int value(const uint8_t *row, size_t k)
{
    return (row[k / 4] >> k % 4 * 2 & 3) - ULB_INT2_ZERO_POINT;
}

static void run(const struct ulb_gemm *g)
{
    ulb_run_ref(g, &ULB_GROUPED(ulb_int2_rows), value);
}

const struct ulb_kernel ULB_KERNEL = {
    .abi = ULB_KERNEL_ABI,
    .variant = "scalar",
    .isa = ULB_KERNEL_ISA,
    .needs = ULB_KERNEL_NEEDS,
    .layout = &ULB_GROUPED(ulb_int2_rows),
    .activation = ULB_ACT_A8,
    .mr = 1,
    .nr = 1,
    .kr = 4,
    .bytes_per_step = 8 + ULB_GROUP_SCALE_BYTES,
    .run = run,
};
