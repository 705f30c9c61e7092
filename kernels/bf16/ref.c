#include "kernels/bf16/format.h"
#include "kernels/float_ref.h"

static void run(const struct ulb_gemm *g)
{
    ulb_run_float_ref(g, ULB_BF16, 2);
}

const struct ulb_kernel ULB_ROW = ULB_FLOAT_REF_ROW(ulb_bf16_rows, 2);
