/* int2: values -2..1, one scale per row. */
#ifndef ULB_KERNELS_FORMATS_INT2_FORMAT_H
#define ULB_KERNELS_FORMATS_INT2_FORMAT_H

#include "kernels/formats/int2/layouts.h"

enum { ULB_INT2_ZERO_POINT = 2 };

extern const struct ulb_format ulb_int2;
ULB_LAYOUTS2_DECLARE(int2);
/* The tiles of fields and fields_64 in one slice: VNNI4-interleaved (arXiv 2508.06753, III-B). */
extern const struct ulb_layout ulb_int2_vnni4i, ulb_int2_vnni4i_64;
/* [M/64][K/64][k16][m16][k4][m4]: the right operands of tile instructions (kernels/pack/amx_tile.h), the
 * fields of a byte rows 16 apart. */
extern const struct ulb_layout ulb_int2_tiles;

/* With a scale for each 32, 64 or 128 columns. */
#define ULB_INT2_GROUPED(g)                                                                                  \
    extern const struct ulb_format ulb_int2_g##g;                                                            \
    extern const struct ulb_layout ulb_int2_rows_g##g;                                                       \
    extern const struct ulb_layout ulb_int2_fields_g##g;                                                     \
    extern const struct ulb_layout ulb_int2_fields_64_g##g;                                                  \
    ULB_QUAD_DECLARE_GROUPED(int2, g)
ULB_INT2_GROUPED(32);
ULB_INT2_GROUPED(64);
ULB_INT2_GROUPED(128);
#undef ULB_INT2_GROUPED

#endif
