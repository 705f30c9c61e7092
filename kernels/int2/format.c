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

/* Bit by bit: a field's two bits lie in different nibbles, which no bit_offset can say. */
static void pack_planes(const int16_t *values, size_t stride, uint8_t *tile)
{
    for (size_t row = 0; row < 32; row++) {
        unsigned byte = 0;
        for (unsigned col = 0; col < 4; col++) {
            unsigned code = (unsigned)(values[row * stride + col] + ULB_INT2_ZERO_POINT);
            byte |= (code & 1) << col | code >> 1 << (4 + col);
        }
        tile[row] = (uint8_t)byte;
    }
}

static void unpack_planes(const uint8_t *tile, int16_t *values, size_t stride)
{
    for (size_t row = 0; row < 32; row++) {
        for (unsigned col = 0; col < 4; col++) {
            int code = (tile[row] >> col & 1) | (tile[row] >> (4 + col) & 1) << 1;
            values[row * stride + col] = (int16_t)(code - ULB_INT2_ZERO_POINT);
        }
    }
}

static unsigned encode(int value)
{
    return (unsigned)(value + ULB_INT2_ZERO_POINT);
}

static int decode(unsigned code)
{
    return (int)code - ULB_INT2_ZERO_POINT;
}

const struct ulb_layout ulb_int2_rows = {.name = "rows",
                                         .format = &ulb_int2,
                                         .tile_m = 1,
                                         .tile_k = 4,
                                         .bit_offset = row_major,
                                         .encode = encode,
                                         .decode = decode};
const struct ulb_layout ulb_int2_vnni4i = {.name = "vnni4-interleaved",
                                           .format = &ulb_int2,
                                           .tile_m = 32,
                                           .tile_k = 4,
                                           .bit_offset = interleaved_8,
                                           .encode = encode,
                                           .decode = decode};
const struct ulb_layout ulb_int2_vnni4i_64 = {.name = "vnni4-interleaved-64",
                                              .format = &ulb_int2,
                                              .tile_m = 64,
                                              .tile_k = 4,
                                              .bit_offset = interleaved_16,
                                              .encode = encode,
                                              .decode = decode};
const struct ulb_layout ulb_int2_planes = {.name = "planes",
                                           .format = &ulb_int2,
                                           .tile_m = 32,
                                           .tile_k = 4,
                                           .slices = 4,
                                           .slice_tiles = 256,
                                           .tile_bytes = 32,
                                           .pack_tile = pack_planes,
                                           .unpack_tile = unpack_planes};
const struct ulb_layout ulb_int2_fields = {.name = "fields",
                                           .format = &ulb_int2,
                                           .tile_m = 32,
                                           .tile_k = 4,
                                           .slices = 3,
                                           .bit_offset = interleaved_8,
                                           .encode = encode,
                                           .decode = decode};
const struct ulb_layout ulb_int2_fields_64 = {.name = "fields-64",
                                              .format = &ulb_int2,
                                              .tile_m = 64,
                                              .tile_k = 4,
                                              .slices = 4,
                                              .bit_offset = interleaved_16,
                                              .encode = encode,
                                              .decode = decode};
