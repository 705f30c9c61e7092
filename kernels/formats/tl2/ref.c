#include "kernels/reference/integer_ref.h"
#include "kernels/formats/tl2/format.h"

static int value(const uint8_t *row, size_t k)
{
    const uint8_t *tile = row + k / (ULB_TL2_BURST * ULB_TL2_COLUMNS) * (ULB_TL2_BURST / 2 + 1);
    unsigned i = (unsigned)(k / ULB_TL2_COLUMNS % ULB_TL2_BURST);
    int index = tile[i / 2] >> i % 2 * 4 & 15;
    int n = (tile[ULB_TL2_BURST / 2] >> i & 1 ? -index : index) + 13;
    const int digits[ULB_TL2_COLUMNS] = {n / 9, n / 3 % 3, n % 3};
    return digits[k % ULB_TL2_COLUMNS] - 1;
}

ULB_INTEGER_REF_KERNEL(ulb_tl2_rows, ULB_TL2_BURST *ULB_TL2_COLUMNS, 20.0 / 3)
