/* Q5_0 repacked: eight codes in five bytes (kernels/pack/block_interleave.c). 12 dot products serve eight
 * vectors of rows.
 *
 * 128 times code 6 and 64 times code 7 exceed the range of ULB_MAGIC, but fit int32.
 * `127 * 32 * 31 * 128 < 2^24`. 16-bit sums hold 4 steps: `4 * 2 * 31 * 127 = 31,496`.
 * Registers: 12 sums, three for a step, a mask. The other masks are in memory, with 16 registers the results
 * too. */
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
