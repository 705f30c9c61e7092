#include "kernels/formats/tern1_6/format.h"

const struct ulb_format ulb_tern1_6 = {.name = "tern1.6",
                                       .summary = "ternary, five digits in a byte, one scale per row",
                                       .bits = 1.6,
                                       .min = -1,
                                       .max = 1,
                                       .step = 1};

enum { CODES = 243 };

static uint8_t fraction_of(unsigned number)
{
    return (uint8_t)(256 * number / CODES + 1);
}

static unsigned number_of_fraction(uint8_t byte)
{
    return (unsigned)byte * CODES / 256;
}

static uint8_t signed_fraction_of(unsigned number)
{
    return fraction_of(number) ^ 0x80;
}

static unsigned number_of_signed_fraction(uint8_t byte)
{
    return number_of_fraction(byte ^ 0x80);
}

/* Code 64 d0 + n if n < 64. After these codes come the 17 other n of each d0. */
static uint8_t table_code_of(unsigned number)
{
    unsigned d0 = number / 81, n = number % 81;
    return (uint8_t)(n < 64 ? 64 * d0 + n : 192 + 17 * d0 + (n - 64));
}

static unsigned number_of_table_code(uint8_t byte)
{
    unsigned rest = byte - 192u;
    return byte < 192 ? byte / 64 * 81 + byte % 64u : rest / 17 * 81 + 64 + rest % 17;
}

/* Packs a tile of 5 * lanes rows and cols columns. The five digits of a byte are rows `lanes` apart. */
static void pack(uint8_t (*encode)(unsigned), unsigned lanes, unsigned cols, const int16_t *values,
                 size_t stride, uint8_t *tile)
{
    for (unsigned lane = 0; lane < lanes; lane++) {
        for (unsigned col = 0; col < cols; col++) {
            unsigned number = 0;
            for (unsigned i = 0; i < ULB_TERN1_6_DIGITS; i++)
                number = 3 * number +
                         (unsigned)(values[(lane + i * lanes) * stride + col] + ULB_TERN1_6_ZERO_POINT);
            *tile++ = encode(number);
        }
    }
}

static void unpack(unsigned (*decode)(uint8_t), unsigned lanes, unsigned cols, const uint8_t *tile,
                   int16_t *values, size_t stride)
{
    for (unsigned lane = 0; lane < lanes; lane++) {
        for (unsigned col = 0; col < cols; col++) {
            unsigned number = decode(*tile++);
            for (unsigned i = ULB_TERN1_6_DIGITS; i-- > 0; number /= 3)
                values[(lane + i * lanes) * stride + col] =
                    (int16_t)((int)(number % 3) - ULB_TERN1_6_ZERO_POINT);
        }
    }
}

static void pack_rows(const int16_t *values, size_t stride, uint8_t *tile)
{
    pack(fraction_of, 1, 1, values, stride, tile);
}

static void unpack_rows(const uint8_t *tile, int16_t *values, size_t stride)
{
    unpack(number_of_fraction, 1, 1, tile, values, stride);
}

static void pack_8(const int16_t *values, size_t stride, uint8_t *tile)
{
    pack(fraction_of, 8, 4, values, stride, tile);
}

static void unpack_8(const uint8_t *tile, int16_t *values, size_t stride)
{
    unpack(number_of_fraction, 8, 4, tile, values, stride);
}

static void pack_signed_8(const int16_t *values, size_t stride, uint8_t *tile)
{
    pack(signed_fraction_of, 8, 4, values, stride, tile);
}

static void unpack_signed_8(const uint8_t *tile, int16_t *values, size_t stride)
{
    unpack(number_of_signed_fraction, 8, 4, tile, values, stride);
}

static void pack_16(const int16_t *values, size_t stride, uint8_t *tile)
{
    pack(fraction_of, 16, 4, values, stride, tile);
}

static void unpack_16(const uint8_t *tile, int16_t *values, size_t stride)
{
    unpack(number_of_fraction, 16, 4, tile, values, stride);
}

static void pack_tables_16(const int16_t *values, size_t stride, uint8_t *tile)
{
    pack(table_code_of, 16, 4, values, stride, tile);
}

