/* fp32: weights in single precision without scales, single-precision activations and sums. */
#ifndef ULB_KERNELS_FORMATS_FP32_FORMAT_H
#define ULB_KERNELS_FORMATS_FP32_FORMAT_H

#include "kernels/formats/fp16/columns.h"

extern const struct ulb_format ulb_fp32;
ULB_COLUMNS_DECLARE(fp32);

#endif
