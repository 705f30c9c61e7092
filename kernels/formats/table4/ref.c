#include "kernels/reference/block_ref.h"
#include "kernels/formats/table4/format.h"

#define ROW(of, kind, symbol)                                                                                \
    static void run_##symbol(const struct ulb_gemm *g)                                                       \
    {                                                                                                        \
        ulb_run_block_ref(g, &ulb_##of, kind);                                                               \
    }                                                                                                        \
    ULB_KERNEL_VARIANT(symbol) =                                                                             \
        ULB_BLOCK_REF(ulb_##of##_rows, sizeof(struct ulb_table4), ULB_TABLE4_COLUMNS, kind, run_##symbol);
#define INTEGER(of) ROW(of, ULB_ACT_A8Z, of)
#define SINGLE(of)  ROW(of, ULB_ACT_F32, of##_f32)
#define BFLOAT(of)  ROW(of, ULB_ACT_BF16, of##_bf16)

ULB_TABLE4(INTEGER)
ULB_TABLE4(SINGLE)
ULB_TABLE4(BFLOAT)
