/* How each struct ulb_code_bytes (kernels/interleave.c) is multiplied: with dot products, fields stay where
 * they are in the byte, so that their sums are too large by a power of two (see kernels/int2/mask.h); with
 * AVX2 alone they are moved apart first. Every product of a code and an activation fits: codes <= 255, |x| <=
 * 128.
 *
 * Sums of a group that start with ULB_MAGIC are converted by a subtraction; they stay below 2^22. Steps that
 * fill the registers are one assembler statement each, see kernels/x86/vnni.h. */
#ifndef ULB_KERNELS_X86_CODES_H
#define ULB_KERNELS_X86_CODES_H

#include "kernels/x86/block_tokens.h"

static inline ulb_vec ulb_start_magic(size_t i, ulb_vec magic, const struct ulb_zero_sum *zero)
{
    (void)i;
    (void)zero;
    return magic;
}

static inline unsigned ulb_no_shift(size_t v)
{
    (void)v;
    return 0;
}

/* A sum that starts with ULB_MAGIC, less an integer that has it too. */
static inline ulb_floats ulb_less(ulb_vec sum, ulb_vec magic)
{
    return ulb_sub(ulb_as_floats(sum), ulb_as_floats(magic));
}

/* Its value, times the scale where there is one. */
static inline ulb_floats ulb_value(ulb_vec sum, const struct ulb_zero_sum *zero,
                                   const struct ulb_sum_scale *scale)
{
    return scale ? ulb_fma(ulb_as_floats(sum), scale->by, scale->less) : ulb_less(sum, zero->magic);
}

/* The same of a value that is a float already. */
static inline ulb_floats ulb_times(ulb_floats value, const struct ulb_sum_scale *scale)
{
    return scale ? ulb_mul(value, scale->by) : value;
}

/* Of so many sums that each are one vector's. */
static inline __attribute__((always_inline)) void ulb_plain_floats(const ulb_vec *sums, size_t n,
                                                                   const struct ulb_zero_sum *zero,
                                                                   const struct ulb_sum_scale *scale,
                                                                   ulb_floats *values)
{
#pragma GCC unroll 8
    for (size_t v = 0; v < n; v++)
        values[v] = ulb_value(sums[v], zero, scale);
}

#define ULB_PLAIN_FLOATS(name, n)                                                                            \
    static inline void name(const ulb_vec *sums, const struct ulb_zero_sum *zero,                            \
                            const struct ulb_sum_scale *scale, ulb_floats *values)                           \
    {                                                                                                        \
        ulb_plain_floats(sums, n, zero, scale, values);                                                      \
    }

ULB_PLAIN_FLOATS(ulb_floats_1, 1)
ULB_PLAIN_FLOATS(ulb_floats_2, 2)

#if ULB_WORD_SUMS

ULB_PLAIN_FLOATS(ulb_floats_4, 4)
ULB_PLAIN_FLOATS(ulb_floats_8, 8)

static inline void ulb_step_nibbles(const uint8_t *w, ulb_vec x, ulb_vec *sums)
{
    ulb_dot_nibbles(sums, w, x);
}

static inline void ulb_step_crumbs(const uint8_t *w, ulb_vec x, ulb_vec *sums)
{
    ulb_dot_crumbs(sums, w, x);
}

static inline unsigned ulb_shift_crumbs(size_t v)
{
    return v % 2 ? 2 : 0;
}

static inline void ulb_floats_crumbs(const ulb_vec *sums, const struct ulb_zero_sum *zero,
                                     const struct ulb_sum_scale *scale, ulb_floats *values)
{
    (void)scale;
#pragma GCC unroll 4
    for (size_t v = 0; v < 4; v++)
        values[v] =
            ulb_less(sums[v], ulb_add32(ulb_all32(ULB_MAGIC), ulb_shl32(zero->all, ulb_shift_crumbs(v))));
}

/* into = the bits of from, so far to the right, in mask; or, into |= these bits. */
#define ULB_ASM_BITS(from, right, mask, into)                                                                \
    "vpsrlw $" right ", %[" from "], %[" into "]\n\tvpand %[" mask "], %[" into "], %[" into "]\n\t"
#define ULB_ASM_JOIN(from, right, mask, into)                                                                \
    ULB_ASM_BITS(from, right, mask, "field") "vpor %[field], %[" into "], %[" into "]\n\t"

/* Bytes A, B, C: codes 0 and 1, 2 and 3, 4 and 5; the low bits of codes 6 and 7 end A and B, their high bits
 * C. */
