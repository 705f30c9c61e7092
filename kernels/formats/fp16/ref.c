#include "kernels/formats/fp16/format.h"
#include "kernels/reference/float_ref.h"

static void run(const struct ulb_gemm *g)
{
    ulb_run_float_ref(g, ULB_FP16, 2, ULB_ACT_F32);
}

const struct ulb_kernel ULB_KERNEL = ULB_FLOAT_REF_KERNEL(ulb_fp16_rows, 2, ULB_ACT_F32, run);
