#include "kernels/int4/format.h"

const struct ulb_format ulb_int4 = {.name = "int4",
                                    .summary = "4-bit integers, one scale per row",
                                    .bits = 4,
                                    .min = -8,
                                    .max = 7,
                                    .step = 1};

static unsigned row_major(unsigned row, unsigned col)
{
    return row * 8 + col * 4;
}

static unsigned interleaved(unsigned lanes, unsigned row, unsigned col)
{
    unsigned pair = row / (2 * lanes), field = row / lanes % 2;
    return ((pair * lanes + row % lanes) * 4 + col) * 8 + field * 4;
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
    return (unsigned)(value + ULB_INT4_ZERO_POINT);
}

static int decode(unsigned code)
{
    return (int)code - ULB_INT4_ZERO_POINT;
}

const struct ulb_layout ulb_int4_rows = {"rows", &ulb_int4, 1, 2, row_major, encode, decode};
const struct ulb_layout ulb_int4_vnni4i = {"vnni4-interleaved", &ulb_int4, 48,    4,
                                           interleaved_8,       encode,    decode};
const struct ulb_layout ulb_int4_vnni4i_96 = {"vnni4-interleaved-96", &ulb_int4, 96,    4,
                                              interleaved_16,         encode,    decode};
