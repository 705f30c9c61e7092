/* int4 for four tokens at once (kernels/x86/gemm/field_tile.h).
 *
 * At 512 bits sums and layout are those of kernels/formats/int4/mask.c: 24 accumulators, four vectors of
 * activations. With AVX2 they are those of kernels/formats/int4/maddubs.c: eight word sums, two vectors of
 * nibbles. */
#include "kernels/formats/int4/format.h"
#include "kernels/x86/gemm/field_tile.h"

#ifdef ULB_DP_512
#define LAYOUT ulb_int4_vnni4i_96
#else
#define LAYOUT ulb_int4_vnni4i
#endif

#define VARIANT    "maskn"
#define VECTORS    3
#define FIELDS     2
#define BITS       4
#define TOKENS     4
#define SLICES     4
#define ZERO_POINT ULB_INT4_ZERO_POINT
#define NEAR       1024
#define FAR        ULB_BY_SUMS(0, 4096)
#define STRIDE     ULB_LINE
#define SEPARATE   separate
#define K_BLOCKS   ULB_BY_SUMS(0, 1)

/* Nibbles that are shifted down are sums already. */
static inline __attribute__((always_inline)) void separate(ulb_vec *sums)
{
#if ULB_S16_SUMS
    (void)sums;
#else
    ULB_UNROLL(4)
    for (int i = 0; i < VECTORS; i++)
        ulb_separate_fields(sums + FIELDS * i, FIELDS, BITS);
#endif
}

#include "kernels/x86/field_gemm_kernel.h"
