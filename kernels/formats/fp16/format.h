/* fp16: weights in half precision without scales, single-precision activations and sums. */
#ifndef ULB_KERNELS_FORMATS_FP16_FORMAT_H
#define ULB_KERNELS_FORMATS_FP16_FORMAT_H

#include "kernels/formats/fp16/columns.h"

extern const struct ulb_format ulb_fp16;
ULB_COLUMNS_DECLARE(fp16);

#endif
