/* int4: values -8..7, one scale per row. */
#ifndef ULB_KERNELS_FORMATS_INT4_FORMAT_H
#define ULB_KERNELS_FORMATS_INT4_FORMAT_H

#include "kernels/pack/mmla_tile.h"
#include "kernels/pack/sdot_tile.h"

enum { ULB_INT4_ZERO_POINT = 8 };

extern const struct ulb_format ulb_int4;
extern const struct ulb_layout ulb_int4_rows; /* row-major, two codes per byte, first in the low bits */
/* `[M/48][K/4][m3][m8][k4][m2]`. The two fields of a byte are rows 8 apart; three such pairs of vectors share
 * four activations. The second layout is for 512-bit vectors: 96 rows, fields 16 apart. */
extern const struct ulb_layout ulb_int4_vnni4i;
extern const struct ulb_layout ulb_int4_vnni4i_96;
/* `[M/32][K/64][k16][m16][k4][m2]`: the right operands of AMX instructions (kernels/pack/amx_tile.h). The
 * fields of a byte are rows 16 apart. */
extern const struct ulb_layout ulb_int4_tiles;

/* Bytes of some rows (kernels/pack/sdot_tile.h). */
ULB_SDOT_DECLARE(int4);
/* Two rows at a time (kernels/pack/mmla_tile.h). */
ULB_MMLA_DECLARE(int4);

/* A scale for each 32, 64 or 128 columns. */
#define ULB_INT4_GROUPED(g)                                                                                  \
    extern const struct ulb_format ulb_int4_g##g;                                                            \
    extern const struct ulb_layout ulb_int4_rows_g##g;                                                       \
    extern const struct ulb_layout ulb_int4_vnni4i_g##g;                                                     \
    extern const struct ulb_layout ulb_int4_vnni4i_96_g##g;                                                  \
    ULB_SDOT_DECLARE_GROUPED(int4, g)
ULB_INT4_GROUPED(32);
ULB_INT4_GROUPED(64);
ULB_INT4_GROUPED(128);
#undef ULB_INT4_GROUPED

#endif
