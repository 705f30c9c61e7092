#include "kernels/reference/block_ref.h"
#include "kernels/formats/mxfp4/format.h"

static void run(const struct ulb_gemm *g)
{
    ulb_run_block_ref(g, &ulb_mxfp4, ULB_ACT_Q8_0);
}

const struct ulb_kernel ULB_KERNEL =
    ULB_BLOCK_REF_KERNEL(ulb_mxfp4_in_place, struct ulb_mxfp4, ULB_MXFP4_COLUMNS, ULB_ACT_Q8_0);
