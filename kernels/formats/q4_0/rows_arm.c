/* Q4_0 repacked (see arm/block_rows.h): the two nibbles of a byte are two rows. */
#include "kernels/formats/q4_0/format.h"

#define LAYOUT         ulb_q4_0
#define FIELDS         2
#define COLUMNS        ULB_Q4_0_COLUMNS
#define GROUP          ULB_Q4_0_COLUMNS
#define ZERO_POINT     ULB_Q4_0_ZERO_POINT
#define GROUPS         0
#define ACTIVATION     ULB_ACT_Q8_0
#define BYTES_PER_STEP 18

#include "kernels/arm/gemv/block_kernel.h"
