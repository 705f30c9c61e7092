/* int8: values -128..127, one scale per row. */
#ifndef ULB_KERNELS_FORMATS_INT8_FORMAT_H
#define ULB_KERNELS_FORMATS_INT8_FORMAT_H

#include "kernels/pack/mmla_tile.h"
#include "kernels/pack/sdot_tile.h"

enum { ULB_INT8_ZERO_POINT = 128 };

extern const struct ulb_format ulb_int8;
extern const struct ulb_layout ulb_int8_rows;  /* row-major, two's complement */
extern const struct ulb_layout ulb_int8_vnni4; /* [M/48][K/4][m48][k4], value + 128 as an unsigned byte */
extern const struct ulb_layout ulb_int8_vnni4_96;
extern const struct ulb_layout ulb_int8_vnni4_signed; /* the same order, two's complement */
/* `[M/32][K/64][m2][k16][m16][k4]`: the right operands of AMX instructions (kernels/pack/amx_tile.h), value +
 * 128. */
extern const struct ulb_layout ulb_int8_tiles;

/* Bytes of some rows (kernels/pack/sdot_tile.h). */
ULB_SDOT_DECLARE(int8);
/* Two rows at a time (kernels/pack/mmla_tile.h). */
ULB_MMLA_DECLARE(int8);

/* A scale for each 32, 64 or 128 columns. */
#define ULB_INT8_GROUPED(g)                                                                                  \
    extern const struct ulb_format ulb_int8_g##g;                                                            \
    extern const struct ulb_layout ulb_int8_rows_g##g;                                                       \
    extern const struct ulb_layout ulb_int8_vnni4_g##g;                                                      \
    extern const struct ulb_layout ulb_int8_vnni4_signed_g##g;                                               \
    extern const struct ulb_layout ulb_int8_vnni4_96_g##g;                                                   \
    ULB_SDOT_DECLARE_GROUPED(int8, g)
ULB_INT8_GROUPED(32);
ULB_INT8_GROUPED(64);
ULB_INT8_GROUPED(128);
#undef ULB_INT8_GROUPED

#endif
