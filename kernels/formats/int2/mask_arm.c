/* int2 without unpacking (see arm/fields.h): three and, four dot products a byte. */
#include "kernels/formats/int2/format.h"

#define LAYOUT     ulb_int2
#define FIELDS     4
#define FACTOR     1
#define ZERO_POINT ULB_INT2_ZERO_POINT

#ifdef ULB_GROUP
#include "kernels/arm/gemv/grouped.h"
#else
#include "kernels/arm/gemv/fields.h"
#endif
