/* bitnet.cpp's TL1: two ternary weights w0, w1 are one index 3 (w0 + 1) + (w1 + 1) of 4 bits, 0 to 8. */
#ifndef ULB_KERNELS_TL1_FORMAT_H
#define ULB_KERNELS_TL1_FORMAT_H

#include "kernels/kernel.h"

enum { ULB_TL1_ZERO_POINT = 1, ULB_TL1_COLUMNS = 2 /* of an index */ };

extern const struct ulb_format ulb_tl1;
/* Row after row, two indices a byte, the first in the low nibble. */
extern const struct ulb_layout ulb_tl1_rows;
/* 64 rows and one index of each: byte i holds those of rows i and 32 + i. */
extern const struct ulb_layout ulb_tl1_nibbles;

#endif
