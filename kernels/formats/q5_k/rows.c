/* Q5_K repacked: the codes of Q5_0, the scales and minima of Q4_K.
 * `|sum| <= 31 * 128 * 32 * 128 < 2^24`. */
#include "kernels/formats/q5_k/format.h"
#include "kernels/x86/codes/codes.h"

#define LAYOUT         ULB_BY_WIDTH(ulb_q5_k_rows_64, ulb_q5_k_rows_128)
#define CODES          ulb_five_bit_codes
#define COUNTS         ULB_FIVE_BIT_COUNTS
#define BYTES_PER_STEP 22.5
#define SETS           1
#define COLUMNS        ULB_Q5_K_COLUMNS
#define GROUP          ULB_K_GROUP
#define ZERO_POINT     0
#define SCALES         ULB_UNSIGNED_SCALES
#define MINIMA         ULB_BYTE_MINIMA
#define POWERS         0
#define ACTIVATION     ULB_ACT_Q8_K
#define NEAR           2048
#define FAR            4096
#define SHUFFLES       0
#define UNPACKED       1
#define LEAST          ULB_BY_SUMS(2, 4)

#include "kernels/x86/block_kernel.h"
