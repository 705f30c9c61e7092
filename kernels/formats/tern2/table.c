/* tern2 by exact tables, a bit at a time: see int2/table.c. */
#include "kernels/formats/int2/format.h"
#include "kernels/formats/tern2/format.h"
#include "kernels/codes/lut4.h"

ULB_NIBBLE_KERNEL(ulb_tern2_planes, ULB_PLANES2_ROWS, 4, 2, ULB_TERN2_ZERO_POINT, ulb_nibble_build_bits,
                  ulb_planes2_separate)
