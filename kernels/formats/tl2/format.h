/* bitnet.cpp's TL2: three ternary weights are a sign and an index of 4 bits: n = 9 w0 + 3 w1 + w2, the index
 * is |n|, 0 to 13. */
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
/* 64 or 128 rows x 24 columns: for each of 8 indices a vector of 32 or 64 bytes, byte i with those of rows i
 * and 32 + i or 64 + i; then the signs, a byte per row. */
extern const struct ulb_layout ulb_tl2_planes_64, ulb_tl2_planes_128;
/* 64 rows x 24 columns for 512-bit vectors: an index and above it its sign are 5 bits, those of 12 columns of
 * 16 rows a vector [m16][k4], whose three columns lie 4 apart so that activations need no other order. Eight
 * such vectors, [half of the columns][rows], in five: the low bits of each are one of the first five, the
 * high bits of all the other three. */
extern const struct ulb_layout ulb_tl2_fives;

#endif
