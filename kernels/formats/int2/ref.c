#include "kernels/formats/int2/format.h"
#include "kernels/reference/integer_ref.h"

static int value(const uint8_t *row, size_t k)
{
    return (row[k / 4] >> k % 4 * 2 & 3) - ULB_INT2_ZERO_POINT;
}

ULB_INTEGER_REF_KERNEL(ULB_GROUPED(ulb_int2_rows), 4, 8 + ULB_GROUP_SCALE_BYTES)
