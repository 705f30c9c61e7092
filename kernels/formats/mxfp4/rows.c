/* MXFP4 repacked: the nibbles of Q4_0, each looked up. The table holds entries + 12, unsigned codes up to 24
 * for both builds.
 * 16-bit sums hold 4 steps: `4 * 2 * 24 * 127 = 24,384`.
 * Scales are exponents. bfloat16 scales would save two operations, but take more bytes. */
#include "kernels/formats/mxfp4/format.h"
#include "kernels/formats/mxfp4/table.h"
#include "kernels/x86/codes/codes_lut.h"
#include "kernels/x86/gemv/block.h"

static inline void step(const uint8_t *w, ulb_vec x, ulb_vec *sums)
{
    ulb_vec low, high;
    ulb_look_up_nibbles(w, ulb_all128(ulb_mxfp4_entries), &low, &high);
    ulb_dot(&sums[0], low, x);
    ulb_dot(&sums[1], high, x);
}

static inline __attribute__((always_inline)) ulb_vec operand(const ulb_vec *packed, size_t i)
{
    return ulb_operand_entries(packed, i, ulb_all128(ulb_mxfp4_entries));
}

static const struct ulb_codes entries = {.bytes = 1,
                                         .rows = 2,
                                         .sums = 2,
                                         .s16_steps = ULB_BY_SUMS(ULB_S16_STEPS(24), 0),
                                         .step = step,
                                         .operand = operand,
                                         .byte = operand,
                                         .start = ulb_start_magic,
                                         .floats = ulb_floats_2,
                                         .shift = ulb_no_shift};

#define LAYOUT            ULB_BY_WIDTH(ulb_mxfp4_rows_48, ulb_mxfp4_rows_96)
#define CODES             entries
#define BYTES_PER_STEP    17
#define ENTRY_COUNTS(use) use(1, 2, 0, 2, 1, ULB_BY_SUMS(2, 0), 2, ULB_BY_SUMS(4, 0), 0, 2, 0, 0, 0, 2)
#define COUNTS            ENTRY_COUNTS

#define SETS       3
#define COLUMNS    ULB_MXFP4_COLUMNS
#define GROUP      ULB_MXFP4_COLUMNS
#define ZERO_POINT ULB_MXFP4_ORIGIN
#define SCALES     ULB_NO_GROUPS
#define MINIMA     ULB_NO_MINIMA
#define POWERS     1
#define ACTIVATION ULB_ACT_Q8_0
#define NEAR       2048
#define FAR        4096
#define TILE_PAIRS ULB_BY_WIDTH(0, 1)
#define SHUFFLES   1
#define LEAST      ULB_BY_SUMS(2, ULB_BY_ENCODING(5, ULB_UNPACKED_FIELDS_LEAST))
#define UNPACKED   1

#include "kernels/x86/block_kernel.h"
