#include "kernels/reference/integer_ref.h"
#include "kernels/formats/tl2/format.h"

static int value(const uint8_t *row, size_t k)
{
    const uint8_t *tile = row + k / (ULB_TL2_BURST * ULB_TL2_COLUMNS) * (ULB_TL2_BURST / 2 + 1);
    unsigned i = (unsigned)(k / ULB_TL2_COLUMNS % ULB_TL2_BURST);
    int index = tile[i / 2] >> i % 2 * 4 & 15;
    int n = (tile[ULB_TL2_BURST / 2] >> i & 1 ? -index : index) + 13;
    const int digits[ULB_TL2_COLUMNS] = {n / 9, n / 3 % 3, n % 3};
    return digits[k % ULB_TL2_COLUMNS] - 1;
}

static void run(const struct ulb_gemm *g)
{
    ulb_run_ref(g, &ulb_tl2_rows, value);
}

const struct ulb_kernel ULB_KERNEL = {
    .abi = ULB_KERNEL_ABI,
    .variant = "scalar",
    .isa = ULB_KERNEL_ISA,
    .needs = ULB_KERNEL_NEEDS,
    .layout = &ulb_tl2_rows,
    .activation = ULB_ACT_A8,
    .mr = 1,
    .nr = 1,
    .kr = ULB_TL2_BURST * ULB_TL2_COLUMNS,
    .bytes_per_step = 20.0 / 3,
    .run = run,
};
