/* Q5_1 repacked: the codes of Q5_0 without a zero point, and the minimum of Q4_1. */
#include "kernels/formats/q5_1/format.h"
#include "kernels/x86/codes/codes.h"

#define LAYOUT         ULB_BY_WIDTH(ulb_q5_1_rows_64, ulb_q5_1_rows_128)
#define CODES          ulb_five_bit_codes
#define COUNTS         ULB_FIVE_BIT_COUNTS
#define BYTES_PER_STEP 24
#define SETS           1
#define COLUMNS        ULB_Q5_1_COLUMNS
#define GROUP          ULB_Q5_1_COLUMNS
#define ZERO_POINT     0
#define SCALES         ULB_NO_GROUPS
#define MINIMA         ULB_ONE_MINIMUM
#define POWERS         0
#define ACTIVATION     ULB_ACT_Q8_0
#define NEAR           ULB_BY_SUMS(1024, 2048)
#define FAR            ULB_BY_SUMS(0, 4096)
#define SHUFFLES       0
#define UNPACKED       1
#define LEAST          ULB_BY_SUMS(2, 4)

#include "kernels/x86/block_kernel.h"
