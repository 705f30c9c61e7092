/* int4 on AMX tiles without unpacking (sums: kernels/formats/int4/mask.c, loop: kernels/x86/amx/amx.h).
 *
 * `|raw| <= 255 * 127 * K < 2^31` up to `K = 65,536`.
 * Masking takes 16 ANDs and stores of a line for 64 columns of 32 rows, once for all tokens. */
#include "kernels/formats/int4/format.h"
#include "kernels/x86/amx/amx.h"

#define LAYOUT     ulb_int4_tiles
#define VECTORS    1
#define FIELDS     2
#define BITS       4
#define ZERO_POINT ULB_INT4_ZERO_POINT
#define PANELS     2

static inline void separate(ulb_vec *sums)
{
#pragma GCC unroll 4
    for (int i = 0; i < VECTORS; i++)
        ulb_separate_fields(sums + FIELDS * i, FIELDS, BITS);
}

#include "kernels/x86/amx/amx_kernel.h"