static inline void ulb_step_thirds(const uint8_t *w, ulb_vec x, ulb_vec *sums)
{
    static const ulb_vec three = ULB_BYTES(3), four = ULB_BYTES(4);
    ulb_vec packed, field, code6, code7;
    __asm__("vmovdqu %[a], %[packed]\n\t" ULB_ASM_FIELD("seven", "s0") /* clang-format off */
            "vpsrlw $3, %[packed], %[packed]\n\t" ULB_ASM_FIELD("seven", "s1")
            ULB_ASM_BITS("packed", "3", "three", "code6")
            "vmovdqu %[b], %[packed]\n\t" ULB_ASM_FIELD("seven", "s2")
            "vpsrlw $3, %[packed], %[packed]\n\t" ULB_ASM_FIELD("seven", "s3")
            ULB_ASM_BITS("packed", "3", "three", "code7")
            "vmovdqu %[c], %[packed]\n\t" ULB_ASM_FIELD("seven", "s4")
            "vpsrlw $3, %[packed], %[packed]\n\t" ULB_ASM_FIELD("seven", "s5")
            ULB_ASM_JOIN("packed", "1", "four", "code6") ULB_ASM_DP("code6", "s6")
            ULB_ASM_JOIN("packed", "2", "four", "code7") ULB_ASM_DP("code7", "s7") /* clang-format on */
            : [s0] ULB_SUM(sums[0]), [s1] ULB_SUM(sums[1]), [s2] ULB_SUM(sums[2]), [s3] ULB_SUM(sums[3]),
              [s4] ULB_SUM(sums[4]), [s5] ULB_SUM(sums[5]), [s6] ULB_SUM(sums[6]), [s7] ULB_SUM(sums[7]),
              [packed] ULB_SCRATCH(packed), [field] ULB_SCRATCH(field), [code6] ULB_SCRATCH(code6),
              [code7] ULB_SCRATCH(code7)
            : [a] ULB_WEIGHTS(w), [b] ULB_WEIGHTS(w + ULB_VEC_BYTES), [c] ULB_WEIGHTS(w + 2 * ULB_VEC_BYTES),
              [x] "x"(x), [seven] "x"(ulb_all8(7)), [three] "m"(three), [four] "m"(four));
}

/* Bytes A to E: codes 0 to 4, then the bits of codes 5 to 7. Three statements, because one has 30 operands at
 * most. */
static inline void ulb_step_fives(const uint8_t *w, ulb_vec x, ulb_vec *sums)
{
    static const ulb_vec bit_0 = ULB_BYTES(0x01), bits_1_0 = ULB_BYTES(0x03), bits_2_0 = ULB_BYTES(0x07),
                         bits_3_1 = ULB_BYTES(0x0E), bit_4 = ULB_BYTES(0x10), bits_4_3 = ULB_BYTES(0x18),
                         bits_4_2 = ULB_BYTES(0x1C);
    ulb_vec packed, field, code, low = ulb_all8(31);
    __asm__("vmovdqu %[a], %[packed]\n\t" ULB_ASM_FIELD("low", "s0") /* clang-format off */
            ULB_ASM_BITS("packed", "5", "bits_2_0", "code")
            "vmovdqu %[b], %[packed]\n\t" ULB_ASM_FIELD("low", "s1")
            ULB_ASM_JOIN("packed", "2", "bits_4_3", "code") ULB_ASM_DP("code", "s5") /* clang-format on */
            : [s0] ULB_SUM(sums[0]), [s1] ULB_SUM(sums[1]), [s5] ULB_SUM(sums[5]),
              [packed] ULB_SCRATCH(packed), [field] ULB_SCRATCH(field), [code] ULB_SCRATCH(code)
            : [a] ULB_WEIGHTS(w), [b] ULB_WEIGHTS(w + ULB_VEC_BYTES), [x] "x"(x), [low] "x"(low),
              [bits_2_0] "m"(bits_2_0), [bits_4_3] "m"(bits_4_3));
    __asm__(ULB_ASM_BITS("packed", "7", "bit_0", "code") /* clang-format off */
            "vmovdqu %[c], %[packed]\n\t" ULB_ASM_FIELD("low", "s2")
            ULB_ASM_JOIN("packed", "4", "bits_3_1", "code")
            "vmovdqu %[d], %[packed]\n\t" ULB_ASM_FIELD("low", "s3")
            ULB_ASM_JOIN("packed", "1", "bit_4", "code") ULB_ASM_DP("code", "s6") /* clang-format on */
            : [s2] ULB_SUM(sums[2]), [s3] ULB_SUM(sums[3]), [s6] ULB_SUM(sums[6]), [packed] "+x"(packed),
              [field] ULB_SCRATCH(field), [code] ULB_SCRATCH(code)
            : [c] ULB_WEIGHTS(w + 2 * ULB_VEC_BYTES), [d] ULB_WEIGHTS(w + 3 * ULB_VEC_BYTES), [x] "x"(x),
              [low] "x"(low), [bit_0] "m"(bit_0), [bits_3_1] "m"(bits_3_1), [bit_4] "m"(bit_4));
    __asm__(ULB_ASM_BITS("packed", "6", "bits_1_0", "code") /* clang-format off */
            "vmovdqu %[e], %[packed]\n\t" ULB_ASM_FIELD("low", "s4")
            ULB_ASM_JOIN("packed", "3", "bits_4_2", "code") ULB_ASM_DP("code", "s7") /* clang-format on */
            : [s4] ULB_SUM(sums[4]), [s7] ULB_SUM(sums[7]), [packed] "+x"(packed), [field] ULB_SCRATCH(field),
              [code] ULB_SCRATCH(code)
            : [e] ULB_WEIGHTS(w + 4 * ULB_VEC_BYTES), [x] "x"(x), [low] "x"(low), [bits_1_0] "m"(bits_1_0),
              [bits_4_2] "m"(bits_4_2));
}

