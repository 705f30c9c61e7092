#include "kernels/formats/int4/format.h"
#include "kernels/reference/integer_ref.h"

static int value(const uint8_t *row, size_t k)
{
    return (row[k / 2] >> k % 2 * 4 & 15) - ULB_INT4_ZERO_POINT;
}

static void run(const struct ulb_gemm *g)
{
    ulb_run_ref(g, &ULB_GROUPED(ulb_int4_rows), value);
}

const struct ulb_kernel ULB_KERNEL = {
    .abi = ULB_KERNEL_ABI,
    .variant = "scalar",
    .isa = ULB_KERNEL_ISA,
    .needs = ULB_KERNEL_NEEDS,
    .layout = &ULB_GROUPED(ulb_int4_rows),
    .activation = ULB_ACT_A8,
    .mr = 1,
    .nr = 1,
    .kr = 2,
    .bytes_per_step = 16 + ULB_GROUP_SCALE_BYTES,
    .run = run,
};
