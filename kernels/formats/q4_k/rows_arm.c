/* Q4_K repacked (see arm/block_rows.h): Q4_0's codes, a scale and a minimum of a byte for each 32 columns of
 * a row. */
#include "kernels/formats/q4_k/format.h"

#define LAYOUT         ulb_q4_k
#define FIELDS         2
#define COLUMNS        ULB_Q4_K_COLUMNS
#define GROUP          ULB_K_GROUP
#define ZERO_POINT     0
#define GROUPS         1
#define ACTIVATION     ULB_ACT_Q8_K
#define BYTES_PER_STEP 18.5

#include "kernels/arm/gemv/block_kernel.h"
