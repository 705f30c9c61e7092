#include "kernels/int1/format.h"

const struct ulb_format ulb_int1 = {
    .name = "int1", .summary = "signs, one scale per row", .bits = 1, .min = -1, .max = 1, .step = 2};

static unsigned row_major(unsigned row, unsigned col)
{
    return row * 8 + col;
}

static unsigned vnni4(unsigned row, unsigned col)
{
    return row * 4 + col;
}

static unsigned encode(int value)
{
    return value < 0;
}

static int decode(unsigned code)
{
    return code ? -1 : 1;
}

const struct ulb_layout ulb_int1_rows = {"rows", &ulb_int1, 1, 8, row_major, encode, decode};
const struct ulb_layout ulb_int1_vnni4 = {"vnni4", &ulb_int1, 32, 4, vnni4, encode, decode};
