#include "kernels/reference/block_ref.h"
#include "kernels/formats/q4_k/format.h"

static void run(const struct ulb_gemm *g)
{
    ulb_run_block_ref(g, &ulb_q4_k, ULB_ACT_Q8_K);
}

const struct ulb_kernel ULB_KERNEL =
    ULB_BLOCK_REF_KERNEL(ulb_q4_k_in_place, struct ulb_q4_k, ULB_Q4_K_COLUMNS, ULB_ACT_Q8_K);
