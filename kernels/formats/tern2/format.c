#include "kernels/formats/tern2/format.h"
#include "kernels/formats/int2/fields.h"

const struct ulb_format ulb_tern2 = {.name = "tern2",
                                     .summary = "ternary, a field of two bits each, one scale per row",
                                     .bits = 2,
                                     .min = -1,
                                     .max = 1,
                                     .step = 1};

static void pack_planes(const int16_t *values, size_t stride, uint8_t *tile)
{
    ulb_planes2_pack(values, stride, ULB_TERN2_ZERO_POINT, tile);
}

static void unpack_planes(const uint8_t *tile, int16_t *values, size_t stride)
{
    ulb_planes2_unpack(tile, values, stride, ULB_TERN2_ZERO_POINT);
}

static unsigned encode(int value)
{
    return (unsigned)(value + ULB_TERN2_ZERO_POINT);
}

static int decode(unsigned code)
{
    return (int)code - ULB_TERN2_ZERO_POINT;
}

const struct ulb_layout ulb_tern2_rows = {
    .name = "rows",
    .format = &ulb_tern2,
    .tile_m = 1,
    .tile_k = 4,
    .kind = ULB_LAYOUT_FIELDS,
    .fields = {.bit_offset = ulb_fields2_rows, .encode = encode, .decode = decode}};
const struct ulb_layout ulb_tern2_planes = {.name = "planes",
                                            .format = &ulb_tern2,
                                            .tile_m = 32,
                                            .tile_k = 4,
                                            .slices = 4,
                                            .slice_tiles = 256,
                                            .tile_bytes = 32,
                                            .kind = ULB_LAYOUT_TILES,
                                            .tiles = {.pack = pack_planes, .unpack = unpack_planes}};
const struct ulb_layout ulb_tern2_fields = {
    .name = "fields",
    .format = &ulb_tern2,
    .tile_m = 32,
    .tile_k = 4,
    .slices = 3,
    .kind = ULB_LAYOUT_FIELDS,
    .fields = {.bit_offset = ulb_fields2_interleaved_8, .encode = encode, .decode = decode}};
const struct ulb_layout ulb_tern2_fields_64 = {
    .name = "fields-64",
    .format = &ulb_tern2,
    .tile_m = 64,
    .tile_k = 4,
    .slices = 4,
    .kind = ULB_LAYOUT_FIELDS,
    .fields = {.bit_offset = ulb_fields2_interleaved_16, .encode = encode, .decode = decode}};

ULB_QUAD_LAYOUTS(tern2, 2, 0x80, encode, decode);
ULB_PAIRS_LAYOUTS(tern2, 2, encode, decode);
