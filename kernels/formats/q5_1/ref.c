#include "kernels/reference/block_ref.h"
#include "kernels/formats/q5_1/format.h"

static void run(const struct ulb_gemm *g)
{
    ulb_run_block_ref(g, &ulb_q5_1, ULB_ACT_Q8_0);
}

const struct ulb_kernel ULB_KERNEL =
    ULB_BLOCK_REF_KERNEL(ulb_q5_1_in_place, struct ulb_q5_1, ULB_Q5_1_COLUMNS, ULB_ACT_Q8_0);
