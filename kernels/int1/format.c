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

static unsigned fields(unsigned lanes, unsigned row, unsigned col)
{
    return (row % lanes * 4 + col) * 8 + row / lanes;
}

static unsigned fields_8(unsigned row, unsigned col)
{
    return fields(8, row, col);
}

static unsigned fields_16(unsigned row, unsigned col)
{
    return fields(16, row, col);
}

static unsigned nibbles(unsigned row, unsigned col)
{
    return row % 32 * 8 + row / 32 * 4 + col;
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
const struct ulb_layout ulb_int1_fields = {"fields", &ulb_int1, 64, 4, fields_8, encode, decode};
const struct ulb_layout ulb_int1_fields_128 = {"fields-128", &ulb_int1, 128, 4, fields_16, encode, decode};
const struct ulb_layout ulb_int1_nibbles = {"nibbles", &ulb_int1, 64, 4, nibbles, encode, decode};
