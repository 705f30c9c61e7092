/* int4 for 4 tokens at once by usmmla (see arm/tokens.h). */
#include "kernels/formats/int4/format.h"

#define LAYOUT     ulb_int4
#define FIELDS     2
#define FACTOR     1
#define ZERO_POINT ULB_INT4_ZERO_POINT

#include "kernels/arm/gemm/mmla.h"
