#include "kernels/formats/int8/format.h"

#include "kernels/pack/amx_tile.h"

const struct ulb_format ulb_int8 = {.name = "int8",
                                    .summary = "8-bit integers, one scale per row",
                                    .bits = 8,
                                    .min = -128,
                                    .max = 127,
                                    .step = 1};

static unsigned row_major(unsigned row, unsigned col)
{
    return (row + col) * 8;
}

static unsigned vnni4(unsigned row, unsigned col)
{
    return (row * 4 + col) * 8;
}

static unsigned tiled(unsigned row, unsigned col)
{
    return ulb_tile_bit(1, 8, row, col);
}

static unsigned encode_biased(int value)
{
    return (unsigned)(value + ULB_INT8_ZERO_POINT);
}

static int decode_biased(unsigned code)
{
    return (int)code - ULB_INT8_ZERO_POINT;
}

static unsigned encode_signed(int value)
{
    return (unsigned)value & 0xFF;
}

static int decode_signed(unsigned code)
{
    return (int)(int8_t)(uint8_t)code;
}

const struct ulb_layout ulb_int8_rows = {
    .name = "rows",
    .format = &ulb_int8,
    .tile_m = 1,
    .tile_k = 1,
    .kind = ULB_LAYOUT_FIELDS,
    .fields = {.bit_offset = row_major, .encode = encode_signed, .decode = decode_signed}};
const struct ulb_layout ulb_int8_vnni4 = {
    .name = "vnni4",
    .format = &ulb_int8,
    .tile_m = 48,
    .tile_k = 4,
    .slices = 2,
    .kind = ULB_LAYOUT_FIELDS,
    .fields = {.bit_offset = vnni4, .encode = encode_biased, .decode = decode_biased}};
const struct ulb_layout ulb_int8_vnni4_96 = {
    .name = "vnni4-96",
    .format = &ulb_int8,
    .tile_m = 96,
    .tile_k = 4,
    .slices = 2,
    .kind = ULB_LAYOUT_FIELDS,
    .fields = {.bit_offset = vnni4, .encode = encode_biased, .decode = decode_biased}};
const struct ulb_layout ulb_int8_vnni4_signed = {
    .name = "vnni4-signed",
    .format = &ulb_int8,
    .tile_m = 48,
    .tile_k = 4,
    .slices = 4,
    .kind = ULB_LAYOUT_FIELDS,
    .fields = {.bit_offset = vnni4, .encode = encode_signed, .decode = decode_signed}};
const struct ulb_layout ulb_int8_tiles = {
    .name = "tiles",
    .format = &ulb_int8,
    .tile_m = 32,
    .tile_k = ULB_TILE_COLUMNS,
    .slices = 2,
    .kind = ULB_LAYOUT_FIELDS,
    .fields = {.bit_offset = tiled, .encode = encode_biased, .decode = decode_biased}};

ULB_SDOT_LAYOUTS(int8, 8, 0, encode_signed, decode_signed);
ULB_MMLA_LAYOUTS(int8, 8, encode_signed, decode_signed);

/* The same with a scale for each group of columns; two slices of whole groups. */
#define GROUPED(g)                                                                                           \
    const struct ulb_format ulb_int8_g##g = {.name = "int8g" #g,                                             \
                                             .summary = "8-bit integers, one scale per " #g " columns",      \
                                             .bits = 8,                                                      \
                                             .min = -128,                                                    \
                                             .max = 127,                                                     \
                                             .step = 1,                                                      \
                                             .group = g};                                                    \
    const struct ulb_layout ulb_int8_rows_g##g = {                                                           \
        .name = "rows",                                                                                      \
        .format = &ulb_int8_g##g,                                                                            \
        .tile_m = 1,                                                                                         \
        .tile_k = 1,                                                                                         \
        .kind = ULB_LAYOUT_FIELDS,                                                                           \
        .fields = {.bit_offset = row_major, .encode = encode_signed, .decode = decode_signed}};              \
    const struct ulb_layout ulb_int8_vnni4_g##g = {                                                          \
        .name = "vnni4",                                                                                     \
        .format = &ulb_int8_g##g,                                                                            \
        .tile_m = 48,                                                                                        \
        .tile_k = 4,                                                                                         \
        .kind = ULB_LAYOUT_FIELDS,                                                                           \
        .fields = {.bit_offset = vnni4, .encode = encode_biased, .decode = decode_biased},                   \
        .slices = 2,                                                                                         \
        .scales_ahead = true};                                                                               \
    const struct ulb_layout ulb_int8_vnni4_96_g##g = {                                                       \
        .name = "vnni4-96",                                                                                  \
        .format = &ulb_int8_g##g,                                                                            \
        .tile_m = 96,                                                                                        \
        .tile_k = 4,                                                                                         \
        .kind = ULB_LAYOUT_FIELDS,                                                                           \
        .fields = {.bit_offset = vnni4, .encode = encode_biased, .decode = decode_biased},                   \
        .slices = 2,                                                                                         \
        .scales_ahead = true};                                                                               \
    const struct ulb_layout ulb_int8_vnni4_signed_g##g = {                                                   \
        .name = "vnni4-signed",                                                                              \
        .format = &ulb_int8_g##g,                                                                            \
        .tile_m = 48,                                                                                        \
        .tile_k = 4,                                                                                         \
        .kind = ULB_LAYOUT_FIELDS,                                                                           \
        .fields = {.bit_offset = vnni4, .encode = encode_signed, .decode = decode_signed},                   \
        .slices = 2,                                                                                         \
        .scales_ahead = true};                                                                               \
    ULB_SDOT_LAYOUTS_GROUPED(int8, g, 0, encode_signed, decode_signed)

GROUPED(32);
GROUPED(64);
GROUPED(128);
