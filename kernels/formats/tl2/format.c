#include "kernels/formats/tl2/format.h"

#include <stdlib.h>
#include <string.h>

const struct ulb_format ulb_tl2 = {.name = "tl2",
                                   .summary = "bitnet.cpp TL2: three weights, sign + index",
                                   .bits = 5.0 / 3,
                                   .min = -1,
                                   .max = 1,
                                   .step = 1,
                                   .on_request = true};

static int number_of(const int16_t *values)
{
    return 9 * values[0] + 3 * values[1] + values[2];
}

static void weights_of(unsigned index, unsigned negative, int16_t *values)
{
    int n = (negative ? -(int)index : (int)index) + 13;
    values[0] = (int16_t)(n / 9 - 1);
    values[1] = (int16_t)(n / 3 % 3 - 1);
    values[2] = (int16_t)(n % 3 - 1);
}

static void pack_rows(const int16_t *values, size_t stride, uint8_t *tile)
{
    (void)stride;
    memset(tile, 0, ULB_TL2_BURST / 2 + 1);
    for (unsigned i = 0; i < ULB_TL2_BURST; i++) {
        int n = number_of(values + i * ULB_TL2_COLUMNS);
        tile[i / 2] |= (uint8_t)(abs(n) << i % 2 * 4);
        tile[ULB_TL2_BURST / 2] |= (uint8_t)((n < 0) << i);
    }
}

static void unpack_rows(const uint8_t *tile, int16_t *values, size_t stride)
{
    (void)stride;
    for (unsigned i = 0; i < ULB_TL2_BURST; i++)
        weights_of(tile[i / 2] >> i % 2 * 4 & 15, tile[ULB_TL2_BURST / 2] >> i & 1,
                   values + i * ULB_TL2_COLUMNS);
}

static void pack_planes(size_t rows, const int16_t *values, size_t stride, uint8_t *tile)
{
    const size_t half = rows / 2, signs = ULB_TL2_BURST * half;
    memset(tile, 0, signs + rows);
    for (size_t row = 0; row < rows; row++) {
        for (unsigned i = 0; i < ULB_TL2_BURST; i++) {
            int n = number_of(values + row * stride + i * ULB_TL2_COLUMNS);
            tile[i * half + row % half] |= (uint8_t)(abs(n) << row / half * 4);
            tile[signs + row] |= (uint8_t)((n < 0) << i);
        }
    }
}

static void unpack_planes(size_t rows, const uint8_t *tile, int16_t *values, size_t stride)
{
    const size_t half = rows / 2, signs = ULB_TL2_BURST * half;
    for (size_t row = 0; row < rows; row++) {
        for (unsigned i = 0; i < ULB_TL2_BURST; i++)
            weights_of(tile[i * half + row % half] >> row / half * 4 & 15, tile[signs + row] >> i & 1,
                       values + row * stride + i * ULB_TL2_COLUMNS);
    }
}

const struct ulb_layout ulb_tl2_rows = {.name = "rows",
                                        .format = &ulb_tl2,
                                        .tile_m = 1,
                                        .tile_k = ULB_TL2_BURST * ULB_TL2_COLUMNS,
                                        .tile_bytes = ULB_TL2_BURST / 2 + 1,
                                        .kind = ULB_LAYOUT_TILES,
                                        .tiles = {.pack = pack_rows, .unpack = unpack_rows}};
/* most_tiles: tiles side by side in a slice. The tables of short slices stay in L1. The tables of long slices
 * come from L2, but 128 rows read them at once. All 4224 columns are then one pass of longer streams, whose
 * sums are not kept in y. */
