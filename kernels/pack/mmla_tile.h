/* Tiles for matrix products of two rows and two tokens (kernels/arm/gemm/mmla.h). 16 columns are two halves
 * of 8. Each half has the bytes of all lanes, eight columns of a lane side by side. Field f of lane l of a
 * tile's bytes is row f * lanes + l, so that a loop of any vector length can iterate over the lanes. */
#ifndef ULB_KERNELS_PACK_MMLA_TILE_H
#define ULB_KERNELS_PACK_MMLA_TILE_H

#include "kernels/kernel.h"

enum {
    ULB_MMLA_K = 8,
    ULB_MMLA_COLUMNS = 16,
    ULB_MMLA_SLICES = 2,
    ULB_MMLA_ROWS_SHORT = 16, /* of a tile for vectors of 128 bits */
    ULB_MMLA_ROWS_LONG = 128  /* and of any length */
};

static inline unsigned ulb_mmla_bit(unsigned rows, unsigned bits, unsigned row, unsigned col)
{
    unsigned lanes = rows * bits / 8, product = col / ULB_MMLA_K;
    return ((product * lanes + row % lanes) * ULB_MMLA_K + col % ULB_MMLA_K) * 8 + row / lanes * bits;
}

#define ULB_MMLA_LAYOUT(of, rows, field_bits, encode_, decode_)                                              \
    static unsigned of##_mmla_##rows(unsigned row, unsigned col)                                             \
    {                                                                                                        \
        return ulb_mmla_bit(rows, field_bits, row, col);                                                     \
    }                                                                                                        \
    const struct ulb_layout ulb_##of##_mmla_##rows = {                                                       \
        .name = "pairs-" #rows,                                                                              \
        .format = &ulb_##of,                                                                                 \
        .tile_m = rows,                                                                                      \
        .tile_k = ULB_MMLA_COLUMNS,                                                                          \
        .slices = ULB_MMLA_SLICES,                                                                           \
        .kind = ULB_LAYOUT_FIELDS,                                                                           \
        .fields = {.bit_offset = of##_mmla_##rows, .encode = encode_, .decode = decode_}}

/* The layouts of a format with fields of this many bits, for NEON and for SVE. */
#define ULB_MMLA_LAYOUTS(of, bits, encode, decode)                                                           \
    ULB_MMLA_LAYOUT(of, 16, bits, encode, decode);                                                           \
    ULB_MMLA_LAYOUT(of, 128, bits, encode, decode)

#define ULB_MMLA_DECLARE(of) extern const struct ulb_layout ulb_##of##_mmla_16, ulb_##of##_mmla_128

#endif
