/* int8 on AMX tiles: whole bytes, multiplied in place.
 *
 * Weights are value + 128: `|x.w| <= 255 * 127 * K < 2^31` up to `K = 65,536`. */
#include "kernels/formats/int8/format.h"
#include "kernels/x86/amx/amx.h"

#define LAYOUT     ulb_int8_tiles
#define VECTORS    2
#define FIELDS     1
#define BITS       8
#define ZERO_POINT ULB_INT8_ZERO_POINT
#define PANELS     2

/* Whole bytes are their own sums. */
static inline void separate(ulb_vec *sums)
{
    (void)sums;
}

#include "kernels/x86/amx/amx_kernel.h"
