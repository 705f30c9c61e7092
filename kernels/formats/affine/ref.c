#include "kernels/formats/affine/format.h"
#include "kernels/reference/block_ref.h"

#define ROW(of, kind, symbol, bits, zero, columns_)                                                          \
    static void run_##symbol(const struct ulb_gemm *g)                                                       \
    {                                                                                                        \
        ulb_run_block_ref(g, &ulb_##of, kind);                                                               \
    }                                                                                                        \
    ULB_KERNEL_VARIANT(symbol) = ULB_BLOCK_REF(ulb_##of##_rows, ULB_AFFINE_BYTES(bits, zero, columns_),      \
                                               columns_, kind, run_##symbol);
#define INTEGER(of, bits, zero, columns) ROW(of, ULB_ACT_A8Z, of, bits, zero, columns)
#define SINGLE(of, bits, zero, columns)  ROW(of, ULB_ACT_F32, of##_f32, bits, zero, columns)
#define BFLOAT(of, bits, zero, columns)  ROW(of, ULB_ACT_BF16, of##_bf16, bits, zero, columns)

ULB_AFFINE_UNIVERSAL(INTEGER)
ULB_AFFINE_WOQ(INTEGER)
ULB_AFFINE_WOQ(SINGLE)
ULB_AFFINE_WOQ(BFLOAT)
