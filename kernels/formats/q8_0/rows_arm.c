/* Q8_0 repacked (see arm/block_rows.h): bytes are values. */
#include "kernels/formats/q8_0/format.h"

#define LAYOUT         ulb_q8_0
#define FIELDS         1
#define COLUMNS        ULB_Q8_0_COLUMNS
#define GROUP          ULB_Q8_0_COLUMNS
#define ZERO_POINT     0
#define GROUPS         0
#define ACTIVATION     ULB_ACT_Q8_0
#define BYTES_PER_STEP 34

#include "kernels/arm/gemv/block_kernel.h"
