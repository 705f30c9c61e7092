/* int2 on AMX tiles without unpacking (sums: kernels/formats/int2/mask.h, loop: kernels/x86/amx/amx.h).
 *
 * `|raw| <= 255 * 127 * K < 2^31` up to `K = 65,536`.
 * Masking takes 48 ANDs and stores of a line for 64 columns of 64 rows, once for all tokens. */
#include "kernels/formats/int2/format.h"
#include "kernels/x86/amx/amx.h"

#define LAYOUT     ulb_int2_tiles
#define VECTORS    1
#define FIELDS     4
#define BITS       2
#define ZERO_POINT ULB_INT2_ZERO_POINT
#define PANELS     1

static inline void separate(ulb_vec *sums)
{
    ulb_separate_fields(sums, FIELDS, BITS);
}

#include "kernels/x86/amx/amx_kernel.h"
