#include "kernels/formats/int3/format.h"
#include "kernels/reference/integer_ref.h"

static int value(const uint8_t *row, size_t k)
{
    const uint8_t *three = row + k / 8 * 3;
    unsigned bits = three[0] | (unsigned)three[1] << 8 | (unsigned)three[2] << 16;
    return (int)(bits >> k % 8 * 3 & 7) - ULB_INT3_ZERO_POINT;
}

ULB_INTEGER_REF_KERNEL(ulb_int3_rows, 8, 12)
