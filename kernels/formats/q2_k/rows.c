/* Q2_K repacked: four codes a byte, scales and minima of 16 columns, 4 bits each.
 *
 * Registers: 4 sums, 4 of the slice's block, 3 of a step's own; of 16 the other slice's block and the 4
 * results partly wait in memory. Ports, per 32 weights at 256 bits: 1.75 for masks and dot products, 1.31 for
 * the ends of groups (per vector of rows half a widening, half a shift and half an and, a conversion, an FMA,
 * and what makes floats of sums), 0.36 for minima and d: 3.42 on three ports are 1.14 cycles, 0.86 at 512
 * bits on two. */
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
#define LEAST          4

#include "kernels/x86/block_kernel.h"
