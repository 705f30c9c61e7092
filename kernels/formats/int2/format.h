/* int2: values -2..1, one scale per row. */
#ifndef ULB_KERNELS_FORMATS_INT2_FORMAT_H
#define ULB_KERNELS_FORMATS_INT2_FORMAT_H

#include "kernels/pack/mmla_tile.h"
#include "kernels/pack/sdot_tile.h"

/* The layouts of 2-bit codes with one scale per row, which int2 and tern2 share.
 *
 * rows: row-major, four codes per byte, the first in the low bits.
 * fields: `[M/32][K/4][m8][k4][m4]`, three slices of K. The four fields of a byte are rows 8 apart.
 * fields_64: the same for 512-bit vectors. 64 rows, fields 16 rows apart, four slices.
 * planes: `[M/32][K/4][m32]`. A byte holds 4 columns: low bits in the low nibble, high bits above.
 * ULB_SDOT_DECLARE: bytes of some rows (kernels/pack/sdot_tile.h). ULB_MMLA_DECLARE: two rows at a time
 * (kernels/pack/mmla_tile.h). */
#define ULB_LAYOUTS2_DECLARE(of)                                                                             \
    extern const struct ulb_layout ulb_##of##_rows, ulb_##of##_fields, ulb_##of##_fields_64,                 \
        ulb_##of##_planes;                                                                                   \
    ULB_SDOT_DECLARE(of);                                                                                    \
    ULB_MMLA_DECLARE(of)

enum { ULB_INT2_ZERO_POINT = 2 };

extern const struct ulb_format ulb_int2;
ULB_LAYOUTS2_DECLARE(int2);
/* The tiles of fields and fields_64 in one slice: VNNI4-interleaved (arXiv 2508.06753, III-B). */
extern const struct ulb_layout ulb_int2_vnni4i, ulb_int2_vnni4i_64;
/* `[M/64][K/64][k16][m16][k4][m4]`: the right operands of AMX instructions (kernels/pack/amx_tile.h). The
 * fields of a byte are rows 16 apart. */
extern const struct ulb_layout ulb_int2_tiles;

/* A scale for each 32, 64 or 128 columns. */
#define ULB_INT2_GROUPED(g)                                                                                  \
    extern const struct ulb_format ulb_int2_g##g;                                                            \
    extern const struct ulb_layout ulb_int2_rows_g##g;                                                       \
    extern const struct ulb_layout ulb_int2_fields_g##g;                                                     \
    extern const struct ulb_layout ulb_int2_fields_64_g##g;                                                  \
    ULB_SDOT_DECLARE_GROUPED(int2, g)
ULB_INT2_GROUPED(32);
ULB_INT2_GROUPED(64);
ULB_INT2_GROUPED(128);
#undef ULB_INT2_GROUPED

/* Places of 2-bit codes in the layouts of int2, which tern2 shares. */

static inline unsigned ulb_fields2_rows(unsigned row, unsigned col)
{
    return row * 8 + col * 2;
}

/* The four fields of a byte are rows `lanes` apart, which share four activations. */
static inline unsigned ulb_fields2_interleaved(unsigned lanes, unsigned row, unsigned col)
{
    return (row % lanes * 4 + col) * 8 + row / lanes * 2;
}

static inline unsigned ulb_fields2_interleaved_8(unsigned row, unsigned col)
{
    return ulb_fields2_interleaved(8, row, col);
}

static inline unsigned ulb_fields2_interleaved_16(unsigned row, unsigned col)
{
    return ulb_fields2_interleaved(16, row, col);
}

enum { ULB_PLANES2_ROWS = 32 };

/* Bit by bit: a field's two bits lie in different nibbles, which no bit_offset can say. */
static inline void ulb_planes2_pack(const int16_t *values, size_t stride, int zero_point, uint8_t *tile)
{
    for (size_t row = 0; row < ULB_PLANES2_ROWS; row++) {
        unsigned byte = 0;
        for (unsigned col = 0; col < 4; col++) {
            unsigned code = (unsigned)(values[row * stride + col] + zero_point);
            byte |= (code & 1) << col | code >> 1 << (4 + col);
        }
        tile[row] = (uint8_t)byte;
    }
}

static inline void ulb_planes2_unpack(const uint8_t *tile, int16_t *values, size_t stride, int zero_point)
{
    for (size_t row = 0; row < ULB_PLANES2_ROWS; row++) {
        for (unsigned col = 0; col < 4; col++) {
            int code = (tile[row] >> col & 1) | (tile[row] >> (4 + col) & 1) << 1;
            values[row * stride + col] = (int16_t)(code - zero_point);
        }
    }
}

/* Turns sums of the low bits and of the high bits into sums of the codes. */
static inline void ulb_planes2_separate(const int32_t *sums, int32_t *dots)
{
    for (int i = 0; i < ULB_PLANES2_ROWS; i++)
        dots[i] = sums[i] + 2 * sums[ULB_PLANES2_ROWS + i];
}

#define ULB_LAYOUT2(symbol, layout_name, of, rows, n_slices, offset)                                         \
    const struct ulb_layout symbol = {                                                                       \
        .name = (layout_name),                                                                               \
        .format = &ulb_##of,                                                                                 \
        .tile_m = (rows),                                                                                    \
        .tile_k = 4,                                                                                         \
        .slices = (n_slices),                                                                                \
        .kind = ULB_LAYOUT_FIELDS,                                                                           \
        .fields = {.bit_offset = (offset), .encode = encode, .decode = decode}}

/* All of them, of a format whose codes are value + zero_point; defines encode() and decode() of its file. */
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
