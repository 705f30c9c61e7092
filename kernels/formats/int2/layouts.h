/* The layouts of 2-bit codes with one scale per row, which int2 and tern2 share. */
#ifndef ULB_KERNELS_FORMATS_INT2_LAYOUTS_H
#define ULB_KERNELS_FORMATS_INT2_LAYOUTS_H

#include "kernels/pack/mmla_tile.h"
#include "kernels/pack/sdot_tile.h"

/* rows: row-major, four codes per byte, first in the low bits. fields: [M/32][K/4][m8][k4][m4] in three
 * slices of K, where the four fields of a byte are rows 8 apart; fields_64: the same for 512-bit vectors, 64
 * rows, fields 16 apart, in four slices. planes: [M/32][K/4][m32], where a byte holds the low bits of 4
 * columns in its low nibble, their high bits in the high one. Bytes of so many rows
 * (kernels/pack/sdot_tile.h). Two rows at a time (kernels/pack/mmla_tile.h). */
#define ULB_LAYOUTS2_DECLARE(of)                                                                             \
    extern const struct ulb_layout ulb_##of##_rows, ulb_##of##_fields, ulb_##of##_fields_64,                 \
        ulb_##of##_planes;                                                                                   \
    ULB_SDOT_DECLARE(of);                                                                                    \
    ULB_MMLA_DECLARE(of)

#define ULB_LAYOUT2(symbol, layout_name, of, rows, n_slices, offset)                                         \
    const struct ulb_layout symbol = {                                                                       \
        .name = (layout_name),                                                                               \
        .format = &ulb_##of,                                                                                 \
        .tile_m = (rows),                                                                                    \
        .tile_k = 4,                                                                                         \
        .slices = (n_slices),                                                                                \
        .kind = ULB_LAYOUT_FIELDS,                                                                           \
        .fields = {.bit_offset = (offset), .encode = encode, .decode = decode}}

/* All of them, of a format whose codes are value + zero_point; defines encode() and decode() of its file. The
 * file includes kernels/formats/int2/format.h. */
#define ULB_LAYOUTS2(of, zero_point)                                                                         \
    static unsigned encode(int value)                                                                        \
    {                                                                                                        \
        return (unsigned)(value + (zero_point));                                                             \
    }                                                                                                        \
    static int decode(unsigned code)                                                                         \
    {                                                                                                        \
        return (int)code - (zero_point);                                                                     \
    }                                                                                                        \
    static void pack_planes(const int16_t *values, size_t stride, uint8_t *tile)                             \
    {                                                                                                        \
        ulb_planes2_pack(values, stride, zero_point, tile);                                                  \
    }                                                                                                        \
    static void unpack_planes(const uint8_t *tile, int16_t *values, size_t stride)                           \
    {                                                                                                        \
        ulb_planes2_unpack(tile, values, stride, zero_point);                                                \
    }                                                                                                        \
    ULB_LAYOUT2(ulb_##of##_rows, "rows", of, 1, 1, ulb_fields2_rows);                                        \
    ULB_LAYOUT2(ulb_##of##_fields, "fields", of, 32, 3, ulb_fields2_interleaved_8);                          \
    ULB_LAYOUT2(ulb_##of##_fields_64, "fields-64", of, 64, 4, ulb_fields2_interleaved_16);                   \
    const struct ulb_layout ulb_##of##_planes = {.name = "planes",                                           \
                                                 .format = &ulb_##of,                                        \
                                                 .tile_m = ULB_PLANES2_ROWS,                                 \
                                                 .tile_k = 4,                                                \
                                                 .slices = 4,                                                \
                                                 .slice_tiles = 256,                                         \
                                                 .tile_bytes = ULB_PLANES2_ROWS,                             \
                                                 .kind = ULB_LAYOUT_TILES,                                   \
                                                 .tiles = {.pack = pack_planes, .unpack = unpack_planes}};   \
    ULB_SDOT_LAYOUTS(of, 2, 0x80, encode, decode);                                                           \
    ULB_MMLA_LAYOUTS(of, 2, encode, decode)

#endif
