/* TQ1_0 repacked. The digits of a byte are five rows and are never extracted (see
 * kernels/formats/tern1_6/triple.c and kernels/formats/tern1_6/triple_maddubs.c). D(i) is the sum of the
 * bytes tripled i times modulo 256.
 * `256 S(i) = 3 D(i) - D(i + 1)`. `|3 D| <= 3 * 255 * 128 * 256 < 2^25`.
 * With AVX2 the unsigned operand is |x|. The byte less 128, which is never -128, takes the sign of x. It adds
 * -sum(x) to every sum, which is the term of the zero point.
 *
 * Registers: six sums, three for a step, five results. */
#include "kernels/formats/tq1_0/format.h"
#include "kernels/x86/codes/codes.h"
#include "kernels/x86/gemv/block.h"
#include "kernels/x86/codes/ternary_base3.h"

static inline ulb_vec start_at_zero(size_t i, ulb_vec magic, const struct ulb_zero_sum *zero)
{
    (void)i;
    (void)magic;
    (void)zero;
    return ulb_zero();
}

static inline void floats(const ulb_vec *sums, const struct ulb_zero_sum *zero,
                          const struct ulb_sum_scale *scale, ulb_floats *values)
{
    (void)scale;
#pragma GCC unroll 5
    for (int i = 0; i < 5; i++) {
        ulb_vec thrice = ulb_add32(sums[i], ulb_add32(sums[i], sums[i]));
        ulb_vec sum = ulb_asr32(ulb_sub32(thrice, sums[i + 1]), 8);
        values[i] = ulb_to_floats(ulb_sub32(sum, zero->all));
    }
}

#if ULB_S16_SUMS

/* sum += |x| . packed: at most 2 * 128 * 127, which 16 bits hold once. */
#define SIGNED(sum)                                                                                          \
    "vpmaddubsw %[packed], %[magnitude], %[twice]\n\tvpmaddwd %[ones], %[twice], %[twice]\n\t"               \
    "vpaddd %[twice], %[" sum "], %[" sum "]\n\t"

static inline void step(const uint8_t *w, ulb_vec x, ulb_vec *sums)
{
    ulb_vec packed, twice, magnitude;
    __asm__("vmovdqu %[w], %[packed]\n\tvpsignb %[x], %[packed], %[packed]\n\t" /* clang-format off */
            "vpabsb %[x], %[magnitude]\n\t"
            SIGNED("s0") ULB_ASM_TRIPLE
            SIGNED("s1") ULB_ASM_TRIPLE
            SIGNED("s2") ULB_ASM_TRIPLE
            SIGNED("s3") ULB_ASM_TRIPLE
            SIGNED("s4") ULB_ASM_TRIPLE
            SIGNED("s5") /* clang-format on */
            : [s0] ULB_SUM(sums[0]), [s1] ULB_SUM(sums[1]), [s2] ULB_SUM(sums[2]), [s3] ULB_SUM(sums[3]),
              [s4] ULB_SUM(sums[4]), [s5] ULB_SUM(sums[5]), [packed] ULB_SCRATCH(packed),
              [twice] ULB_SCRATCH(twice), [magnitude] ULB_SCRATCH(magnitude)
            : [w] ULB_WEIGHTS(w), [x] "x"(x), [ones] "x"(_mm256_set1_epi16(1)));
}

#define FIFTH_COUNTS(use) use(1, 5, 0, 0, 0, 18, 6, 1, 20, 0, 0, 5, 5, 0)

#else

static inline void step(const uint8_t *w, ulb_vec x, ulb_vec *sums)
{
    ulb_vec packed, twice;
    __asm__(ULB_MOVE " %[w], %[packed]\n\t" /* clang-format off */
            ULB_ASM_DP("packed", "s0") ULB_ASM_TRIPLE
            ULB_ASM_DP("packed", "s1") ULB_ASM_TRIPLE
            ULB_ASM_DP("packed", "s2") ULB_ASM_TRIPLE
            ULB_ASM_DP("packed", "s3") ULB_ASM_TRIPLE
            ULB_ASM_DP("packed", "s4") ULB_ASM_TRIPLE
            ULB_ASM_DP("packed", "s5") /* clang-format on */
            : [s0] ULB_SUM(sums[0]), [s1] ULB_SUM(sums[1]), [s2] ULB_SUM(sums[2]), [s3] ULB_SUM(sums[3]),
              [s4] ULB_SUM(sums[4]), [s5] ULB_SUM(sums[5]), [packed] ULB_SCRATCH(packed),
              [twice] ULB_SCRATCH(twice)
            : [w] ULB_WEIGHTS(w), [x] ULB_REGISTER(x));
}

