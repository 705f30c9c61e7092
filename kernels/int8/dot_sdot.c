/* int8 by signed dot products: bytes are values (see arm/fields.h). */
#include "kernels/int8/format.h"

#define LAYOUT     ulb_int8
#define FIELDS     1
#define FACTOR     1
#define ZERO_POINT 0

#ifdef ULB_GROUP
#include "kernels/arm/groups.h"
#else
#include "kernels/arm/fields.h"
#endif
