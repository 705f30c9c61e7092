/* tern2: values -1, 0, 1 in fields of two bits, one scale per row. The code is value + 1; 3 is never used. */
#ifndef ULB_KERNELS_FORMATS_TERN2_FORMAT_H
#define ULB_KERNELS_FORMATS_TERN2_FORMAT_H

#include "kernels/formats/int2/format.h"

enum { ULB_TERN2_ZERO_POINT = 1 };

extern const struct ulb_format ulb_tern2;
ULB_LAYOUTS2_DECLARE(tern2);

#endif
