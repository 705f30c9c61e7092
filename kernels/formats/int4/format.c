#include "kernels/formats/int4/format.h"

#include "kernels/pack/amx_tile.h"

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

static unsigned tiled(unsigned row, unsigned col)
{
    return ulb_tile_bit(2, 4, row, col);
}

static unsigned encode(int value)
{
    return (unsigned)(value + ULB_INT4_ZERO_POINT);
}

static int decode(unsigned code)
{
    return (int)code - ULB_INT4_ZERO_POINT;
}

const struct ulb_layout ulb_int4_rows = {
    .name = "rows",
    .format = &ulb_int4,
    .tile_m = 1,
    .tile_k = 2,
    .kind = ULB_LAYOUT_FIELDS,
    .fields = {.bit_offset = row_major, .encode = encode, .decode = decode}};
const struct ulb_layout ulb_int4_vnni4i = {
    .name = "vnni4-interleaved",
    .format = &ulb_int4,
    .tile_m = 48,
    .tile_k = 4,
    .slices = 4,
    .kind = ULB_LAYOUT_FIELDS,
    .fields = {.bit_offset = interleaved_8, .encode = encode, .decode = decode}};
const struct ulb_layout ulb_int4_vnni4i_96 = {
    .name = "vnni4-interleaved-96",
    .format = &ulb_int4,
    .tile_m = 96,
    .tile_k = 4,
    .slices = 4,
    .kind = ULB_LAYOUT_FIELDS,
    .fields = {.bit_offset = interleaved_16, .encode = encode, .decode = decode}};
const struct ulb_layout ulb_int4_tiles = {
    .name = "tiles",
    .format = &ulb_int4,
    .tile_m = 32,
    .tile_k = ULB_TILE_COLUMNS,
    .slices = 2,
    .kind = ULB_LAYOUT_FIELDS,
    .fields = {.bit_offset = tiled, .encode = encode, .decode = decode}};

ULB_SDOT_LAYOUTS(int4, 4, 0x80, encode, decode);
ULB_MMLA_LAYOUTS(int4, 4, encode, decode);

/* The same with a scale for each group of columns; two slices of whole groups. */
#define GROUPED(g)                                                                                           \
    const struct ulb_format ulb_int4_g##g = {.name = "int4g" #g,                                             \
                                             .summary = "4-bit integers, one scale per " #g " columns",      \
                                             .bits = 4,                                                      \
                                             .min = -8,                                                      \
                                             .max = 7,                                                       \
                                             .step = 1,                                                      \
                                             .group = g};                                                    \
    const struct ulb_layout ulb_int4_rows_g##g = {                                                           \
        .name = "rows",                                                                                      \
        .format = &ulb_int4_g##g,                                                                            \
        .tile_m = 1,                                                                                         \
        .tile_k = 2,                                                                                         \
        .kind = ULB_LAYOUT_FIELDS,                                                                           \
        .fields = {.bit_offset = row_major, .encode = encode, .decode = decode}};                            \
    const struct ulb_layout ulb_int4_vnni4i_g##g = {                                                         \
        .name = "vnni4-interleaved",                                                                         \
        .format = &ulb_int4_g##g,                                                                            \
        .tile_m = 48,                                                                                        \
        .tile_k = 4,                                                                                         \
        .kind = ULB_LAYOUT_FIELDS,                                                                           \
        .fields = {.bit_offset = interleaved_8, .encode = encode, .decode = decode},                         \
        .slices = 2,                                                                                         \
        .scales_ahead = true};                                                                               \
    const struct ulb_layout ulb_int4_vnni4i_96_g##g = {                                                      \
        .name = "vnni4-interleaved-96",                                                                      \
        .format = &ulb_int4_g##g,                                                                            \
        .tile_m = 96,                                                                                        \
        .tile_k = 4,                                                                                         \
        .kind = ULB_LAYOUT_FIELDS,                                                                           \
        .fields = {.bit_offset = interleaved_16, .encode = encode, .decode = decode},                        \
        .slices = 2,                                                                                         \
        .scales_ahead = true};                                                                               \
    ULB_SDOT_LAYOUTS_GROUPED(int4, g, 0x80, encode, decode)

GROUPED(32);
GROUPED(64);
GROUPED(128);
