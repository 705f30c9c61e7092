/* Tiles for matrix products of two rows and two tokens (kernels/arm/tokens.h): 16 rows of 8 columns; 8
 * columns of a lane side by side, field f of lane l of a tile's bytes is row f * lanes + l. */
#ifndef ULB_KERNELS_PAIRS_H
#define ULB_KERNELS_PAIRS_H

#include "kernels/kernel.h"

enum { ULB_PAIRS_ROWS = 16, ULB_PAIRS_COLUMNS = 8, ULB_PAIRS_SLICES = 2 };

static inline unsigned ulb_pairs_bit(unsigned bits, unsigned row, unsigned col)
{
    unsigned lanes = ULB_PAIRS_ROWS * bits / 8;
    return (row % lanes * ULB_PAIRS_COLUMNS + col) * 8 + row / lanes * bits;
}

#define ULB_PAIRS_LAYOUT(of, field_bits, encode_, decode_)                                                   \
    static unsigned of##_pairs(unsigned row, unsigned col)                                                   \
    {                                                                                                        \
        return ulb_pairs_bit(field_bits, row, col);                                                          \
    }                                                                                                        \
    const struct ulb_layout ulb_##of##_pairs = {.name = "pairs",                                             \
                                                .format = &ulb_##of,                                         \
                                                .tile_m = ULB_PAIRS_ROWS,                                    \
                                                .tile_k = ULB_PAIRS_COLUMNS,                                 \
                                                .slices = ULB_PAIRS_SLICES,                                  \
                                                .bit_offset = of##_pairs,                                    \
                                                .encode = encode_,                                           \
                                                .decode = decode_}

#endif
