/* int2 for 4 tokens at once by usmmla (see arm/tokens.h). */
#include "kernels/formats/int2/format.h"

#define LAYOUT     ulb_int2
#define FIELDS     4
#define FACTOR     1
#define ZERO_POINT ULB_INT2_ZERO_POINT

#include "kernels/arm/gemm/mmla.h"
