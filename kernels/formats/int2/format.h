/* int2: values -2..1, one scale per row. */
#ifndef ULB_KERNELS_FORMATS_INT2_FORMAT_H
#define ULB_KERNELS_FORMATS_INT2_FORMAT_H

#include "kernels/pack/mmla_tile.h"
#include "kernels/pack/sdot_tile.h"

enum { ULB_INT2_ZERO_POINT = 2 };

extern const struct ulb_format ulb_int2;
extern const struct ulb_layout ulb_int2_rows; /* row-major, four codes per byte, first in the low bits */
/* VNNI4-interleaved (arXiv 2508.06753, III-B): [M/32][K/4][m8][k4][m4], where the four fields of a byte are
 * rows 8 apart; the second for 512-bit vectors: 64 rows, fields 16 apart. */
extern const struct ulb_layout ulb_int2_vnni4i;
extern const struct ulb_layout ulb_int2_vnni4i_64;
/* The same tiles in three and four slices of K. */
extern const struct ulb_layout ulb_int2_fields;
extern const struct ulb_layout ulb_int2_fields_64;
/* [M/32][K/4][m32]: a byte holds the low bits of 4 columns in its low nibble, their high bits in the high
 * one. */
extern const struct ulb_layout ulb_int2_planes;
/* [M/64][K/64][k16][m16][k4][m4]: the right operands of tile instructions (kernels/pack/amx_tile.h), the
 * fields of a byte rows 16 apart. */
extern const struct ulb_layout ulb_int2_tiles;

/* Bytes of so many rows (kernels/pack/sdot_tile.h). */
ULB_SDOT_DECLARE(int2);
/* Two rows at a time (kernels/pack/mmla_tile.h). */
ULB_MMLA_DECLARE(int2);

/* With a scale for each 32, 64 or 128 columns. */
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

#endif
