/* int1 by exact tables (see kernels/codes/lut4.h): the nibbles of a byte are 4 columns of rows r and 32 +
 * r. */
#include "kernels/formats/int1/format.h"
#include "kernels/codes/lut4.h"

/* A set bit is -1: the row's sum is sum(x) - 2 T. */
static void dots_of_sums(const int32_t *sums, int32_t *dots)
{
    for (int i = 0; i < ULB_NIBBLE_SUMS; i++)
        dots[i] = -2 * sums[i];
}

ULB_NIBBLE_KERNEL(ulb_int1_nibbles, 64, 4, 1, -1, ulb_nibble_build_bits, dots_of_sums)
