/* IQ4_NL repacked: the nibbles of Q4_0, each looked up.
 *
 * For dot products the table holds entries + 127, which are unsigned. With AVX2 the entry takes the sign of
 * x, the other operand is |x|, and every pair is widened at once.
 * `|sum| <= 240 * 127 * 32`; with AVX2 a pair is at most `2 * 127 * 127`. */
#include "kernels/formats/iq4_nl/format.h"
#include "kernels/formats/iq4_nl/table.h"
#include "kernels/x86/codes/codes_lut.h"
#include "kernels/x86/gemv/block.h"

static inline void step(const uint8_t *w, ulb_vec x, ulb_vec *sums)
{
    ulb_vec low, high;
    ulb_look_up_nibbles(w, ulb_all128(table), &low, &high);
#if ULB_S16_SUMS
    ulb_vec size = _mm256_abs_epi8(x); /* of all sets once */
    ulb_dot_signed(&sums[0], x, size, low);
    ulb_dot_signed(&sums[1], x, size, high);
#else
    ulb_dot(&sums[0], low, x);
    ulb_dot(&sums[1], high, x);
#endif
}

static inline __attribute__((always_inline)) ulb_vec operand(const ulb_vec *packed, size_t i)
{
    return ulb_operand_entries(packed, i, ulb_all128(table));
}

static const struct ulb_codes entries = {.bytes = 1,
                                         .rows = 2,
                                         .sums = 2,
                                         .step = step,
                                         .operand = operand,
                                         .byte = operand,
                                         .start = ulb_start_magic,
                                         .floats = ulb_floats_2,
                                         .shift = ulb_no_shift};

#define LAYOUT         ULB_BY_WIDTH(ulb_iq4_nl_rows_48, ulb_iq4_nl_rows_96)
#define CODES          entries
#define BYTES_PER_STEP 18
#define ENTRY_COUNTS(use)                                                                                    \
    use(1, 2, 0, 2, 1, ULB_BY_SUMS(4 + 1.0 / SETS, 0), 2, ULB_BY_SUMS(1, 0), 0, 2, 0, 0, 0, 2)
#define COUNTS ENTRY_COUNTS

#define SETS       3
#define COLUMNS    ULB_IQ4_NL_COLUMNS
#define GROUP      ULB_IQ4_NL_COLUMNS
#define ZERO_POINT ENTRY_ORIGIN
#define SCALES     ULB_NO_GROUPS
#define MINIMA     ULB_NO_MINIMA
#define POWERS     0
#define ACTIVATION ULB_ACT_Q8_0
#define NEAR       ULB_BY_SUMS(1536, 2048)
#define FAR        ULB_BY_SUMS(0, 4096)
#define TILE_PAIRS ULB_BY_WIDTH(0, 1)
#define SHUFFLES   1
#define LEAST      ULB_BY_SUMS(4, ULB_BY_ENCODING(5, ULB_UNPACKED_FIELDS_LEAST))
#define IS_SIGNED
#define UNPACKED 1

#include "kernels/x86/block_kernel.h"
