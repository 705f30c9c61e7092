/* Tiles for signed dot products by element. 16 columns are four groups of 4. Each group has the bytes of all
 * lanes, four columns of a lane side by side, so that one load of 16 activations serves four groups. Field f
 * of a lane's bytes is row f * lanes + lane, so that a loop of any vector length can iterate over the lanes
 * (kernels/arm/gemv/k_slices.h).
 *
 * Unsigned codes are stored as bytes ^ 0x80 (xor_mask), which are signed and 128 too small. Sums of whole
 * bytes are then 128 * sum(x) too small. Fields below the top one stay below 128 when masked, and need no
 * correction. */
#ifndef ULB_KERNELS_PACK_SDOT_TILE_H
#define ULB_KERNELS_PACK_SDOT_TILE_H

#include "kernels/kernel.h"

enum {
    ULB_SDOT_COLUMNS = 16,
    ULB_SDOT_SLICES = 2,
    ULB_SDOT_GRAIN = ULB_SDOT_COLUMNS * ULB_SDOT_SLICES,
    ULB_SDOT_LANES_MAX = 128,
    ULB_SDOT_ROWS_SHORT = 32, /* of a tile for vectors of 128 bits */
    ULB_SDOT_ROWS_LONG = 128  /* and of any length */
};

static inline unsigned ulb_sdot_bit(unsigned rows, unsigned bits, unsigned row, unsigned col)
{
    unsigned lanes = rows * bits / 8;
    return ((col / 4 * lanes + row % lanes) * 4 + col % 4) * 8 + row / lanes * bits;
}

/* name##suffix: the layout of format of##suffix; ULB_SDOT_BIT has made its bit_offset. */
#define ULB_SDOT_LAYOUT(of, suffix, rows, ahead, mask, encode_, decode_)                                     \
    const struct ulb_layout ulb_##of##_sdot_##rows##suffix = {                                               \
        .name = "quads-" #rows,                                                                              \
        .format = &ulb_##of##suffix,                                                                         \
        .tile_m = rows,                                                                                      \
        .tile_k = ULB_SDOT_COLUMNS,                                                                          \
        .slices = ULB_SDOT_SLICES,                                                                           \
        .scales_ahead = ahead,                                                                               \
        .kind = ULB_LAYOUT_FIELDS,                                                                           \
        .fields = {.bit_offset = of##_sdot_##rows, .encode = encode_, .decode = decode_, .xor_mask = mask}}
#define ULB_SDOT_BIT(of, rows, bits)                                                                         \
    static unsigned of##_sdot_##rows(unsigned row, unsigned col)                                             \
    {                                                                                                        \
        return ulb_sdot_bit(rows, bits, row, col);                                                           \
    }

/* The layouts of a format with fields of this many bits, for NEON and for SVE. */
#define ULB_SDOT_LAYOUTS(of, bits, mask, encode, decode)                                                     \
    ULB_SDOT_BIT(of, 32, bits)                                                                               \
    ULB_SDOT_BIT(of, 128, bits)                                                                              \
    ULB_SDOT_LAYOUT(of, , 32, false, mask, encode, decode);                                                  \
    ULB_SDOT_LAYOUT(of, , 128, false, mask, encode, decode)

/* The layouts of its format with a scale for each g columns, to be used after the macro above. */
#define ULB_SDOT_LAYOUTS_GROUPED(of, g, mask, encode, decode)                                                \
    ULB_SDOT_LAYOUT(of, _g##g, 32, true, mask, encode, decode);                                              \
    ULB_SDOT_LAYOUT(of, _g##g, 128, true, mask, encode, decode)

#define ULB_SDOT_DECLARE(of) extern const struct ulb_layout ulb_##of##_sdot_32, ulb_##of##_sdot_128
#define ULB_SDOT_DECLARE_GROUPED(of, g)                                                                      \
    extern const struct ulb_layout ulb_##of##_sdot_32_g##g, ulb_##of##_sdot_128_g##g

#endif
