#include "kernels/formats/tern2/format.h"
#include "kernels/reference/integer_ref.h"

static int value(const uint8_t *row, size_t k)
{
    return (row[k / 4] >> k % 4 * 2 & 3) - ULB_TERN2_ZERO_POINT;
}

ULB_INTEGER_REF_KERNEL(ulb_tern2_rows, 4, 8)
