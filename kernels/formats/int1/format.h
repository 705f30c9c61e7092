/* int1: values -1 and +1, one scale per row. A set bit is -1 (the encoding of arXiv 2508.06753, III-D). */
#ifndef ULB_KERNELS_FORMATS_INT1_FORMAT_H
#define ULB_KERNELS_FORMATS_INT1_FORMAT_H

#include "kernels/pack/mmla_tile.h"
#include "kernels/pack/sdot_tile.h"

/* Kernels that need unsigned weights use value + 1, which is 0 or 2. */
enum { ULB_INT1_ZERO_POINT = 1 };

extern const struct ulb_format ulb_int1;
extern const struct ulb_layout ulb_int1_rows;  /* row-major, eight per byte, first in the lowest bit */
extern const struct ulb_layout ulb_int1_vnni4; /* bits: [M/32][K/4][m32][k4] */

/* `[M/64][K/4][m8][k4][m8]`. The eight bits of a byte are rows 8 apart; 64 rows share four activations. */
extern const struct ulb_layout ulb_int1_fields;
/* The same for 512-bit vectors, with 128 rows. The bits of a byte are rows 16 apart. */
extern const struct ulb_layout ulb_int1_fields_128;
/* `[M/64][K/4][m32][m2][k4]`. A byte holds four columns of row r in its low nibble, of row 32 + r in its high
 * nibble. */
extern const struct ulb_layout ulb_int1_nibbles;
/* `[slices][M/128][K/24][m2][k3][m64]`, for look-ups of 6 bits. A row has three bytes. Their low 6 bits are
 * columns 0-5, 6-11 and 12-17; their high two bits together are columns 18-23. The order of rows makes 8-bit
 * sums, interleaved and widened, come out as rows 0, 1, 2, ... */
enum { ULB_INT1_LUT6_SLICES = 3, ULB_INT1_LUT6_STEPS = 12 };
extern const struct ulb_layout ulb_int1_lut6;
/* `[M/128][K/64][k16][m16][k4][m8]`: the right operands of AMX instructions (kernels/pack/amx_tile.h). The
 * bits of a byte are rows 16 apart. */
extern const struct ulb_layout ulb_int1_tiles;
/* `[M/16][K/64][k2][m16][k4][k8]`: right operands of 16 rows. The bits of a byte are columns 4 apart; two
 * lines make the 16 lines of a tile. */
extern const struct ulb_layout ulb_int1_bits;

/* Bytes of some rows (kernels/pack/sdot_tile.h). */
ULB_SDOT_DECLARE(int1);
/* Two rows at a time (kernels/pack/mmla_tile.h). */
ULB_MMLA_DECLARE(int1);

#endif