/* Bytes A to C: codes 0 to 2, and two bits each of code 3. */
static inline void ulb_step_sixes(const uint8_t *w, ulb_vec x, ulb_vec *sums)
{
    static const ulb_vec bits_1_0 = ULB_BYTES(0x03), bits_3_2 = ULB_BYTES(0x0C), bits_5_4 = ULB_BYTES(0x30);
    ulb_vec packed, field, code;
    __asm__("vmovdqu %[a], %[packed]\n\t" ULB_ASM_FIELD("low", "s0") /* clang-format off */
            ULB_ASM_BITS("packed", "6", "bits_1_0", "code")
            "vmovdqu %[b], %[packed]\n\t" ULB_ASM_FIELD("low", "s1")
            ULB_ASM_JOIN("packed", "4", "bits_3_2", "code")
            "vmovdqu %[c], %[packed]\n\t" ULB_ASM_FIELD("low", "s2")
            ULB_ASM_JOIN("packed", "2", "bits_5_4", "code") ULB_ASM_DP("code", "s3") /* clang-format on */
            : [s0] ULB_SUM(sums[0]), [s1] ULB_SUM(sums[1]), [s2] ULB_SUM(sums[2]), [s3] ULB_SUM(sums[3]),
              [packed] ULB_SCRATCH(packed), [field] ULB_SCRATCH(field), [code] ULB_SCRATCH(code)
            : [a] ULB_WEIGHTS(w), [b] ULB_WEIGHTS(w + ULB_VEC_BYTES), [c] ULB_WEIGHTS(w + 2 * ULB_VEC_BYTES),
              [x] "x"(x), [low] "x"(ulb_all8(63)), [bits_1_0] "m"(bits_1_0), [bits_3_2] "m"(bits_3_2),
              [bits_5_4] "m"(bits_5_4));
}

/* sum += x . w of signed bytes, w >= -127; size: |x|, the unsigned side. |pair| <= 2 * 128 * 127 fits 16
 * bits, but no sum of two does. */
static inline void ulb_dot_signed(ulb_vec *sum, ulb_vec x, ulb_vec size, ulb_vec w)
{
    __asm__("vpsignb %[x], %[w], %[w]\n\tvpmaddubsw %[w], %[size], %[w]\n\t"
            "vpmaddwd %[ones], %[w], %[w]\n\tvpaddd %[w], %[sum], %[sum]"
            : [sum] "+x"(*sum), [w] "+x"(w)
            : [x] "x"(x), [size] "x"(size), [ones] "x"(_mm256_set1_epi16(1)));
}

/* Bytes are values. As ulb_dot_signed() with |w|, the load beside its use. */
static inline void ulb_step_whole(const uint8_t *w, ulb_vec x, ulb_vec *sums)
{
    ulb_vec packed, field;
    __asm__("vmovdqu %[w], %[packed]\n\tvpsignb %[packed], %[x], %[field]\n\t"
            "vpabsb %[packed], %[packed]\n\tvpmaddubsw %[field], %[packed], %[packed]\n\t"
            "vpmaddwd %[ones], %[packed], %[packed]\n\tvpaddd %[packed], %[s0], %[s0]"
            : [s0] ULB_SUM(sums[0]), [packed] ULB_SCRATCH(packed), [field] ULB_SCRATCH(field)
            : [w] ULB_WEIGHTS(w), [x] "x"(x), [ones] "x"(_mm256_set1_epi16(1)));
}

