/* int4 without unpacking (see arm/fields.h): one and, two dot products a byte. */
#include "kernels/formats/int4/format.h"

#define LAYOUT     ulb_int4
#define FIELDS     2
#define FACTOR     1
#define ZERO_POINT ULB_INT4_ZERO_POINT

#ifdef ULB_GROUP
#include "kernels/arm/gemv/grouped.h"
#else
#include "kernels/arm/gemv/fields.h"
#endif
