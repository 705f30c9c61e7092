/* Q6_K repacked: four codes in three bytes (kernels/pack/block_interleave.c), 6 dot products for 4 vectors of
 * rows.
 *
 * Scales of 16 columns, 4 steps, are what costs: a widening, a conversion and an FMA each. 16-bit sums: 2
 * steps of 2 * 63 * 128 are 32,256. Registers: 6 sums, 4 of the slice's block, 3 of a step's own, a mask; of
 * 16 the other slice's block and the 4 results partly wait in memory. Ports: per 4 columns of 4 vectors of
 * rows 3 and, 6 dot products, 2.25 operations per 32 weights at 256 bits; at the end of 16 columns 8 that
 * make floats of sums and 12 for scales, 1.25: with d 3.55 on three ports, 1.18 cycles, 0.89 at 512 bits on
 * two. */
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
