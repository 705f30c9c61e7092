/* Q4_K repacked: Q4_0's codes, with a scale for each group of 32 columns, a byte of it for a row, and minima
 * as dot products of their own.
 *
 * In single precision |scale * sum| <= 63 * 15 * 128 * 32 < 2^22 is exact, the block's sum of 8 rounded; with
 * AVX2 scales multiply 16-bit sums, and the block's is an integer.
 * Registers: 4 sums, 4 of the slice's block, 3 of a step's own, a mask; of 16 the other slice's block and the
 * 4 results partly wait in memory. Ports, per 32 weights at 256 bits: half an and, a dot product; at the end
 * of a group and for each vector of rows a float addition, a widening, a conversion and an FMA, 0.5; for
 * minima and d 0.2: 2.2 on three ports are 0.73 cycle, 0.56 at 512 bits on two. */
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

#include "kernels/x86/block_kernel.h"
