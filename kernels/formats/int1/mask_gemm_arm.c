/* int1 for 4 tokens at once by usmmla (see arm/tokens.h). A set bit is -1: a row's sum is sum(x) - 2 S. */
#include "kernels/formats/int1/format.h"

#define LAYOUT     ulb_int1
#define FIELDS     8
#define FACTOR     -2
#define ZERO_POINT -1

#include "kernels/arm/gemm/mmla.h"
