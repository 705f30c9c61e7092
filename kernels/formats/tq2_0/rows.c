/* TQ2_0 repacked: four codes a byte, one scale for 256 columns.
 *
 * Registers: 12 sums at 256 bits, eight at 512 bits, to hide the latency of dot products. With AVX2 8,
 * because the step takes more registers. Results are kept in memory, because they are used once in 64 steps.
 * `|sum| <= 255 * 128 * 256 < 2^23`. */
#include "kernels/formats/tq2_0/format.h"
#include "kernels/x86/codes/codes.h"

#define LAYOUT         ULB_BY_WIDTH(ULB_BY_SUMS(ulb_tq2_0_rows_64, ulb_tq2_0_rows_96), ulb_tq2_0_rows_128)
#define CODES          ulb_two_bit_codes
#define COUNTS         ULB_TWO_BIT_COUNTS
#define BYTES_PER_STEP 8.25
#define SETS           ULB_BY_WIDTH(ULB_BY_SUMS(2, 3), 2)
#define COLUMNS        ULB_TQ2_0_COLUMNS
#define GROUP          ULB_TQ2_0_COLUMNS
#define ZERO_POINT     ULB_TQ2_0_ZERO_POINT
#define SCALES         ULB_NO_GROUPS
#define MINIMA         ULB_NO_MINIMA
#define POWERS         0
#define ACTIVATION     ULB_ACT_Q8_K
#define NEAR           2048
#define FAR            4096
#define SHUFFLES       0
#define LEAST          4

#include "kernels/x86/block_kernel.h"
