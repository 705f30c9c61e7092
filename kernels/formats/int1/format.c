#include "kernels/formats/int1/format.h"

#include "kernels/pack/amx_tile.h"

#include <string.h>

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

/* Byte of a row among the 64 of its block. Widening bytes to 32-bit sums yields the order [half of a byte
 * lane][half of a vector][16]. */
static size_t lut6_byte(size_t row)
{
    size_t word = row / 32, half = row / 16 % 2, e = row % 16;
    return 16 * (2 * half + e / 8) + 8 * word + e % 8;
}

/* Place of column col of a row: the byte, and the bit in it. */
static size_t lut6_place(size_t row, unsigned col, unsigned *bit)
{
    unsigned vector = col < 18 ? col / 6 : (col - 18) / 2;
    *bit = col < 18 ? col % 6 : 6 + col % 2;
    return row / 64 * 192 + vector * 64 + lut6_byte(row % 64);
}

static void pack_lut6(const int16_t *values, size_t stride, uint8_t *tile)
{
    memset(tile, 0, 128 * 24 / 8);
    for (size_t row = 0; row < 128; row++) {
        for (unsigned col = 0; col < 24; col++) {
            unsigned bit;
            uint8_t *byte = tile + lut6_place(row, col, &bit);
            *byte = (uint8_t)(*byte | (values[row * stride + col] < 0) << bit);
        }
    }
}

static void unpack_lut6(const uint8_t *tile, int16_t *values, size_t stride)
{
    for (size_t row = 0; row < 128; row++) {
        for (unsigned col = 0; col < 24; col++) {
            unsigned bit;
            const uint8_t *byte = tile + lut6_place(row, col, &bit);
            values[row * stride + col] = *byte >> bit & 1 ? -1 : 1;
        }
    }
}

static unsigned tiled(unsigned row, unsigned col)
{
    return ulb_tile_bit(8, 1, row, col);
}

static unsigned bits_of_columns(unsigned row, unsigned col)
{
    unsigned byte = col / 32 * ULB_TILE_COLUMNS + row * 4 + col % 4;
    return byte * 8 + col % 32 / 4;
}

static unsigned encode(int value)
{
    return value < 0;
}

static int decode(unsigned code)
{
    return code ? -1 : 1;
}

const struct ulb_layout ulb_int1_rows = {
    .name = "rows",
    .format = &ulb_int1,
    .tile_m = 1,
    .tile_k = 8,
    .kind = ULB_LAYOUT_FIELDS,
    .fields = {.bit_offset = row_major, .encode = encode, .decode = decode}};
const struct ulb_layout ulb_int1_vnni4 = {
    .name = "vnni4",
    .format = &ulb_int1,
    .tile_m = 32,
    .tile_k = 4,
    .kind = ULB_LAYOUT_FIELDS,
    .fields = {.bit_offset = vnni4, .encode = encode, .decode = decode}};
const struct ulb_layout ulb_int1_fields = {
    .name = "fields",
    .format = &ulb_int1,
    .tile_m = 64,
    .tile_k = 4,
    .slices = 4,
    .kind = ULB_LAYOUT_FIELDS,
    .fields = {.bit_offset = fields_8, .encode = encode, .decode = decode}};
const struct ulb_layout ulb_int1_fields_128 = {
    .name = "fields-128",
    .format = &ulb_int1,
    .tile_m = 128,
    .tile_k = 4,
    .slices = 4,
    .kind = ULB_LAYOUT_FIELDS,
    .fields = {.bit_offset = fields_16, .encode = encode, .decode = decode}};
const struct ulb_layout ulb_int1_nibbles = {
    .name = "nibbles",
    .format = &ulb_int1,
    .tile_m = 64,
    .tile_k = 4,
    .slices = 4,
    .slice_tiles = 256,
    .kind = ULB_LAYOUT_FIELDS,
    .fields = {.bit_offset = nibbles, .encode = encode, .decode = decode}};
const struct ulb_layout ulb_int1_lut6 = {.name = "lut6",
                                         .format = &ulb_int1,
                                         .tile_m = 128,
                                         .tile_k = 24,
                                         .slices = ULB_INT1_LUT6_SLICES,
                                         .slice_tiles = ULB_INT1_LUT6_STEPS,
                                         .tile_bytes = 128 * 24 / 8,
                                         .kind = ULB_LAYOUT_TILES,
                                         .tiles = {.pack = pack_lut6, .unpack = unpack_lut6}};
const struct ulb_layout ulb_int1_tiles = {
    .name = "tiles",
    .format = &ulb_int1,
    .tile_m = 128,
    .tile_k = ULB_TILE_COLUMNS,
    .slices = 2,
    .kind = ULB_LAYOUT_FIELDS,
    .fields = {.bit_offset = tiled, .encode = encode, .decode = decode}};
const struct ulb_layout ulb_int1_bits = {
    .name = "bits",
    .format = &ulb_int1,
    .tile_m = ULB_TILE_ROWS,
    .tile_k = ULB_TILE_COLUMNS,
    .kind = ULB_LAYOUT_FIELDS,
    .fields = {.bit_offset = bits_of_columns, .encode = encode, .decode = decode}};

ULB_SDOT_LAYOUTS(int1, 1, 0x80, encode, decode);
ULB_MMLA_LAYOUTS(int1, 1, encode, decode);
