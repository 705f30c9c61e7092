#include "kernels/reference/block_ref.h"
#include "kernels/formats/iq4_nl/format.h"

static void run(const struct ulb_gemm *g)
{
    ulb_run_block_ref(g, &ulb_iq4_nl, ULB_ACT_Q8_0);
}

const struct ulb_kernel ULB_KERNEL =
    ULB_BLOCK_REF_KERNEL(ulb_iq4_nl_in_place, struct ulb_iq4_nl, ULB_IQ4_NL_COLUMNS, ULB_ACT_Q8_0);
