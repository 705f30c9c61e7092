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

const struct ulb_layout ulb_int1_rows = {.name = "rows",
                                         .format = &ulb_int1,
                                         .tile_m = 1,
                                         .tile_k = 8,
                                         .bit_offset = row_major,
                                         .encode = encode,
                                         .decode = decode};
const struct ulb_layout ulb_int1_vnni4 = {.name = "vnni4",
                                          .format = &ulb_int1,
                                          .tile_m = 32,
                                          .tile_k = 4,
                                          .bit_offset = vnni4,
                                          .encode = encode,
                                          .decode = decode};
const struct ulb_layout ulb_int1_fields = {.name = "fields",
                                           .format = &ulb_int1,
                                           .tile_m = 64,
                                           .tile_k = 4,
                                           .slices = 4,
                                           .bit_offset = fields_8,
                                           .encode = encode,
                                           .decode = decode};
const struct ulb_layout ulb_int1_fields_128 = {.name = "fields-128",
                                               .format = &ulb_int1,
                                               .tile_m = 128,
                                               .tile_k = 4,
                                               .slices = 4,
                                               .bit_offset = fields_16,
                                               .encode = encode,
                                               .decode = decode};
const struct ulb_layout ulb_int1_nibbles = {.name = "nibbles",
                                            .format = &ulb_int1,
                                            .tile_m = 64,
                                            .tile_k = 4,
                                            .slices = 4,
                                            .slice_tiles = 256,
                                            .bit_offset = nibbles,
                                            .encode = encode,
                                            .decode = decode};
