#include "kernels/formats/bf16/format.h"
#include "kernels/reference/float_ref.h"

#define ROW(kind, symbol)                                                                                    \
    static void run_##symbol(const struct ulb_gemm *g)                                                       \
    {                                                                                                        \
        ulb_run_float_ref(g, ULB_BF16, 2, kind);                                                             \
    }                                                                                                        \
    ULB_KERNEL_VARIANT(symbol) = ULB_FLOAT_REF_KERNEL(ulb_bf16_rows, 2, kind, run_##symbol);

ROW(ULB_ACT_F32, f32)
ROW(ULB_ACT_BF16, bf16)