#define FIFTH_COUNTS(use) use(1, 5, 0, 0, 0, 10, 6, 0, 20, 0, 0, 5, 5, 0)

#endif

#ifdef ULB_DP_VEX
/* One statement: GCC would keep some of the 12 sums in memory, for a third more time. */
#define DOTS(i)                                                                                              \
    ULB_DP_INSTRUCTION " %[x0], %[packed], %[a" i "]\n\t" ULB_DP_INSTRUCTION " %[x1], %[packed], %[b" i      \
                       "]\n\t"

static inline void pair(const uint8_t *w, ulb_vec x0, ulb_vec x1, ulb_vec *sums0, ulb_vec *sums1)
{
    ulb_vec packed, twice;
    __asm__(ULB_MOVE " %[w], %[packed]\n\t" /* clang-format off */
            DOTS("0") ULB_ASM_TRIPLE
            DOTS("1") ULB_ASM_TRIPLE
            DOTS("2") ULB_ASM_TRIPLE
            DOTS("3") ULB_ASM_TRIPLE
            DOTS("4") ULB_ASM_TRIPLE
            DOTS("5") /* clang-format on */
            : [a0] ULB_SUM(sums0[0]), [a1] ULB_SUM(sums0[1]), [a2] ULB_SUM(sums0[2]), [a3] ULB_SUM(sums0[3]),
              [a4] ULB_SUM(sums0[4]), [a5] ULB_SUM(sums0[5]), [b0] ULB_SUM(sums1[0]), [b1] ULB_SUM(sums1[1]),
              [b2] ULB_SUM(sums1[2]), [b3] ULB_SUM(sums1[3]), [b4] ULB_SUM(sums1[4]), [b5] ULB_SUM(sums1[5]),
              [packed] ULB_SCRATCH(packed), [twice] ULB_SCRATCH(twice)
            : [w] ULB_WEIGHTS(w), [x0] ULB_REGISTER(x0), [x1] ULB_REGISTER(x1));
}
#define PAIR pair
#else
#define PAIR NULL
#endif

static inline __attribute__((always_inline)) ulb_vec operand(const ulb_vec *packed, size_t i)
{
#if ULB_S16_SUMS
    return ulb_signed_digit(packed[0], i);
#else
    return ulb_tripled(packed[0], i);
#endif
}

#define UNPACKED_STEPS(s16_steps) ULB_BY_SUMS(ULB_S16_STEPS(2), 0)

static const struct ulb_codes fifths = {.bytes = 1,
                                        .rows = 5,
                                        .sums = 6,
                                        .step = step,
                                        .pair = PAIR,
                                        .operand = operand,
                                        .operand_steps = UNPACKED_STEPS(1),
                                        .operand_origin = ULB_BY_SUMS(ULB_TQ1_0_ZERO_POINT, 0),
                                        .start = start_at_zero,
                                        .floats = floats,
                                        .shift = ulb_no_shift};

#define LAYOUT         ULB_BY_WIDTH(ULB_BY_SUMS(ulb_tq1_0_signed_rows_40, ulb_tq1_0_rows_40), ulb_tq1_0_rows_80)
#define CODES          fifths
#define COUNTS         FIFTH_COUNTS
#define BYTES_PER_STEP 6.65
#define SETS           1
#define COLUMNS        ULB_TQ1_0_COLUMNS
#define GROUP          ULB_TQ1_0_COLUMNS
#define ZERO_POINT     ULB_BY_SUMS(0, ULB_TQ1_0_ZERO_POINT)
#define SCALES         ULB_NO_GROUPS
#define MINIMA         ULB_NO_MINIMA
#define POWERS         0
#define ACTIVATION     ULB_ACT_Q8_K
#define NEAR           2048
#define FAR            4096
#define SHUFFLES       0

#include "kernels/x86/block_kernel.h"
