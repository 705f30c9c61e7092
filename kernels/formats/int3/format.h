/* int3: values -4..3, one scale per row; the code is value + 4. */
#ifndef ULB_KERNELS_FORMATS_INT3_FORMAT_H
#define ULB_KERNELS_FORMATS_INT3_FORMAT_H

#include "kernels/pack/sdot_tile.h"

enum { ULB_INT3_ZERO_POINT = 4, ULB_INT3_FIELDS = 8, ULB_INT3_SLICES = 4 };

extern const struct ulb_format ulb_int3;
/* Row-major, eight codes in three bytes. Code i is bits 3i to 3i + 2 of the 24-bit little-endian number. */
extern const struct ulb_layout ulb_int3_rows;
/* `[M/64][K/4][v3][m8][k4]`. Bytes A, B, C at the same place of three vectors hold one weight of each of
 * eight rows, 8 apart. Each byte has two codes, in bits 0-2 and 3-5: rows 0 and 1 in A, 2 and 3 in B, 4 and 5
 * in C. The low bits of row 6 are bits 6-7 of A, its top bit is bit 6 of C. The low bits of row 7 are bits
 * 6-7 of B, its top bit is bit 7 of C. The second layout is for 512-bit vectors: 128 rows, 16 apart. */
extern const struct ulb_layout ulb_int3_vnni4;
extern const struct ulb_layout ulb_int3_vnni4_128;
/* The same bytes for each of four groups of four columns (kernels/pack/sdot_tile.h):
 * `[M/32][K/16][q4][v3][m4][k4]` and `[M/128][K/16][q4][v3][m16][k4]`. */
ULB_SDOT_DECLARE(int3);

#endif
