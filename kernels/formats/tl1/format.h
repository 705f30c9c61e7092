/* bitnet.cpp's TL1: two ternary weights w0, w1 are one index 3 (w0 + 1) + (w1 + 1) of 4 bits, 0 to 8. */
#ifndef ULB_KERNELS_FORMATS_TL1_FORMAT_H
#define ULB_KERNELS_FORMATS_TL1_FORMAT_H

#include "kernels/kernel.h"

enum { ULB_TL1_ZERO_POINT = 1, ULB_TL1_COLUMNS = 2 /* of an index */, ULB_TL1_APART_SLICES = 3 };

extern const struct ulb_format ulb_tl1;
/* Row after row, two indices a byte, the first in the low nibble. */
extern const struct ulb_layout ulb_tl1_rows;
/* 64 rows and one index of each: byte i holds the indices of rows i and 32 + i. */
extern const struct ulb_layout ulb_tl1_nibbles;
/* 16 or 32 rows x 8 columns, a vector `[m][k4]`: byte 4 m + k holds the indices of rows m and 8 + m or 16 +
 * m. The two columns of an index, k and 4 + k, are 4 apart, so that activations need no other order. */
extern const struct ulb_layout ulb_tl1_apart_16, ulb_tl1_apart_32;

#endif
