/* fp32: weights in single precision without scales, single-precision activations and sums. */
#ifndef ULB_KERNELS_FORMATS_FP32_FORMAT_H
#define ULB_KERNELS_FORMATS_FP32_FORMAT_H

#include "kernels/kernel.h"

extern const struct ulb_format ulb_fp32;
extern const struct ulb_layout ulb_fp32_rows; /* row-major */
/* [M/64][K][m64] in two slices of K; the second for 512-bit vectors: 128 rows. */
extern const struct ulb_layout ulb_fp32_columns_64, ulb_fp32_columns_128;

#endif
