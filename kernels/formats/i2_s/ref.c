#include "kernels/formats/i2_s/format.h"
#include "kernels/reference/integer_ref.h"

static int value(const uint8_t *row, size_t k)
{
    const uint8_t *block = row + k / ULB_I2_S_COLUMNS * ULB_I2_S_BYTES;
    return (block[k % ULB_I2_S_BYTES] >> (6 - k % ULB_I2_S_COLUMNS / ULB_I2_S_BYTES * 2) & 3) -
           ULB_I2_S_ZERO_POINT;
}

static void run(const struct ulb_gemm *g)
{
    ulb_run_ref(g, &ulb_i2_s_in_place, value);
}

const struct ulb_kernel ULB_KERNEL = {
    .abi = ULB_KERNEL_ABI,
    .variant = "scalar",
    .isa = ULB_KERNEL_ISA,
    .needs = ULB_KERNEL_NEEDS,
    .layout = &ulb_i2_s_in_place,
    .activation = ULB_ACT_A8,
    .mr = 1,
    .nr = 1,
    .kr = ULB_I2_S_COLUMNS,
    .bytes_per_step = 8,
    .run = run,
};
