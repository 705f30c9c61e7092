/* bf16: bfloat16 weights without scales, single-precision activations and sums: the 16-bit baseline. */
#ifndef ULB_KERNELS_BF16_FORMAT_H
#define ULB_KERNELS_BF16_FORMAT_H

#include "kernels/kernel.h"

extern const struct ulb_format ulb_bf16;
extern const struct ulb_layout ulb_bf16_rows;  /* row-major */
extern const struct ulb_layout ulb_bf16_vnni2; /* [M/32][K/2][m32][k2] */

#endif
