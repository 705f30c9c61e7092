#include "kernels/int2/format.h"

const struct ulb_format ulb_int2 = {.name = "int2",
                                    .summary = "2-bit integers, one scale per row",
                                    .bits = 2,
                                    .min = -2,
                                    .max = 1,
                                    .step = 1};

static unsigned row_major(unsigned row, unsigned col)
{
    return row * 8 + col * 2;
}

static unsigned interleaved(unsigned lanes, unsigned row, unsigned col)
{
    return (row % lanes * 4 + col) * 8 + row / lanes * 2;
}

static unsigned interleaved_8(unsigned row, unsigned col)
{
    return interleaved(8, row, col);
}

static unsigned interleaved_16(unsigned row, unsigned col)
{
    return interleaved(16, row, col);
}

static unsigned encode(int value)
{
    return (unsigned)(value + ULB_INT2_ZERO_POINT);
}

static int decode(unsigned code)
{
    return (int)code - ULB_INT2_ZERO_POINT;
}

const struct ulb_layout ulb_int2_rows = {"rows", &ulb_int2, 1, 4, row_major, encode, decode};
const struct ulb_layout ulb_int2_vnni4i = {"vnni4-interleaved", &ulb_int2, 32,    4,
                                           interleaved_8,       encode,    decode};
const struct ulb_layout ulb_int2_vnni4i_64 = {"vnni4-interleaved-64", &ulb_int2, 64,    4,
                                              interleaved_16,         encode,    decode};
