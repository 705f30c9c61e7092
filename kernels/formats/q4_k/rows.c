/* Q4_K repacked: the codes of Q4_0, a byte scale for each row and group of 32 columns, and minima as separate
 * dot products.
 *
 * In single precision the product of scale and sum is exact; the sum of eight groups is rounded. With AVX2
 * scales multiply 16-bit sums, and the sum of the block is an integer.
 * `|scale * sum| <= 63 * 15 * 128 * 32 < 2^22`.
 * Registers: four sums, four of the slice's block, three for a step, a mask. If there are 16, part of the
 * other slice's block and of the four results is kept in memory. */
#include "kernels/formats/q4_k/format.h"
#include "kernels/x86/codes/codes.h"

#define LAYOUT         ULB_BY_WIDTH(ulb_q4_k_rows_32, ulb_q4_k_rows_64)
#define CODES          ulb_nibble_codes
#define COUNTS         ULB_NIBBLE_COUNTS
#define BYTES_PER_STEP 18.5
#define SETS           2
#define COLUMNS        ULB_Q4_K_COLUMNS
#define GROUP          ULB_K_GROUP
#define ZERO_POINT     0
#define SCALES         ULB_UNSIGNED_SCALES
#define MINIMA         ULB_BYTE_MINIMA
#define POWERS         0
#define ACTIVATION     ULB_ACT_Q8_K
#define NEAR           2048
#define FAR            ULB_BY_SUMS(4096, ULB_BY_WIDTH(4096, 0))
#define SHUFFLES       0
#if !ULB_S16_SUMS && !defined(ULB_DP_VEX)
#define UNPACKED 1
#define LEAST    ULB_UNPACKED_FIELDS_LEAST
#endif

#include "kernels/x86/block_kernel.h"
