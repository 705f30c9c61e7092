#include "kernels/reference/integer_ref.h"
#include "kernels/formats/tl1/format.h"

static int value(const uint8_t *row, size_t k)
{
    unsigned index = (unsigned)row[k / 4] >> k / 2 % 2 * 4 & 15;
    return (int)(k % 2 ? index % 3 : index / 3) - ULB_TL1_ZERO_POINT;
}

ULB_INTEGER_REF_KERNEL(ulb_tl1_rows, 4, 8)
