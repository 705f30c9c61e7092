/* Q4_0 repacked: lanes are rows, and the two nibbles of a byte are two rows.
 *
 * 16-bit sums hold 8 steps: `8 * 2 * 15 * 127 = 30,480`.
 * `|16 S1 + zero point| <= 17 * 15 * 127 * 32 = 1,036,320`.
 * Registers: six sums of one block, six results, three for a step, a mask. Two rows of tiles side by side
 * have 12 results, in VEX some in memory. At 512 bits the FMA that multiplies by the scale replaces half of
 * the additions. */
#include "kernels/formats/q4_0/format.h"
#include "kernels/x86/codes/codes.h"

#define LAYOUT         ULB_BY_WIDTH(ulb_q4_0_rows_48, ulb_q4_0_rows_96)
#define CODES          ulb_nibble_codes
#define COUNTS         ULB_NIBBLE_COUNTS
#define BYTES_PER_STEP 18
#define SETS           3
#define COLUMNS        ULB_Q4_0_COLUMNS
#define GROUP          ULB_Q4_0_COLUMNS
#define ZERO_POINT     ULB_Q4_0_ZERO_POINT
#define SCALES         ULB_NO_GROUPS
#define MINIMA         ULB_NO_MINIMA
#define POWERS         0
#define ACTIVATION     ULB_ACT_Q8_0
#define NEAR           ULB_BY_SUMS(2048, 1024)
#define FAR            ULB_BY_SUMS(4096, ULB_BY_ENCODING(0, 4096))
#define TILE_PAIRS     1
#define SHUFFLES       0
#if !ULB_S16_SUMS && !defined(ULB_DP_VEX)
#define UNPACKED 1
#define LEAST    ULB_UNPACKED_FIELDS_LEAST
#endif

#include "kernels/x86/block_kernel.h"