#define PLANES(rows, most_tiles)                                                                             \
    static void pack_##rows(const int16_t *values, size_t stride, uint8_t *tile)                             \
    {                                                                                                        \
        pack_planes(rows, values, stride, tile);                                                             \
    }                                                                                                        \
    static void unpack_##rows(const uint8_t *tile, int16_t *values, size_t stride)                           \
    {                                                                                                        \
        unpack_planes(rows, tile, values, stride);                                                           \
    }                                                                                                        \
    const struct ulb_layout ulb_tl2_planes_##rows = {                                                        \
        .name = "planes-" #rows,                                                                             \
        .format = &ulb_tl2,                                                                                  \
        .tile_m = rows,                                                                                      \
        .tile_k = ULB_TL2_BURST * ULB_TL2_COLUMNS,                                                           \
        .slices = 4,                                                                                         \
        .slice_tiles = most_tiles,                                                                           \
        .tile_bytes = ULB_TL2_BURST * rows / 2 + rows,                                                       \
        .kind = ULB_LAYOUT_TILES,                                                                            \
        .tiles = {.pack = pack_##rows, .unpack = unpack_##rows}}

PLANES(64, 16);
PLANES(128, 44);

/* ---- 5-bit codes ---- */

enum {
    FIVES_ROWS = 64,
    FIVES_BYTES = 64, /* of a vector */
    FIVES_VECTORS = 5,
    FIVES_APART = 4 /* columns of an index */
};

/* Place of a bit of index i in each of its bytes: the vector, and the bit in it. */
static unsigned fives_vector(unsigned i, unsigned bit, unsigned *at)
{
    static const unsigned vectors[3][5] = {{0, 0, 0, 1, 1}, {2, 2, 2, 3, 3}, {4, 4, 4, 1, 3}};
    static const unsigned bits[3][5] = {{5, 6, 7, 5, 6}, {5, 6, 7, 5, 6}, {5, 6, 7, 7, 7}};
    *at = i < FIVES_VECTORS ? bit : bits[i - FIVES_VECTORS][bit];
    return i < FIVES_VECTORS ? i : vectors[i - FIVES_VECTORS][bit];
}

/* The first column of byte b of index i. */
static size_t fives_weight(unsigned i, unsigned b, size_t stride)
{
    unsigned block = i % ULB_TL2_FIVES_BLOCKS, half = i / ULB_TL2_FIVES_BLOCKS;
    return (block * 16 + b / 4) * stride + half * FIVES_APART * ULB_TL2_COLUMNS + b % 4;
}

static void pack_fives(const int16_t *values, size_t stride, uint8_t *tile)
{
    memset(tile, 0, FIVES_VECTORS * FIVES_BYTES);
    for (unsigned i = 0; i < ULB_TL2_BURST; i++) {
        for (unsigned b = 0; b < FIVES_BYTES; b++) {
            const int16_t *v = values + fives_weight(i, b, stride);
            int n = number_of((const int16_t[]){v[0], v[FIVES_APART], v[2 * FIVES_APART]});
            unsigned code = (unsigned)abs(n) | (n < 0 ? 16 : 0), at;
            for (unsigned bit = 0; bit < 5; bit++) {
                uint8_t *byte = tile + fives_vector(i, bit, &at) * FIVES_BYTES + b;
                *byte = (uint8_t)(*byte | (code >> bit & 1) << at);
            }
        }
    }
}

static void unpack_fives(const uint8_t *tile, int16_t *values, size_t stride)
{
    for (unsigned i = 0; i < ULB_TL2_BURST; i++) {
        for (unsigned b = 0; b < FIVES_BYTES; b++) {
            unsigned code = 0, at;
            for (unsigned bit = 0; bit < 5; bit++) {
                unsigned vector = fives_vector(i, bit, &at);
                code |= (tile[vector * FIVES_BYTES + b] >> at & 1u) << bit;
            }
            int16_t three[ULB_TL2_COLUMNS], *v = values + fives_weight(i, b, stride);
            weights_of(code & 15, code >> 4, three);
            for (unsigned c = 0; c < ULB_TL2_COLUMNS; c++)
                v[c * FIVES_APART] = three[c];
        }
    }
}

const struct ulb_layout ulb_tl2_fives = {.name = "fives",
                                         .format = &ulb_tl2,
                                         .tile_m = FIVES_ROWS,
                                         .tile_k = ULB_TL2_BURST * ULB_TL2_COLUMNS,
                                         .slices = ULB_TL2_FIVES_SLICES,
                                         .tile_bytes = FIVES_VECTORS * FIVES_BYTES,
                                         .kind = ULB_LAYOUT_TILES,
                                         .tiles = {.pack = pack_fives, .unpack = unpack_fives}};
