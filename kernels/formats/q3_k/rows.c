/* Q3_K repacked: eight codes in three bytes, as in kernels/formats/int3/mask.c. 10 dot products serve eight
 * vectors of rows. Scales are as in Q6_K.
 *
 * Registers: 10 sums, three for a step. Block sums and results are kept in memory. */
#include "kernels/formats/q3_k/format.h"
#include "kernels/x86/codes/codes.h"

#define LAYOUT         ULB_BY_WIDTH(ulb_q3_k_rows_64, ulb_q3_k_rows_128)
#define CODES          ulb_three_bit_codes
#define COUNTS         ULB_THREE_BIT_COUNTS
#define BYTES_PER_STEP 14.25
#define SETS           1
#define COLUMNS        ULB_Q3_K_COLUMNS
#define GROUP          ULB_Q3_K_GROUP
#define ZERO_POINT     ULB_Q3_K_ZERO_POINT
#define SCALES         ULB_SIGNED_SCALES
#define MINIMA         ULB_NO_MINIMA
#define POWERS         0
#define ACTIVATION     ULB_ACT_Q8_K
#define NEAR           ULB_BY_SUMS(1536, 2048)
#define FAR            ULB_BY_SUMS(0, 4096)
#define SHUFFLES       0
#define UNPACKED       1
#define LEAST          ULB_BY_SUMS(2, 4)
#if !ULB_S16_SUMS && !defined(ULB_DP_VEX)
#define FOLDED 1
#endif

#include "kernels/x86/block_kernel.h"
