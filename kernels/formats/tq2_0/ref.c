#include "kernels/reference/block_ref.h"
#include "kernels/formats/tq2_0/format.h"

static void run(const struct ulb_gemm *g)
{
    ulb_run_block_ref(g, &ulb_tq2_0, ULB_ACT_Q8_K);
}

const struct ulb_kernel ULB_KERNEL =
    ULB_BLOCK_REF_KERNEL(ulb_tq2_0_in_place, struct ulb_tq2_0, ULB_TQ2_0_COLUMNS, ULB_ACT_Q8_K);
