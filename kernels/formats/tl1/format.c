#include "kernels/formats/tl1/format.h"

const struct ulb_format ulb_tl1 = {.name = "tl1",
                                   .summary = "bitnet.cpp TL1: two weights a 4-bit index",
                                   .bits = 2,
                                   .min = -1,
                                   .max = 1,
                                   .step = 1,
                                   .on_request = true};

static unsigned index_of(const int16_t *values)
{
    return (unsigned)(3 * (values[0] + ULB_TL1_ZERO_POINT) + values[1] + ULB_TL1_ZERO_POINT);
}

static void weights_of(unsigned index, int16_t *values)
{
    values[0] = (int16_t)((int)(index / 3) - ULB_TL1_ZERO_POINT);
    values[1] = (int16_t)((int)(index % 3) - ULB_TL1_ZERO_POINT);
}

static void pack_rows(const int16_t *values, size_t stride, uint8_t *tile)
{
    (void)stride;
    *tile = (uint8_t)(index_of(values) | index_of(values + ULB_TL1_COLUMNS) << 4);
}

static void unpack_rows(const uint8_t *tile, int16_t *values, size_t stride)
{
    (void)stride;
    weights_of(*tile & 15, values);
    weights_of(*tile >> 4, values + ULB_TL1_COLUMNS);
}

static void pack_nibbles(const int16_t *values, size_t stride, uint8_t *tile)
{
    for (size_t i = 0; i < 32; i++)
        tile[i] = (uint8_t)(index_of(values + i * stride) | index_of(values + (i + 32) * stride) << 4);
}

static void unpack_nibbles(const uint8_t *tile, int16_t *values, size_t stride)
{
    for (size_t i = 0; i < 32; i++) {
        weights_of(tile[i] & 15, values + i * stride);
        weights_of(tile[i] >> 4, values + (i + 32) * stride);
    }
}

const struct ulb_layout ulb_tl1_rows = {.name = "rows",
                                        .format = &ulb_tl1,
                                        .tile_m = 1,
                                        .tile_k = 2 * ULB_TL1_COLUMNS,
                                        .tile_bytes = 1,
                                        .kind = ULB_LAYOUT_TILES,
                                        .tiles = {.pack = pack_rows, .unpack = unpack_rows}};
const struct ulb_layout ulb_tl1_nibbles = {.name = "nibbles",
                                           .format = &ulb_tl1,
                                           .tile_m = 64,
                                           .tile_k = ULB_TL1_COLUMNS,
                                           .slices = 4,
                                           .slice_tiles = 256,
                                           .tile_bytes = 32,
                                           .kind = ULB_LAYOUT_TILES,
                                           .tiles = {.pack = pack_nibbles, .unpack = unpack_nibbles}};

enum { APART = 4 /* columns of an index */ };

static unsigned index_apart(const int16_t *values)
{
    return index_of((const int16_t[]){values[0], values[APART]});
}

static void weights_apart(unsigned index, int16_t *values)
{
    int16_t two[ULB_TL1_COLUMNS];
    weights_of(index, two);
    values[0] = two[0];
    values[APART] = two[1];
}

static void pack_apart(size_t rows, const int16_t *values, size_t stride, uint8_t *tile)
{
    for (size_t i = 0; i < rows / 2 * APART; i++) {
        const int16_t *low = values + i / APART * stride + i % APART;
        tile[i] = (uint8_t)(index_apart(low) | index_apart(low + rows / 2 * stride) << 4);
    }
}

static void unpack_apart(size_t rows, const uint8_t *tile, int16_t *values, size_t stride)
{
    for (size_t i = 0; i < rows / 2 * APART; i++) {
        int16_t *low = values + i / APART * stride + i % APART;
        weights_apart(tile[i] & 15, low);
        weights_apart(tile[i] >> 4, low + rows / 2 * stride);
    }
}

#define APART_LAYOUT(rows)                                                                                   \
    static void pack_apart_##rows(const int16_t *values, size_t stride, uint8_t *tile)                       \
    {                                                                                                        \
        pack_apart(rows, values, stride, tile);                                                              \
    }                                                                                                        \
    static void unpack_apart_##rows(const uint8_t *tile, int16_t *values, size_t stride)                     \
    {                                                                                                        \
        unpack_apart(rows, tile, values, stride);                                                            \
    }                                                                                                        \
    const struct ulb_layout ulb_tl1_apart_##rows = {                                                         \
        .name = "apart-" #rows,                                                                              \
        .format = &ulb_tl1,                                                                                  \
        .tile_m = rows,                                                                                      \
        .tile_k = ULB_TL1_COLUMNS * APART,                                                                   \
        .slices = ULB_TL1_APART_SLICES,                                                                      \
        .tile_bytes = rows / 2 * APART,                                                                      \
        .kind = ULB_LAYOUT_TILES,                                                                            \
        .tiles = {.pack = pack_apart_##rows, .unpack = unpack_apart_##rows}}

APART_LAYOUT(16);
APART_LAYOUT(32);
