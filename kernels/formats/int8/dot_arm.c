/* int8 by signed dot products: bytes are values (see arm/fields.h). */
#include "kernels/formats/int8/format.h"

#define LAYOUT     ulb_int8
#define FIELDS     1
#define FACTOR     1
#define ZERO_POINT 0

#ifdef ULB_GROUP
#include "kernels/arm/gemv/grouped.h"
#else
#include "kernels/arm/gemv/fields.h"
#endif
