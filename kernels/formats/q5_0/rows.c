/* Q5_0 repacked: eight codes in five bytes (kernels/pack/block_interleave.c), 12 dot products for 8 vectors
 * of rows.
 *
 * 128 times code 6 and 64 times code 7 exceed what ULB_MAGIC holds, 127 * 32 * 31 * 128 = 16 million fits
 * int32. 16-bit sums: 4 steps of 2 * 31 * 127 are 31,496. Registers: 12 sums, 3 of a step's own, a mask; the
 * other masks and, of 16 registers, the results are in memory.
 * Ports: per 4 columns of 8 vectors of rows 7 and, 12 dot products; at a block's end 15 additions and 7
 * shifts that put three codes together, 8 conversions to floats, and a conversion, a multiplication and an
 * FMA for each vector: 3.22 operations per 32 weights on three ports are 1.07 cycles, 0.82 at 512 bits on
 * two. */
#include "kernels/formats/q5_0/format.h"
#include "kernels/x86/codes/codes.h"

#define LAYOUT         ULB_BY_WIDTH(ulb_q5_0_rows_64, ulb_q5_0_rows_128)
#define CODES          ulb_five_bit_codes
#define COUNTS         ULB_FIVE_BIT_COUNTS
#define BYTES_PER_STEP 22
#define SETS           1
#define COLUMNS        ULB_Q5_0_COLUMNS
#define GROUP          ULB_Q5_0_COLUMNS
#define ZERO_POINT     ULB_Q5_0_ZERO_POINT
#define SCALES         ULB_NO_GROUPS
#define MINIMA         ULB_NO_MINIMA
#define POWERS         0
#define ACTIVATION     ULB_ACT_Q8_0
#define NEAR           2048
#define FAR            4096
#define SHUFFLES       0
#define UNPACKED       1
#define LEAST          ULB_BY_SUMS(2, 4)

#include "kernels/x86/block_kernel.h"