static const struct ulb_codes ulb_whole_codes = {.bytes = 1,
                                                 .rows = 1,
                                                 .sums = 1,
                                                 .step = ulb_step_whole,
                                                 .start = ulb_start_magic,
                                                 .floats = ulb_floats_1,
                                                 .shift = ulb_no_shift};
static const struct ulb_codes ulb_nibble_codes = {.bytes = 1,
                                                  .rows = 2,
                                                  .sums = 2,
                                                  .word_steps = ULB_WORD_STEPS(15),
                                                  .step = ulb_step_nibbles,
                                                  .start = ulb_start_magic,
                                                  .floats = ulb_floats_2,
                                                  .shift = ulb_no_shift};
static const struct ulb_codes ulb_crumb_codes = {.bytes = 1,
                                                 .rows = 4,
                                                 .sums = 4,
                                                 .word_steps = ULB_WORD_STEPS(12),
                                                 .step = ulb_step_crumbs,
                                                 .start = ulb_start_magic,
                                                 .floats = ulb_floats_crumbs,
                                                 .shift = ulb_shift_crumbs};
static const struct ulb_codes ulb_third_codes = {.bytes = 3,
                                                 .rows = 8,
                                                 .sums = 8,
                                                 .word_steps = ULB_WORD_STEPS(7),
                                                 .step = ulb_step_thirds,
                                                 .start = ulb_start_magic,
                                                 .floats = ulb_floats_8,
                                                 .shift = ulb_no_shift};
static const struct ulb_codes ulb_five_codes = {.bytes = 5,
                                                .rows = 8,
                                                .sums = 8,
                                                .word_steps = ULB_WORD_STEPS(31),
                                                .step = ulb_step_fives,
                                                .start = ulb_start_magic,
                                                .floats = ulb_floats_8,
                                                .shift = ulb_no_shift};
static const struct ulb_codes ulb_six_codes = {.bytes = 3,
                                               .rows = 4,
                                               .sums = 4,
                                               .word_steps = ULB_WORD_STEPS(63),
                                               .step = ulb_step_sixes,
                                               .start = ulb_start_magic,
                                               .floats = ulb_floats_4,
                                               .shift = ulb_no_shift};

#else

static const ulb_vec ulb_mask_03 = ULB_BYTES(0x03), ulb_mask_07 = ULB_BYTES(0x07),
                     ulb_mask_0c = ULB_BYTES(0x0C), ulb_mask_0f = ULB_BYTES(0x0F),
                     ulb_mask_1f = ULB_BYTES(0x1F), ulb_mask_20 = ULB_BYTES(0x20),
                     ulb_mask_30 = ULB_BYTES(0x30), ulb_mask_38 = ULB_BYTES(0x38),
                     ulb_mask_3f = ULB_BYTES(0x3F), ulb_mask_40 = ULB_BYTES(0x40),
                     ulb_mask_60 = ULB_BYTES(0x60);

/* struct ulb_codes' operand of each code below: what its step multiplies, in the order of its sums. */
static inline ulb_vec ulb_operand_whole(const ulb_vec *packed, size_t i)
{
    return packed[i];
}

static inline ulb_vec ulb_operand_nibbles(const ulb_vec *packed, size_t i)
{
    return i == 0 ? ulb_and(packed[0], ulb_mask_0f) : packed[0];
}

static inline ulb_vec ulb_operand_crumbs(const ulb_vec *packed, size_t i)
{
    return i < 3 ? ulb_and(packed[0], ulb_all8(3 << 2 * i)) : packed[0];
}

static inline ulb_vec ulb_operand_thirds(const ulb_vec *packed, size_t i)
{
    const size_t byte = i < 6 ? i / 3 : 2, field = i - 3 * byte;
    const int masks[] = {0x07, 0x38, 0x40};
    return field < (byte < 2 ? 2 : 3) ? ulb_and(packed[byte], ulb_all8(masks[field])) : packed[byte];
}

static inline ulb_vec ulb_operand_fives(const ulb_vec *packed, size_t i)
{
    if (i >= 10)
        return i == 10 ? ulb_and(packed[1], ulb_mask_60) : ulb_and(packed[3], ulb_mask_20);
    return i < 5 ? ulb_and(packed[i], ulb_mask_1f) : packed[i - 5];
}

