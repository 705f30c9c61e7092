/* Q3_K repacked: eight codes in three bytes, as kernels/formats/int3/mask.c has them, 10 dot products
 * for 8 vectors of rows, and Q6_K's scales.
 *
 * Registers: 10 sums, 3 of a step's own; block sums and results wait in memory.
 * Ports: per 4 columns of 8 vectors of rows 7 and, 10 dot products; at the end of 16 columns 9 additions, 2
 * shifts and 8 float additions that make floats of sums, and a widening, a conversion and an FMA for each
 * vector: 3.5 operations per 32 weights on three ports are 1.17 cycles, 0.88 at 512 bits on two. */
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

#include "kernels/x86/block_kernel.h"
