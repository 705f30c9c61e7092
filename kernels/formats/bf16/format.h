/* bf16: bfloat16 weights without scales, with activations and sums in single precision. It is the 16-bit
 * baseline. */
#ifndef ULB_KERNELS_FORMATS_BF16_FORMAT_H
#define ULB_KERNELS_FORMATS_BF16_FORMAT_H

#include "kernels/kernel.h"

extern const struct ulb_format ulb_bf16;
extern const struct ulb_layout ulb_bf16_rows;      /* row-major */
extern const struct ulb_layout ulb_bf16_vnni2;     /* [M/32][K/2][m32][k2] */
extern const struct ulb_layout ulb_bf16_vnni2_128; /* the same with tiles of 128 rows */
/* `[slices][M/8][K/4][m8][k4]`, and the same with tiles of 32 rows. Two rows of four columns are the operand
 * of a matrix product. A slice has at most ULB_BF16_PAIRS_STEPS tiles side by side. */
enum { ULB_BF16_PAIRS_COLUMNS = 4, ULB_BF16_PAIRS_STEPS = 64 };
extern const struct ulb_layout ulb_bf16_pairs_8, ulb_bf16_pairs_32;

#endif