static inline ulb_vec ulb_operand_sixes(const ulb_vec *packed, size_t i)
{
    return i < 3 ? ulb_and(packed[i], ulb_mask_3f) : packed[i - 3];
}

/* sums[0] += x.(byte & mask), sums[1] += x.byte */
static inline void ulb_dot_low_and_whole(const uint8_t *w, ulb_vec x, ulb_vec mask, ulb_vec *low,
                                         ulb_vec *whole)
{
    ulb_vec packed, field;
    __asm__(
        ULB_MOVE " %[w], %[packed]\n\t" ULB_ASM_FIELD("mask", "s0") ULB_ASM_DP("packed", "s1")
        : [s0] ULB_SUM(*low), [s1] ULB_SUM(*whole), [packed] ULB_SCRATCH(packed), [field] ULB_SCRATCH(field)
        : [w] ULB_WEIGHTS(w), [x] ULB_REGISTER(x), [mask] ULB_KEPT(mask));
}

/* The same, with a second mask. */
static inline void ulb_dot_two_and_whole(const uint8_t *w, ulb_vec x, ulb_vec mask, const ulb_vec *second,
                                         ulb_vec *low, ulb_vec *middle, ulb_vec *whole)
{
    ulb_vec packed, field;
    __asm__(ULB_MOVE " %[w], %[packed]\n\t" ULB_ASM_FIELD("mask", "s0") ULB_ASM_FIELD("second", "s1")
                ULB_ASM_DP("packed", "s2")
            : [s0] ULB_SUM(*low), [s1] ULB_SUM(*middle), [s2] ULB_SUM(*whole), [packed] ULB_SCRATCH(packed),
              [field] ULB_SCRATCH(field)
            : [w] ULB_WEIGHTS(w), [x] ULB_REGISTER(x), [mask] ULB_KEPT(mask), [second] ULB_MASK(*second));
}

/* Three masks. */
static inline void ulb_dot_three_and_whole(const uint8_t *w, ulb_vec x, ulb_vec mask, const ulb_vec *second,
                                           const ulb_vec *third, ulb_vec *sums)
{
    ulb_vec packed, field;
    __asm__(ULB_MOVE " %[w], %[packed]\n\t" ULB_ASM_FIELD("mask", "s0") ULB_ASM_FIELD("second", "s1")
                ULB_ASM_FIELD("third", "s2") ULB_ASM_DP("packed", "s3")
            : [s0] ULB_SUM(sums[0]), [s1] ULB_SUM(sums[1]), [s2] ULB_SUM(sums[2]), [s3] ULB_SUM(sums[3]),
              [packed] ULB_SCRATCH(packed), [field] ULB_SCRATCH(field)
            : [w] ULB_WEIGHTS(w), [x] ULB_REGISTER(x), [mask] ULB_KEPT(mask), [second] ULB_MASK(*second),
              [third] ULB_MASK(*third));
}

/* Bytes are values + 128. */
static inline void ulb_step_whole(const uint8_t *w, ulb_vec x, ulb_vec *sums)
{
    ulb_dp_at(sums, w, x);
}

static inline void ulb_step_nibbles(const uint8_t *w, ulb_vec x, ulb_vec *sums)
{
    ulb_dot_low_and_whole(w, x, ulb_mask_0f, &sums[0], &sums[1]);
}

/* The whole byte's sum without the low nibbles' is 16 S1: two numbers that both hold ULB_MAGIC are
 * subtracted.
 */
static inline ulb_vec ulb_start_nibbles(size_t i, ulb_vec magic, const struct ulb_zero_sum *zero)
{
    return i == 1 ? ulb_sub32(magic, ulb_shl32(zero->all, 4)) : magic;
}

static inline void ulb_floats_nibbles(const ulb_vec *sums, const struct ulb_zero_sum *zero,
                                      const struct ulb_sum_scale *scale, ulb_floats *values)
{
    values[0] = ulb_value(sums[0], zero, scale);
    values[1] = ulb_times(ulb_sub(ulb_as_floats(sums[1]), ulb_as_floats(sums[0])), scale);
}

static inline unsigned ulb_shift_nibbles(size_t v)
{
    return v % 2 ? 4 : 0;
}

static inline void ulb_step_crumbs(const uint8_t *w, ulb_vec x, ulb_vec *sums)
{
    ulb_dot_three_and_whole(w, x, ulb_mask_03, &ulb_mask_0c, &ulb_mask_30, sums);
}

