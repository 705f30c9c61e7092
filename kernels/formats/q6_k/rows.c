/* Q6_K repacked: four codes in three bytes (kernels/pack/block_interleave.c). Six dot products serve four
 * vectors of rows.
 *
 * The scales of 16 columns, four steps, are the cost: each takes a widening, a conversion and an FMA.
 * 16-bit sums hold 2 steps: `2 * 2 * 63 * 128 = 32,256`.
 * Registers: six sums, four of the slice's block, three for a step, a mask. If there are 16, part of the
 * other slice's block and of the four results is kept in memory. */
#include "kernels/formats/q6_k/format.h"
#include "kernels/x86/codes/codes.h"

#define LAYOUT         ULB_BY_WIDTH(ulb_q6_k_rows_32, ulb_q6_k_rows_64)
#define CODES          ulb_six_bit_codes
#define COUNTS         ULB_SIX_BIT_COUNTS
#define BYTES_PER_STEP 26.25
#define SETS           1
#define COLUMNS        ULB_Q6_K_COLUMNS
#define GROUP          ULB_Q6_K_GROUP
#define ZERO_POINT     ULB_Q6_K_ZERO_POINT
#define SCALES         ULB_SIGNED_SCALES
#define MINIMA         ULB_NO_MINIMA
#define POWERS         0
#define ACTIVATION     ULB_ACT_Q8_K
#define NEAR           2048
#define FAR            ULB_BY_SUMS(4096, 0)
#define SHUFFLES       0
#define UNPACKED       1
#define LEAST          ULB_BY_SUMS(2, 4)

#include "kernels/x86/block_kernel.h"
