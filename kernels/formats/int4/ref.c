#include "kernels/formats/int4/format.h"
#include "kernels/reference/integer_ref.h"

static int value(const uint8_t *row, size_t k)
{
    return (row[k / 2] >> k % 2 * 4 & 15) - ULB_INT4_ZERO_POINT;
}

ULB_INTEGER_REF_KERNEL(ULB_GROUPED(ulb_int4_rows), 2, 16 + ULB_GROUP_SCALE_BYTES)
