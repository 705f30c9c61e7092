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

const struct ulb_layout ulb_bf16_rows = {.name = "rows",
                                         .format = &ulb_bf16,
                                         .tile_m = 1,
                                         .tile_k = 1,
                                         .bit_offset = row_major,
                                         .encode = encode,
                                         .decode = decode};
const struct ulb_layout ulb_bf16_vnni2 = {.name = "vnni2",
                                          .format = &ulb_bf16,
                                          .tile_m = 32,
                                          .tile_k = 2,
                                          .bit_offset = vnni2,
                                          .encode = encode,
                                          .decode = decode};
