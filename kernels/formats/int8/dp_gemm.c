/* GEMM of int8 (kernels/x86/gemm/field_tile.h). Sums and layouts are those of kernels/formats/int8/dp.c.
 *
 * Registers: at 512 bits 24 accumulators, four vectors of activations; at 256 bits 12 and 2. */
#include "kernels/formats/int8/format.h"
#include "kernels/x86/gemm/field_tile.h"

#ifdef ULB_DP_512
#define LAYOUT ulb_int8_vnni4_96
#else
#define LAYOUT ulb_int8_vnni4
#endif

#define VARIANT    "dpn"
#define VECTORS    6
#define FIELDS     1
#define BITS       8
#define TOKENS     ULB_BY_ENCODING(2, 4)
#define SLICES     2
#define ZERO_POINT ULB_INT8_ZERO_POINT
#define NEAR       ULB_BY_WIDTH(1024, 512)
#define FAR        0
#define STRIDE     2 * ULB_LINE
#define SEPARATE   separate
#define K_BLOCKS   1

/* Whole bytes are their own sums. */
static inline void separate(ulb_vec *sums)
{
    (void)sums;
}

#include "kernels/x86/field_gemm_kernel.h"
