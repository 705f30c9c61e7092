#include "kernels/bf16/format.h"

const struct ulb_format ulb_bf16 = {
    .name = "bf16", .summary = "bfloat16, the 16-bit baseline", .bits = 16, .floating = true};

static unsigned row_major(unsigned row, unsigned col)
{
    return (row + col) * 16;
}

static unsigned vnni2(unsigned row, unsigned col)
{
    return (row * 2 + col) * 16;
}

static unsigned encode(int value)
{
    return (unsigned)value & 0xFFFF;
}

static int decode(unsigned code)
{
    return (int)(int16_t)(uint16_t)code;
}

const struct ulb_layout ulb_bf16_rows = {"rows", &ulb_bf16, 1, 1, row_major, encode, decode};
const struct ulb_layout ulb_bf16_vnni2 = {"vnni2", &ulb_bf16, 32, 2, vnni2, encode, decode};
