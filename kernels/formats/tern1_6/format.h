/* tern1.6: values -1, 0, 1, five of them in one byte (3^5 = 243 codes), one scale per row. */
#ifndef ULB_KERNELS_FORMATS_TERN1_6_FORMAT_H
#define ULB_KERNELS_FORMATS_TERN1_6_FORMAT_H

#include "kernels/pack/sdot_tile.h"

/* A digit is value + 1. */
enum { ULB_TERN1_6_ZERO_POINT = 1, ULB_TERN1_6_DIGITS = 5, ULB_TERN1_6_SLICES = 4 };
/* Lanes of sdot tiles, for vectors of 128 bits and of any length. */
enum { ULB_TERN1_6_LANES_SHORT = 4, ULB_TERN1_6_LANES_LONG = 16 };

extern const struct ulb_format ulb_tern1_6;
/* `[M/5][K]`: five rows in a byte, first digit first. The digits d0 .. d4 of a byte are a base-3 fraction of
 * 256: the byte is the least integer above 256 N / 243, with
 * `N = 81 d0 + 27 d1 + 9 d2 + 3 d3 + d4`. */
extern const struct ulb_layout ulb_tern1_6_rows;
/* `[M/40][K/4][m8][k4]`: the same bytes. Their digits are rows 8 apart, so that 40 rows share four
 * activations. The second layout is for 512-bit vectors: 80 rows, digits 16 apart. */
extern const struct ulb_layout ulb_tern1_6_fifths;
extern const struct ulb_layout ulb_tern1_6_fifths_80;
/* As ulb_tern1_6_fifths, with byte - 128 in two's complement; -128 itself does not occur. */
extern const struct ulb_layout ulb_tern1_6_signed;
/* As ulb_tern1_6_fifths_80, with codes for tables of 64 entries: see permute.c. */
extern const struct ulb_layout ulb_tern1_6_tables_80;

/* `[M/20][K/16][q4][m4][k4]` and `[M/80][K/16][q4][m16][k4]` (kernels/pack/sdot_tile.h), byte - 128. */
extern const struct ulb_layout ulb_tern1_6_sdot_20, ulb_tern1_6_sdot_80;

#endif