/* Sums 0 to 2 are taken off sum 3, and with them three times ULB_MAGIC, modulo 2^32. */
static inline ulb_vec ulb_start_crumbs(size_t i, ulb_vec magic, const struct ulb_zero_sum *zero)
{
    (void)magic;
    (void)zero;
    return ulb_all32((int32_t)((i == 3 ? 3u : 1u) * ULB_MAGIC));
}

/* 64 * 3 * 128 * 256 of the last is beyond 2^22. */
static inline void ulb_floats_crumbs(const ulb_vec *sums, const struct ulb_zero_sum *zero,
                                     const struct ulb_sum_scale *scale, ulb_floats *values)
{
    (void)scale;
    ulb_vec rest = ulb_sub32(ulb_sub32(sums[3], sums[2]), ulb_add32(sums[0], sums[1]));
#pragma GCC unroll 3
    for (size_t v = 0; v < 3; v++)
        values[v] = ulb_less(sums[v], ulb_add32(ulb_all32(ULB_MAGIC), ulb_shl32(zero->all, 2 * (unsigned)v)));
    values[3] = ulb_to_floats(ulb_sub32(rest, ulb_shl32(zero->all, 6)));
}

static inline unsigned ulb_shift_crumbs(size_t v)
{
    return 2 * (unsigned)v;
}

/* The zero point's sum times factor f of the codes, with ULB_MAGIC. */
static inline ulb_vec ulb_scaled_zero(const struct ulb_zero_sum *zero, size_t f)
{
    return ulb_all32(zero->scaled[f * ULB_SHORT_GROUPS]);
}

/* Sums of A: codes 0, 1 (8 times), byte; of B: 2, 3, byte; of C: 4, 5, bit 6, byte. */
static inline void ulb_step_thirds(const uint8_t *w, ulb_vec x, ulb_vec *sums)
{
    ulb_dot_two_and_whole(w, x, ulb_mask_07, &ulb_mask_38, &sums[0], &sums[1], &sums[2]);
    ulb_dot_two_and_whole(w + ULB_VEC_BYTES, x, ulb_mask_07, &ulb_mask_38, &sums[3], &sums[4], &sums[5]);
    ulb_dot_three_and_whole(w + 2 * ULB_VEC_BYTES, x, ulb_mask_07, &ulb_mask_38, &ulb_mask_40, &sums[6]);
}

/* Codes 0 to 5 have one ULB_MAGIC; of A and B the byte ends with the low bits of codes 6 and 7, 64 times, and
 * one; of C with bit 7 and none. */
static inline ulb_vec ulb_start_thirds(size_t i, ulb_vec magic, const struct ulb_zero_sum *zero)
{
    (void)magic;
    (void)zero;
    return ulb_all32((int32_t)((i == 2 || i == 5 ? 3u : i == 8 ? 0u : i == 9 ? 2u : 1u) * ULB_MAGIC));
}

static inline void ulb_floats_thirds(const ulb_vec *sums, const struct ulb_zero_sum *zero,
                                     const struct ulb_sum_scale *scale, ulb_floats *values)
{
    (void)scale;
    ulb_vec middle = ulb_scaled_zero(zero, 1), high = ulb_scaled_zero(zero, 2);
#pragma GCC unroll 3
    for (size_t v = 0; v < 3; v++) {
        values[2 * v] = ulb_less(sums[3 * v], zero->magic);
        values[2 * v + 1] = ulb_less(sums[3 * v + 1], middle);
    }
    /* 64 (low + 4 high): bit 6 of C is there 64 times, bit 7 128 times. */
    ulb_vec low6 = ulb_sub32(sums[2], ulb_add32(sums[0], sums[1]));
    ulb_vec low7 = ulb_sub32(sums[5], ulb_add32(sums[3], sums[4]));
    ulb_vec high7 = ulb_sub32(sums[9], ulb_add32(ulb_add32(sums[6], sums[7]), sums[8]));
    values[6] = ulb_less(ulb_add32(low6, ulb_shl32(sums[8], 2)), high);
    values[7] = ulb_less(ulb_add32(low7, ulb_shl32(high7, 1)), high);
}

static inline unsigned ulb_shift_thirds(size_t v)
{
    return v >= 6 ? 6 : v % 2 ? 3 : 0;
}

