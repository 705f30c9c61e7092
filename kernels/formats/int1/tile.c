/* int1 on AMX tiles without expansion (sums: kernels/formats/int1/mask.c, loop: kernels/x86/amx/amx.h).
 *
 * `|raw| <= 255 * 127 * K < 2^31` up to `K = 65,536`.
 * Masking takes 112 ANDs and stores of a line for 64 columns of 128 rows, once for all tokens. */
#include "kernels/formats/int1/format.h"
#include "kernels/x86/amx/amx.h"

#define LAYOUT     ulb_int1_tiles
#define VECTORS    1
#define FIELDS     8
#define BITS       1
#define ZERO_POINT -1
#define PANELS     1

static inline void separate(ulb_vec *sums)
{
    ulb_separate_fields(sums, FIELDS, BITS);
    /* -2 T: the correction adds sum(x). */
#pragma GCC unroll 8
    for (int j = 0; j < FIELDS; j++)
        sums[j] = ulb_sub32(ulb_zero(), ulb_add32(sums[j], sums[j]));
}

#include "kernels/x86/amx/amx_kernel.h"
