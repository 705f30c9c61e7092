#include "kernels/formats/int1/format.h"
#include "kernels/reference/integer_ref.h"

static int value(const uint8_t *row, size_t k)
{
    return 1 - 2 * (row[k / 8] >> k % 8 & 1);
}

ULB_INTEGER_REF_KERNEL(ulb_int1_rows, 8, 4)
