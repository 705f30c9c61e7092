#include "kernels/formats/i2_s/format.h"

const struct ulb_format ulb_i2_s = {.name = "i2_s",
                                    .summary = "bitnet.cpp I2_S: ternary, 2 bits each",
                                    .bits = 2,
                                    .min = -1,
                                    .max = 1,
                                    .step = 1,
                                    .on_request = true};

static unsigned bit_offset(unsigned row, unsigned col)
{
    (void)row;
    return col % ULB_I2_S_BYTES * 8 + 6 - col / ULB_I2_S_BYTES * 2;
}

static unsigned encode(int value)
{
    return (unsigned)(value + ULB_I2_S_ZERO_POINT);
}

static int decode(unsigned code)
{
    return (int)code - ULB_I2_S_ZERO_POINT;
}

const struct ulb_layout ulb_i2_s_in_place = {
    .name = "in-place",
    .format = &ulb_i2_s,
    .tile_m = 1,
    .tile_k = ULB_I2_S_COLUMNS,
    .kind = ULB_LAYOUT_FIELDS,
    .fields = {.bit_offset = bit_offset, .encode = encode, .decode = decode}};
