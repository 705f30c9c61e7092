/* Q8_0 repacked: bytes are values, 128 too large for dot products.
 *
 * `|sum| <= 255 * 127 * 32 = 1,036,320`.
 * With AVX2 every pair is widened at once, and several tokens use kernels/x86/gemm/block_unpacked_avx2.h.
 * Registers: six sums, six results, two for a step. At 512 bits loads are the limit. */
#include "kernels/formats/q8_0/format.h"
#include "kernels/x86/codes/codes.h"

#define LAYOUT         ULB_BY_WIDTH(ULB_BY_SUMS(ulb_q8_0_signed_rows_48, ulb_q8_0_rows_48), ulb_q8_0_rows_96)
#define CODES          ulb_whole_codes
#define COUNTS         ULB_WHOLE_COUNTS
#define BYTES_PER_STEP 34
#define SETS           6
#define COLUMNS        ULB_Q8_0_COLUMNS
#define GROUP          ULB_Q8_0_COLUMNS
#define ZERO_POINT     ULB_BY_SUMS(0, ULB_Q8_0_ZERO_POINT)
#define SCALES         ULB_NO_GROUPS
#define MINIMA         ULB_NO_MINIMA
#define POWERS         0
#define ACTIVATION     ULB_ACT_Q8_0
#define NEAR           ULB_BY_SUMS(2048, 512)
#define FAR            ULB_BY_SUMS(4096, 0)
#define SHUFFLES       0
#define IS_SIGNED
#if !ULB_S16_SUMS && !defined(ULB_DP_VEX)
#define UNPACKED 1
#define LEAST    ULB_UNPACKED_FIELDS_LEAST
#endif

#include "kernels/x86/block_kernel.h"