static void unpack_tables_16(const uint8_t *tile, int16_t *values, size_t stride)
{
    unpack(number_of_table_code, 16, 4, tile, values, stride);
}

/* Four groups of 4 columns (kernels/pack/sdot_tile.h), a byte for each lane's 4 columns. */
static void pack_sdot(unsigned lanes, const int16_t *values, size_t stride, uint8_t *tile)
{
    for (unsigned q = 0; q < 4; q++)
        pack(fraction_of, lanes, 4, values + 4 * q, stride, tile + q * lanes * 4);
}

static void unpack_sdot(unsigned lanes, const uint8_t *tile, int16_t *values, size_t stride)
{
    for (unsigned q = 0; q < 4; q++)
        unpack(number_of_fraction, lanes, 4, tile + q * lanes * 4, values + 4 * q, stride);
}

#define QUADS(rows, lanes)                                                                                   \
    static void pack_sdot_##rows(const int16_t *values, size_t stride, uint8_t *tile)                        \
    {                                                                                                        \
        pack_sdot(lanes, values, stride, tile);                                                              \
    }                                                                                                        \
    static void unpack_sdot_##rows(const uint8_t *tile, int16_t *values, size_t stride)                      \
    {                                                                                                        \
        unpack_sdot(lanes, tile, values, stride);                                                            \
    }                                                                                                        \
    const struct ulb_layout ulb_tern1_6_sdot_##rows = {                                                      \
        .name = "quads-" #rows,                                                                              \
        .format = &ulb_tern1_6,                                                                              \
        .tile_m = rows,                                                                                      \
        .tile_k = ULB_SDOT_COLUMNS,                                                                          \
        .slices = ULB_SDOT_SLICES,                                                                           \
        .tile_bytes = 16 * (lanes),                                                                          \
        .kind = ULB_LAYOUT_TILES,                                                                            \
        .tiles = {.pack = pack_sdot_##rows, .unpack = unpack_sdot_##rows, .xor_mask = 0x80}}

QUADS(20, ULB_TERN1_6_LANES_SHORT);
QUADS(80, ULB_TERN1_6_LANES_LONG);

const struct ulb_layout ulb_tern1_6_rows = {.name = "rows",
                                            .format = &ulb_tern1_6,
                                            .tile_m = 5,
                                            .tile_k = 1,
                                            .tile_bytes = 1,
                                            .kind = ULB_LAYOUT_TILES,
                                            .tiles = {.pack = pack_rows, .unpack = unpack_rows}};
const struct ulb_layout ulb_tern1_6_fifths = {.name = "fifths",
                                              .format = &ulb_tern1_6,
                                              .tile_m = 40,
                                              .tile_k = 4,
                                              .slices = ULB_TERN1_6_SLICES,
                                              .tile_bytes = 32,
                                              .kind = ULB_LAYOUT_TILES,
                                              .tiles = {.pack = pack_8, .unpack = unpack_8}};
const struct ulb_layout ulb_tern1_6_signed = {.name = "fifths-signed",
                                              .format = &ulb_tern1_6,
                                              .tile_m = 40,
                                              .tile_k = 4,
                                              .slices = ULB_TERN1_6_SLICES,
                                              .tile_bytes = 32,
                                              .kind = ULB_LAYOUT_TILES,
                                              .tiles = {.pack = pack_signed_8, .unpack = unpack_signed_8}};
const struct ulb_layout ulb_tern1_6_fifths_80 = {.name = "fifths-80",
                                                 .format = &ulb_tern1_6,
                                                 .tile_m = 80,
                                                 .tile_k = 4,
                                                 .slices = ULB_TERN1_6_SLICES,
                                                 .tile_bytes = 64,
                                                 .kind = ULB_LAYOUT_TILES,
                                                 .tiles = {.pack = pack_16, .unpack = unpack_16}};
const struct ulb_layout ulb_tern1_6_tables_80 = {
    .name = "tables-80",
    .format = &ulb_tern1_6,
    .tile_m = 80,
    .tile_k = 4,
    .slices = ULB_TERN1_6_SLICES,
    .tile_bytes = 64,
    .kind = ULB_LAYOUT_TILES,
    .tiles = {.pack = pack_tables_16, .unpack = unpack_tables_16}};
