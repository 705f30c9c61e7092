/* tern2 without unpacking (see kernels/arm/gemv/fields.h). Codes are fields of two bits, as in int2. */
#include "kernels/formats/tern2/format.h"

#define LAYOUT     ulb_tern2
#define FIELDS     4
#define FACTOR     1
#define ZERO_POINT ULB_TERN2_ZERO_POINT

#include "kernels/arm/gemv/fields.h"