/* Sums 0 to 4: codes of bytes A to E; 5 to 9: these bytes; 10 and 11: 60h of B, 20h of D. */
static inline void ulb_step_fives(const uint8_t *w, ulb_vec x, ulb_vec *sums)
{
    ulb_dot_low_and_whole(w, x, ulb_mask_1f, &sums[0], &sums[5]);
    ulb_dot_two_and_whole(w + ULB_VEC_BYTES, x, ulb_mask_1f, &ulb_mask_60, &sums[1], &sums[10], &sums[6]);
    ulb_dot_low_and_whole(w + 2 * ULB_VEC_BYTES, x, ulb_mask_1f, &sums[2], &sums[7]);
    ulb_dot_two_and_whole(w + 3 * ULB_VEC_BYTES, x, ulb_mask_1f, &ulb_mask_20, &sums[3], &sums[11], &sums[8]);
    ulb_dot_low_and_whole(w + 4 * ULB_VEC_BYTES, x, ulb_mask_1f, &sums[4], &sums[9]);
}

static inline ulb_vec ulb_start_fives(size_t i, ulb_vec magic, const struct ulb_zero_sum *zero)
{
    (void)zero;
    return i < 10 ? magic : ulb_zero();
}

/* low + 8 high */
static inline ulb_vec ulb_join_8(ulb_vec low, ulb_vec high)
{
    return ulb_add32(low, ulb_shl32(high, 3));
}

/* What three bytes hold of codes 5 to 7 is 32, 128 and 64 times too large: too much for ULB_MAGIC. */
static inline void ulb_floats_fives(const ulb_vec *sums, const struct ulb_zero_sum *zero,
                                    const struct ulb_sum_scale *scale, ulb_floats *values)
{
    ulb_plain_floats(sums, 5, zero, scale, values);
    ulb_vec code5 = ulb_join_8(ulb_sub32(sums[5], sums[0]), sums[10]);
    ulb_vec code6 = ulb_join_8(ulb_sub32(ulb_sub32(sums[6], sums[1]), sums[10]),
                               ulb_join_8(ulb_sub32(sums[7], sums[2]), sums[11]));
    ulb_vec code7 = ulb_join_8(ulb_sub32(ulb_sub32(sums[8], sums[3]), sums[11]), ulb_sub32(sums[9], sums[4]));
    values[5] = ulb_times(ulb_to_floats(ulb_sub32(ulb_asr32(code5, 5), zero->all)), scale);
    values[6] = ulb_times(ulb_to_floats(ulb_sub32(ulb_asr32(code6, 7), zero->all)), scale);
    values[7] = ulb_times(ulb_to_floats(ulb_sub32(ulb_asr32(code7, 6), zero->all)), scale);
}

/* Sums 0 to 2: codes of bytes A to C; 3 to 5: these bytes. */
static inline void ulb_step_sixes(const uint8_t *w, ulb_vec x, ulb_vec *sums)
{
#pragma GCC unroll 3
    for (int i = 0; i < 3; i++)
        ulb_dot_low_and_whole(w + i * ULB_VEC_BYTES, x, ulb_mask_3f, &sums[i], &sums[3 + i]);
}

/* The whole byte A's starts without code 3's zero point: at most 64 * 32 * 128 * 16 = 2^22 of either sign. */
static inline ulb_vec ulb_start_sixes(size_t i, ulb_vec magic, const struct ulb_zero_sum *zero)
{
    return i == 3 ? ulb_scaled_zero(zero, 1) : magic;
}

/* 64 S3 = (A - D0) + 4 (B - D1) + 16 (C - D2), each a number below 2^23 and the sum, at most 64 * 63 * 128 *
 * 16, below 2^24: exact. */
static inline void ulb_floats_sixes(const ulb_vec *sums, const struct ulb_zero_sum *zero,
                                    const struct ulb_sum_scale *scale, ulb_floats *values)
{
    (void)scale;
    ulb_floats top[3];
#pragma GCC unroll 3
    for (int i = 0; i < 3; i++) {
        values[i] = ulb_less(sums[i], zero->magic);
        top[i] = ulb_sub(ulb_as_floats(sums[3 + i]), ulb_as_floats(sums[i]));
    }
    values[3] = ulb_fma(ulb_fma(top[2], ulb_all_floats(4), top[1]), ulb_all_floats(4), top[0]);
}

static inline unsigned ulb_shift_sixes(size_t v)
{
    return v == 3 ? 6 : 0;
}

static const struct ulb_codes ulb_whole_codes = {.bytes = 1,
                                                 .rows = 1,
                                                 .sums = 1,
                                                 .step = ulb_step_whole,
                                                 .operand = ulb_operand_whole,
                                                 .start = ulb_start_magic,
                                                 .floats = ulb_floats_1,
                                                 .shift = ulb_no_shift};
