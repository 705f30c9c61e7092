#include "kernels/formats/int8/format.h"
#include "kernels/reference/integer_ref.h"

static int value(const uint8_t *row, size_t k)
{
    return (int8_t)row[k];
}

ULB_INTEGER_REF_KERNEL(ULB_GROUPED(ulb_int8_rows), 1, 32 + ULB_GROUP_SCALE_BYTES)
