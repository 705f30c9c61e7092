#include "kernels/formats/i2_s/format.h"
#include "kernels/reference/integer_ref.h"

static int value(const uint8_t *row, size_t k)
{
    const uint8_t *block = row + k / ULB_I2_S_COLUMNS * ULB_I2_S_BYTES;
    return (block[k % ULB_I2_S_BYTES] >> (6 - k % ULB_I2_S_COLUMNS / ULB_I2_S_BYTES * 2) & 3) -
           ULB_I2_S_ZERO_POINT;
}

ULB_INTEGER_REF_KERNEL(ulb_i2_s_in_place, ULB_I2_S_COLUMNS, 8)
