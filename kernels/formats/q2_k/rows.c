/* Q2_K repacked: four codes a byte. Scales and minima of 16 columns have 4 bits each.
 *
 * Registers: four sums, four of the slice's block, three for a step. If there are 16, part of the other
 * slice's block and of the four results is kept in memory. */
#include "kernels/formats/q2_k/format.h"
#include "kernels/x86/codes/codes.h"

#define LAYOUT         ULB_BY_WIDTH(ulb_q2_k_rows_32, ulb_q2_k_rows_64)
#define CODES          ulb_two_bit_codes
#define COUNTS         ULB_TWO_BIT_COUNTS
#define BYTES_PER_STEP 10.5
#define SETS           1
#define COLUMNS        ULB_Q2_K_COLUMNS
#define GROUP          ULB_Q2_K_GROUP
#define ZERO_POINT     0
#define SCALES         ULB_NIBBLE_SCALES
#define MINIMA         ULB_NIBBLE_MINIMA
#define POWERS         0
#define ACTIVATION     ULB_ACT_Q8_K
#define NEAR           2048
#define FAR            ULB_BY_SUMS(0, 4096)
#define SHUFFLES       0
#define LEAST          ULB_BY_SUMS(4, 8)
#if !ULB_S16_SUMS && !defined(ULB_DP_VEX)
#define UNPACKED 1
#define FOLDED   1
#endif

#include "kernels/x86/block_kernel.h"
