/* int8 for 4 tokens at once by smmla (see arm/tokens.h). */
#include "kernels/formats/int8/format.h"

#define LAYOUT     ulb_int8
#define FIELDS     1
#define FACTOR     1
#define ZERO_POINT 0

#include "kernels/arm/gemm/mmla.h"
