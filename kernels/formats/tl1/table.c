/* TL1 by exact tables (see kernels/codes/lut4.h). Entry n is (n / 3) x0 + (n % 3) x1: the codes of two
 * weights times their activations. The zero point is 1, and |v| <= 4 * 127 as for bits. Results are lossless:
 * integers up to the row's scale. */
#include "kernels/formats/tl1/format.h"
#include "kernels/codes/lut4.h"

static inline int32_t build(const int8_t *x, size_t steps, uint8_t *tables)
{
    static const uint8_t codes[32] = {0, 0, 0, 1, 0, 2, 1, 0, 1, 1, 1, 2, 2, 0, 2, 1, 2, 2};
    return ulb_nibble_build(codes, ULB_TL1_COLUMNS, x, steps, tables);
}

static inline void dots_of_sums(const int32_t *sums, int32_t *dots)
{
    memcpy(dots, sums, ULB_NIBBLE_SUMS * sizeof *dots);
}

ULB_NIBBLE_KERNEL(ulb_tl1_nibbles, ULB_NIBBLE_SUMS, ULB_TL1_COLUMNS, 2, ULB_TL1_ZERO_POINT, build,
                  dots_of_sums)
