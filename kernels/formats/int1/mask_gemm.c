/* int1 for three tokens at once (kernels/x86/gemm/field_tile.h). Sums and layout are those of
 * kernels/formats/int1/mask.c.
 *
 * Registers: 24 accumulators, three vectors of activations. */
#include "kernels/formats/int1/format.h"
#include "kernels/x86/gemm/field_tile.h"

#define VARIANT    "maskn"
#define LAYOUT     ulb_int1_fields_128
#define VECTORS    1
#define FIELDS     8
#define BITS       1
#define TOKENS     3
#define SLICES     4
#define ZERO_POINT -1
#define NEAR       1024
#define FAR        4096
#define STRIDE     ULB_LINE
#define SEPARATE   separate
#define K_BLOCKS   0

static inline __attribute__((always_inline)) void separate(ulb_vec *sums)
{
    ulb_separate_fields(sums, FIELDS, BITS);
    /* -2 T: the correction adds sum(x). */
#pragma GCC unroll 8
    for (int j = 0; j < FIELDS; j++)
        sums[j] = ulb_sub32(ulb_zero(), ulb_add32(sums[j], sums[j]));
}

#include "kernels/x86/field_gemm_kernel.h"
