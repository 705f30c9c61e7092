#include "kernels/formats/int2/format.h"
#include "kernels/pack/amx_tile.h"

const struct ulb_format ulb_int2 = {.name = "int2",
                                    .summary = "2-bit integers, one scale per row",
                                    .bits = 2,
                                    .min = -2,
                                    .max = 1,
                                    .step = 1};

ULB_LAYOUTS2(int2, ULB_INT2_ZERO_POINT);

static unsigned tiled(unsigned row, unsigned col)
{
    return ulb_tile_bit(4, 2, row, col);
}

ULB_LAYOUT2(ulb_int2_vnni4i, "vnni4-interleaved", int2, 32, 1, ulb_fields2_interleaved_8);
ULB_LAYOUT2(ulb_int2_vnni4i_64, "vnni4-interleaved-64", int2, 64, 1, ulb_fields2_interleaved_16);
const struct ulb_layout ulb_int2_tiles = {
    .name = "tiles",
    .format = &ulb_int2,
    .tile_m = 64,
    .tile_k = ULB_TILE_COLUMNS,
    .slices = 2,
    .kind = ULB_LAYOUT_FIELDS,
    .fields = {.bit_offset = tiled, .encode = encode, .decode = decode}};

/* The same with a scale for each group of columns; two slices of whole groups. */
#define GROUPED(g)                                                                                           \
    const struct ulb_format ulb_int2_g##g = {.name = "int2g" #g,                                             \
                                             .summary = "2-bit integers, one scale per " #g " columns",      \
                                             .bits = 2,                                                      \
                                             .min = -2,                                                      \
                                             .max = 1,                                                       \
                                             .step = 1,                                                      \
                                             .group = g};                                                    \
    const struct ulb_layout ulb_int2_rows_g##g = {                                                           \
        .name = "rows",                                                                                      \
        .format = &ulb_int2_g##g,                                                                            \
        .tile_m = 1,                                                                                         \
        .tile_k = 4,                                                                                         \
        .kind = ULB_LAYOUT_FIELDS,                                                                           \
        .fields = {.bit_offset = ulb_fields2_rows, .encode = encode, .decode = decode}};                     \
    const struct ulb_layout ulb_int2_fields_g##g = {                                                         \
        .name = "fields",                                                                                    \
        .format = &ulb_int2_g##g,                                                                            \
        .tile_m = 32,                                                                                        \
        .tile_k = 4,                                                                                         \
        .kind = ULB_LAYOUT_FIELDS,                                                                           \
        .fields = {.bit_offset = ulb_fields2_interleaved_8, .encode = encode, .decode = decode},             \
        .slices = 2,                                                                                         \
        .scales_ahead = true};                                                                               \
    const struct ulb_layout ulb_int2_fields_64_g##g = {                                                      \
        .name = "fields-64",                                                                                 \
        .format = &ulb_int2_g##g,                                                                            \
        .tile_m = 64,                                                                                        \
        .tile_k = 4,                                                                                         \
        .kind = ULB_LAYOUT_FIELDS,                                                                           \
        .fields = {.bit_offset = ulb_fields2_interleaved_16, .encode = encode, .decode = decode},            \
        .slices = 2,                                                                                         \
        .scales_ahead = true};                                                                               \
    ULB_SDOT_LAYOUTS_GROUPED(int2, g, 0x80, encode, decode)

GROUPED(32);
GROUPED(64);
GROUPED(128);
