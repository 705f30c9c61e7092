#include "kernels/formats/int3/format.h"

#include "kernels/codes/three_bit.h"

const struct ulb_format ulb_int3 = {.name = "int3",
                                    .summary = "3-bit integers, one scale per row",
                                    .bits = 3,
                                    .min = -4,
                                    .max = 3,
                                    .step = 1};

static unsigned encode(int value)
{
    return (unsigned)(value + ULB_INT3_ZERO_POINT);
}

static int16_t decode(unsigned code)
{
    return (int16_t)((int)(code & 7) - ULB_INT3_ZERO_POINT);
}

static void pack_rows(const int16_t *values, size_t stride, uint8_t *tile)
{
    (void)stride;
    unsigned bits = 0;
    for (unsigned i = 0; i < ULB_INT3_FIELDS; i++)
        bits |= encode(values[i]) << 3 * i;
    for (unsigned i = 0; i < 3; i++)
        tile[i] = (uint8_t)(bits >> 8 * i);
}

static void unpack_rows(const uint8_t *tile, int16_t *values, size_t stride)
{
    (void)stride;
    unsigned bits = tile[0] | (unsigned)tile[1] << 8 | (unsigned)tile[2] << 16;
    for (unsigned i = 0; i < ULB_INT3_FIELDS; i++)
        values[i] = decode(bits >> 3 * i);
}

static void pack(unsigned lanes, const int16_t *values, size_t stride, uint8_t *tile)
{
    for (unsigned lane = 0; lane < lanes; lane++) {
        for (unsigned col = 0; col < 4; col++) {
            unsigned code[ULB_INT3_FIELDS];
            for (unsigned i = 0; i < ULB_INT3_FIELDS; i++)
                code[i] = encode(values[(lane + i * lanes) * stride + col]);
            ulb_three_bit_pack(code, lanes * 4, tile + lane * 4 + col);
        }
    }
}

static void unpack(unsigned lanes, const uint8_t *tile, int16_t *values, size_t stride)
{
    for (unsigned lane = 0; lane < lanes; lane++) {
        for (unsigned col = 0; col < 4; col++) {
            unsigned code[ULB_INT3_FIELDS];
            ulb_three_bit_unpack(tile + lane * 4 + col, lanes * 4, code);
            for (unsigned i = 0; i < ULB_INT3_FIELDS; i++)
                values[(lane + i * lanes) * stride + col] = decode(code[i]);
        }
    }
}

static void pack_8(const int16_t *values, size_t stride, uint8_t *tile)
{
    pack(8, values, stride, tile);
}

static void unpack_8(const uint8_t *tile, int16_t *values, size_t stride)
{
    unpack(8, tile, values, stride);
}

static void pack_16(const int16_t *values, size_t stride, uint8_t *tile)
{
    pack(16, values, stride, tile);
}

static void unpack_16(const uint8_t *tile, int16_t *values, size_t stride)
{
    unpack(16, tile, values, stride);
}

#define QUADS(rows, lanes)                                                                                   \
    static void pack_sdot_##rows(const int16_t *values, size_t stride, uint8_t *tile)                        \
    {                                                                                                        \
        for (size_t q = 0; q < 4; q++)                                                                       \
            pack(lanes, values + 4 * q, stride, tile + q * (lanes)*12);                                      \
    }                                                                                                        \
    static void unpack_sdot_##rows(const uint8_t *tile, int16_t *values, size_t stride)                      \
    {                                                                                                        \
        for (size_t q = 0; q < 4; q++)                                                                       \
            unpack(lanes, tile + q * (lanes)*12, values + 4 * q, stride);                                    \
    }                                                                                                        \
    const struct ulb_layout ulb_int3_sdot_##rows = {                                                         \
        .name = "quads-" #rows,                                                                              \
        .format = &ulb_int3,                                                                                 \
        .tile_m = rows,                                                                                      \
        .tile_k = ULB_SDOT_COLUMNS,                                                                          \
        .slices = ULB_SDOT_SLICES,                                                                           \
        .tile_bytes = 48 * (lanes),                                                                          \
        .kind = ULB_LAYOUT_TILES,                                                                            \
        .tiles = {.pack = pack_sdot_##rows, .unpack = unpack_sdot_##rows, .xor_mask = 0x80}}

QUADS(32, 4);
QUADS(128, 16);

const struct ulb_layout ulb_int3_rows = {.name = "rows",
                                         .format = &ulb_int3,
                                         .tile_m = 1,
                                         .tile_k = ULB_INT3_FIELDS,
                                         .tile_bytes = 3,
                                         .kind = ULB_LAYOUT_TILES,
                                         .tiles = {.pack = pack_rows, .unpack = unpack_rows}};
const struct ulb_layout ulb_int3_vnni4 = {.name = "vnni4-three-bit",
                                          .format = &ulb_int3,
                                          .tile_m = 64,
                                          .tile_k = 4,
                                          .slices = ULB_INT3_SLICES,
                                          .tile_bytes = 96,
                                          .kind = ULB_LAYOUT_TILES,
                                          .tiles = {.pack = pack_8, .unpack = unpack_8}};
const struct ulb_layout ulb_int3_vnni4_128 = {.name = "vnni4-three-bit-128",
                                              .format = &ulb_int3,
                                              .tile_m = 128,
                                              .tile_k = 4,
                                              .slices = ULB_INT3_SLICES,
                                              .tile_bytes = 192,
                                              .kind = ULB_LAYOUT_TILES,
                                              .tiles = {.pack = pack_16, .unpack = unpack_16}};
