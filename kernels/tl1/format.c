#include "kernels/tl1/format.h"

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
                                        .pack_tile = pack_rows,
                                        .unpack_tile = unpack_rows};
const struct ulb_layout ulb_tl1_nibbles = {.name = "nibbles",
                                           .format = &ulb_tl1,
                                           .tile_m = 64,
                                           .tile_k = ULB_TL1_COLUMNS,
                                           .slices = 4,
                                           .slice_tiles = 256,
                                           .tile_bytes = 32,
                                           .pack_tile = pack_nibbles,
                                           .unpack_tile = unpack_nibbles};