static const struct ulb_codes ulb_nibble_codes = {.bytes = 1,
                                                  .rows = 2,
                                                  .sums = 2,
                                                  .step = ulb_step_nibbles,
                                                  .operand = ulb_operand_nibbles,
                                                  .start = ulb_start_nibbles,
                                                  .floats = ulb_floats_nibbles,
                                                  .shift = ulb_shift_nibbles};
static const struct ulb_codes ulb_crumb_codes = {.bytes = 1,
                                                 .rows = 4,
                                                 .sums = 4,
                                                 .step = ulb_step_crumbs,
                                                 .operand = ulb_operand_crumbs,
                                                 .start = ulb_start_crumbs,
                                                 .floats = ulb_floats_crumbs,
                                                 .shift = ulb_shift_crumbs};
static const struct ulb_codes ulb_third_codes = {.bytes = 3,
                                                 .rows = 8,
                                                 .sums = 10,
                                                 .step = ulb_step_thirds,
                                                 .operand = ulb_operand_thirds,
                                                 .start = ulb_start_thirds,
                                                 .floats = ulb_floats_thirds,
                                                 .shift = ulb_shift_thirds,
                                                 .factors = {1, 8, 64}};
static const struct ulb_codes ulb_five_codes = {.bytes = 5,
                                                .rows = 8,
                                                .sums = 12,
                                                .step = ulb_step_fives,
                                                .operand = ulb_operand_fives,
                                                .start = ulb_start_fives,
                                                .floats = ulb_floats_fives,
                                                .shift = ulb_no_shift};
static const struct ulb_codes ulb_six_codes = {.bytes = 3,
                                               .rows = 4,
                                               .sums = 6,
                                               .step = ulb_step_sixes,
                                               .operand = ulb_operand_sixes,
                                               .start = ulb_start_sixes,
                                               .floats = ulb_floats_sixes,
                                               .shift = ulb_shift_sixes,
                                               .factors = {1, -64}};

#endif

/* Instructions of one step of one set by kind, then those at the end of a group: ULB_CODES_MIX() has them.
 * Masks: uses of those that are in memory. */
#if ULB_WORD_SUMS
/*                              bytes rows masks logic shifts adds dots word_steps | adds float_adds fmas
 * shifts conversions, codes that have a sum of their own */
#define ULB_WHOLE_COUNTS(use)  use(1, 1, 0, 0, 0, 3, 1, 1, 0, 1, 0, 0, 0, 1)
#define ULB_NIBBLE_COUNTS(use) use(1, 2, 0, 2, 1, 2, 2, 8, 0, 2, 0, 0, 0, 2)
#define ULB_CRUMB_COUNTS(use)  use(1, 4, 0, 4, 1, 4, 4, 8, 0, 4, 0, 0, 0, 4)
#define ULB_THIRD_COUNTS(use)  use(3, 8, 4, 12, 7, 8, 8, 16, 0, 8, 0, 0, 0, 8)
#define ULB_FIVE_COUNTS(use)   use(5, 8, 7, 16, 7, 8, 8, 4, 0, 8, 0, 0, 0, 8)
#define ULB_SIX_COUNTS(use)    use(3, 4, 3, 8, 3, 4, 4, 2, 0, 4, 0, 0, 0, 4)
#else
#define ULB_WHOLE_COUNTS(use)  use(1, 1, 0, 0, 0, 0, 1, 0, 0, 1, 0, 0, 0, 1)
#define ULB_NIBBLE_COUNTS(use) use(1, 2, 0, 1, 0, 0, 2, 0, 0, 2, 0, 0, 0, 1)
#define ULB_CRUMB_COUNTS(use)  use(1, 4, ULB_MASK_LOADS(2), 3, 0, 0, 4, 0, 3, 3, 0, 0, 1, 3)
#define ULB_THIRD_COUNTS(use)  use(3, 8, ULB_MASK_LOADS(4), 7, 0, 0, 10, 0, 9, 8, 0, 2, 0, 8)
/* Of the additions 4 are the zero point's, and fold away where it is 0. */
#define ULB_FIVE_COUNTS(use)                                                                                 \
    use(5, 8, ULB_MASK_LOADS(2), 7, 0, 0, 12, 0, (ZERO_POINT) ? 15 : 11, 5, 0, 7, 3, 5)
#define ULB_SIX_COUNTS(use) use(3, 4, 0, 3, 0, 0, 6, 0, 0, 6, 2, 0, 0, 3)
#endif

#endif
