/* Tiles for matrix products of two rows and two tokens (kernels/arm/gemm/mmla.h): 16 columns as two octets;
 * for each octet the bytes of all lanes, 8 columns of a lane side by side; field f of lane l of a tile's
 * bytes is row f * lanes + l, so that a walk of any vector length passes over the lanes. */
#ifndef ULB_KERNELS_PACK_MMLA_TILE_H
#define ULB_KERNELS_PACK_MMLA_TILE_H

#include "kernels/kernel.h"

enum {
    ULB_PAIRS_OCTET = 8,
    ULB_PAIRS_COLUMNS = 16,
    ULB_PAIRS_SLICES = 2,
    ULB_PAIRS_ROWS_SHORT = 16, /* of a tile for vectors of 128 bits */
    ULB_PAIRS_ROWS_LONG = 128  /* and of any length */
};

static inline unsigned ulb_pairs_bit(unsigned rows, unsigned bits, unsigned row, unsigned col)
{
    unsigned lanes = rows * bits / 8, octet = col / ULB_PAIRS_OCTET;
    return ((octet * lanes + row % lanes) * ULB_PAIRS_OCTET + col % ULB_PAIRS_OCTET) * 8 + row / lanes * bits;
}

#define ULB_PAIRS_LAYOUT(of, rows, field_bits, encode_, decode_)                                             \
    static unsigned of##_pairs_##rows(unsigned row, unsigned col)                                            \
    {                                                                                                        \
        return ulb_pairs_bit(rows, field_bits, row, col);                                                    \
    }                                                                                                        \
    const struct ulb_layout ulb_##of##_pairs_##rows = {                                                      \
        .name = "pairs-" #rows,                                                                              \
        .format = &ulb_##of,                                                                                 \
        .tile_m = rows,                                                                                      \
        .tile_k = ULB_PAIRS_COLUMNS,                                                                         \
        .slices = ULB_PAIRS_SLICES,                                                                          \
        .kind = ULB_LAYOUT_FIELDS,                                                                           \
        .fields = {.bit_offset = of##_pairs_##rows, .encode = encode_, .decode = decode_}}

/* The layouts of a format with fields of so many bits, for NEON and for SVE. */
#define ULB_PAIRS_LAYOUTS(of, bits, encode, decode)                                                          \
    ULB_PAIRS_LAYOUT(of, 16, bits, encode, decode);                                                          \
    ULB_PAIRS_LAYOUT(of, 128, bits, encode, decode)

#define ULB_PAIRS_DECLARE(of) extern const struct ulb_layout ulb_##of##_pairs_16, ulb_##of##_pairs_128

#endif
