/* bitnet.cpp's TL2: three ternary weights are a sign and an index of 4 bits. With n = 9 w0 + 3 w1 + w2 the
 * index is |n|, 0 to 13. */
#ifndef ULB_KERNELS_FORMATS_TL2_FORMAT_H
#define ULB_KERNELS_FORMATS_TL2_FORMAT_H

#include "kernels/kernel.h"

enum {
    ULB_TL2_COLUMNS = 3,      /* of an index */
    ULB_TL2_BURST = 8,        /* indices whose signs share a byte */
    ULB_TL2_FIVES_BLOCKS = 4, /* of 16 rows */
    ULB_TL2_FIVES_SLICES = 3
};

extern const struct ulb_format ulb_tl2;
/* Row after row, tiles of 24 columns: 4 bytes of indices, the first in the low nibble, and one of signs. */
extern const struct ulb_layout ulb_tl2_rows;
/* 64 or 128 rows x 24 columns. Each of eight indices has a vector of 32 or 64 bytes; byte i holds the indices
 * of rows i and 32 + i or 64 + i. The signs follow, a byte per row. */
extern const struct ulb_layout ulb_tl2_planes_64, ulb_tl2_planes_128;
/* 64 rows x 24 columns for 512-bit vectors. An index, and its sign above it, are 5 bits. The 5-bit codes of
 * 12 columns of 16 rows are a vector `[m16][k4]`. The three columns of a code are 4 apart, so that
 * activations need no other order. Eight such vectors, [half of the columns][rows], are packed into five. The
 * low bits of the first five are in place. The high bits of all five hold the other three. */
extern const struct ulb_layout ulb_tl2_fives;

#endif
