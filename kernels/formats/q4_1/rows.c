/* Q4_1 repacked: the codes of Q4_0 without a zero point. The minimum times the sum of the block's activations
 * takes one conversion and one FMA more. */
#include "kernels/formats/q4_1/format.h"
#include "kernels/x86/codes/codes.h"

#define LAYOUT         ULB_BY_WIDTH(ulb_q4_1_rows_48, ulb_q4_1_rows_96)
#define CODES          ulb_nibble_codes
#define COUNTS         ULB_NIBBLE_COUNTS
#define BYTES_PER_STEP 20
#define SETS           3
#define COLUMNS        ULB_Q4_1_COLUMNS
#define GROUP          ULB_Q4_1_COLUMNS
#define ZERO_POINT     0
#define SCALES         ULB_NO_GROUPS
#define MINIMA         ULB_ONE_MINIMUM
#define POWERS         0
#define ACTIVATION     ULB_ACT_Q8_0
#define NEAR           2048
#define FAR            4096
#define SHUFFLES       0
#if !ULB_S16_SUMS && !defined(ULB_DP_VEX)
#define UNPACKED 1
#define LEAST    ULB_UNPACKED_FIELDS_LEAST
#endif

#include "kernels/x86/block_kernel.h"
