/* int2 by exact tables (see kernels/codes/lut4.h), one bit at a time. The low nibble of a byte holds the low
 * bits of four columns of a row, the high nibble their high bits. The sum of the row is T_low + 2 T_high. */
#include "kernels/formats/int2/format.h"
#include "kernels/codes/lut4.h"

ULB_NIBBLE_KERNEL(ulb_int2_planes, ULB_PLANES2_ROWS, 4, 2, ULB_INT2_ZERO_POINT, ulb_nibble_build_bits,
                  ulb_planes2_separate)
