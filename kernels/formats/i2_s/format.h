/* bitnet.cpp's I2_S: ternary weights as 2-bit codes w + 1. 128 weights of a row take 32 bytes: byte i holds
 * columns i, 32 + i, 64 + i and 96 + i, the first in the highest bits. A file holds one scale per tensor;
 * here each row holds it. */
#ifndef ULB_KERNELS_FORMATS_I2_S_FORMAT_H
#define ULB_KERNELS_FORMATS_I2_S_FORMAT_H

#include "kernels/kernel.h"

enum {
    ULB_I2_S_ZERO_POINT = 1,
    ULB_I2_S_COLUMNS = 128,
    ULB_I2_S_BYTES = 32 /* of ULB_I2_S_COLUMNS columns */
};

extern const struct ulb_format ulb_i2_s;
extern const struct ulb_layout ulb_i2_s_in_place;

#endif
