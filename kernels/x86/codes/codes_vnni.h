/* Codes for dot products; a part of kernels/x86/codes/codes.h. */
#ifndef ULB_KERNELS_X86_CODES_CODES_VNNI_H
#define ULB_KERNELS_X86_CODES_CODES_VNNI_H

static const ulb_vec ulb_mask_03 = ULB_BYTES(0x03), ulb_mask_07 = ULB_BYTES(0x07),
                     ulb_mask_0c = ULB_BYTES(0x0C), ulb_mask_0f = ULB_BYTES(0x0F),
                     ulb_mask_1f = ULB_BYTES(0x1F), ulb_mask_20 = ULB_BYTES(0x20),
                     ulb_mask_30 = ULB_BYTES(0x30), ulb_mask_38 = ULB_BYTES(0x38),
                     ulb_mask_3f = ULB_BYTES(0x3F), ulb_mask_40 = ULB_BYTES(0x40),
                     ulb_mask_60 = ULB_BYTES(0x60);

/* struct ulb_codes' operand of each code below: what its step multiplies, in the order of its sums. */
static inline __attribute__((always_inline)) ulb_vec ulb_operand_whole(const ulb_vec *packed, size_t i)
{
    return packed[i];
}

static inline __attribute__((always_inline)) ulb_vec ulb_operand_nibbles(const ulb_vec *packed, size_t i)
{
    return i == 0 ? ulb_and(packed[0], ulb_mask_0f) : packed[0];
}

static inline __attribute__((always_inline)) ulb_vec ulb_operand_two_bit(const ulb_vec *packed, size_t i)
{
    return i < 3 ? ulb_and(packed[0], ulb_all8(3 << 2 * i)) : packed[0];
}

static inline __attribute__((always_inline)) ulb_vec ulb_operand_five_bit(const ulb_vec *packed, size_t i)
{
    if (i >= 10)
        return i == 10 ? ulb_and(packed[1], ulb_mask_60) : ulb_and(packed[3], ulb_mask_20);
    return i < 5 ? ulb_and(packed[i], ulb_mask_1f) : packed[i - 5];
}

static inline __attribute__((always_inline)) ulb_vec ulb_operand_six_bit(const ulb_vec *packed, size_t i)
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

/* As ulb_dot_low_and_whole(), with a second mask. */
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

static inline __attribute__((always_inline)) unsigned ulb_shift_nibbles(size_t v)
{
    return v % 2 ? 4 : 0;
}

static inline void ulb_step_two_bit(const uint8_t *w, ulb_vec x, ulb_vec *sums)
{
    ulb_dot_three_and_whole(w, x, ulb_mask_03, &ulb_mask_0c, &ulb_mask_30, sums);
}

/* Sum 3 minus sums 0 to 2 also loses three times ULB_MAGIC, modulo 2^32. */
static inline ulb_vec ulb_start_two_bit(size_t i, ulb_vec magic, const struct ulb_zero_sum *zero)
{
    (void)magic;
    (void)zero;
    return ulb_all32((int32_t)((i == 3 ? 3u : 1u) * ULB_MAGIC));
}

/* The last sum, up to 64 * 3 * 128 * 256, exceeds 2^22. */
static inline void ulb_floats_two_bit(const ulb_vec *sums, const struct ulb_zero_sum *zero,
                                      const struct ulb_sum_scale *scale, ulb_floats *values)
{
    (void)scale;
    ulb_vec rest = ulb_sub32(ulb_sub32(sums[3], sums[2]), ulb_add32(sums[0], sums[1]));
#pragma GCC unroll 3
    for (size_t v = 0; v < 3; v++)
        values[v] = ulb_less(sums[v], ulb_add32(ulb_all32(ULB_MAGIC), ulb_shl32(zero->all, 2 * (unsigned)v)));
    values[3] = ulb_to_floats(ulb_sub32(rest, ulb_shl32(zero->all, 6)));
}

static inline __attribute__((always_inline)) unsigned ulb_shift_two_bit(size_t v)
{
    return 2 * (unsigned)v;
}

/* The zero point's sum times factor f of the codes, with ULB_MAGIC. */
static inline ulb_vec ulb_scaled_zero(const struct ulb_zero_sum *zero, size_t f)
{
    return ulb_all32(zero->scaled[f * ULB_SHORT_GROUPS]);
}

/* Sums of A: codes 0, 1 (8 times), byte. Of B: codes 2, 3, byte. Of C: codes 4, 5, bit 6, byte. */
static inline void ulb_step_three_bit(const uint8_t *w, ulb_vec x, ulb_vec *sums)
{
    ulb_dot_two_and_whole(w, x, ulb_mask_07, &ulb_mask_38, &sums[0], &sums[1], &sums[2]);
    ulb_dot_two_and_whole(w + ULB_VEC_BYTES, x, ulb_mask_07, &ulb_mask_38, &sums[3], &sums[4], &sums[5]);
    ulb_dot_three_and_whole(w + 2 * ULB_VEC_BYTES, x, ulb_mask_07, &ulb_mask_38, &ulb_mask_40, &sums[6]);
}

/* Sums of codes 0 to 5 start with one ULB_MAGIC. The bytes A and B start with one too: they end with the low
 * bits of codes 6 and 7, 64 times. The byte C ends with bit 7 and starts without. */
static inline ulb_vec ulb_start_three_bit(size_t i, ulb_vec magic, const struct ulb_zero_sum *zero)
{
    (void)magic;
    (void)zero;
    return ulb_all32((int32_t)((i == 2 || i == 5 ? 3u : i == 8 ? 0u : i == 9 ? 2u : 1u) * ULB_MAGIC));
}

static inline void ulb_floats_three_bit(const ulb_vec *sums, const struct ulb_zero_sum *zero,
                                        const struct ulb_sum_scale *scale, ulb_floats *values)
{
    (void)scale;
    ulb_vec middle = ulb_scaled_zero(zero, 1), high = ulb_scaled_zero(zero, 2);
#pragma GCC unroll 3
    for (size_t v = 0; v < 3; v++) {
        values[2 * v] = ulb_less(sums[3 * v], zero->magic);
        values[2 * v + 1] = ulb_less(sums[3 * v + 1], middle);
    }
    /* 64 * (low + 4 high): bit 6 of C counts 64 times, bit 7 128 times. */
    ulb_vec low6 = ulb_sub32(sums[2], ulb_add32(sums[0], sums[1]));
    ulb_vec low7 = ulb_sub32(sums[5], ulb_add32(sums[3], sums[4]));
    ulb_vec high7 = ulb_sub32(sums[9], ulb_add32(ulb_add32(sums[6], sums[7]), sums[8]));
    values[6] = ulb_less(ulb_add32(low6, ulb_shl32(sums[8], 2)), high);
    values[7] = ulb_less(ulb_add32(low7, ulb_shl32(high7, 1)), high);
}

static inline __attribute__((always_inline)) unsigned ulb_shift_three_bit(size_t v)
{
    return v >= 6 ? 6 : v % 2 ? 3 : 0;
}

/* Sums 0 to 4: codes of bytes A to E. Sums 5 to 9: these bytes. Sums 10 and 11: 60h of B, 20h of D. */
static inline void ulb_step_five_bit(const uint8_t *w, ulb_vec x, ulb_vec *sums)
{
    ulb_dot_low_and_whole(w, x, ulb_mask_1f, &sums[0], &sums[5]);
    ulb_dot_two_and_whole(w + ULB_VEC_BYTES, x, ulb_mask_1f, &ulb_mask_60, &sums[1], &sums[10], &sums[6]);
    ulb_dot_low_and_whole(w + 2 * ULB_VEC_BYTES, x, ulb_mask_1f, &sums[2], &sums[7]);
    ulb_dot_two_and_whole(w + 3 * ULB_VEC_BYTES, x, ulb_mask_1f, &ulb_mask_20, &sums[3], &sums[11], &sums[8]);
    ulb_dot_low_and_whole(w + 4 * ULB_VEC_BYTES, x, ulb_mask_1f, &sums[4], &sums[9]);
}

static inline ulb_vec ulb_start_five_bit(size_t i, ulb_vec magic, const struct ulb_zero_sum *zero)
{
    (void)zero;
    return i < 10 ? magic : ulb_zero();
}

/* low + 8 high */
static inline ulb_vec ulb_join_8(ulb_vec low, ulb_vec high)
{
    return ulb_add32(low, ulb_shl32(high, 3));
}

/* The parts of codes 5 to 7 in three bytes are 32, 128 and 64 times too large: too much for ULB_MAGIC. */
static inline void ulb_floats_five_bit(const ulb_vec *sums, const struct ulb_zero_sum *zero,
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

/* Sums 0 to 2: codes of bytes A to C. Sums 3 to 5: these bytes. */
static inline void ulb_step_six_bit(const uint8_t *w, ulb_vec x, ulb_vec *sums)
{
#pragma GCC unroll 3
    for (int i = 0; i < 3; i++)
        ulb_dot_low_and_whole(w + i * ULB_VEC_BYTES, x, ulb_mask_3f, &sums[i], &sums[3 + i]);
}

/* The sum of byte A starts without the zero point of code 3: at most 64 * 32 * 128 * 16 = 2^22 of either
 * sign. */
static inline ulb_vec ulb_start_six_bit(size_t i, ulb_vec magic, const struct ulb_zero_sum *zero)
{
    return i == 3 ? ulb_scaled_zero(zero, 1) : magic;
}

/* 64 S3 = (A - D0) + 4 (B - D1) + 16 (C - D2). Each term is below 2^23, and the sum below 2^24: exact.
 * `|64 S3| <= 64 * 63 * 128 * 16 < 2^24`. */
static inline void ulb_floats_six_bit(const ulb_vec *sums, const struct ulb_zero_sum *zero,
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

static inline __attribute__((always_inline)) unsigned ulb_shift_six_bit(size_t v)
{
    return v == 3 ? 6 : 0;
}

static const struct ulb_codes ulb_whole_codes = {.bytes = 1,
                                                 .rows = 1,
                                                 .sums = 1,
                                                 .step = ulb_step_whole,
                                                 .operand = ulb_operand_whole,
                                                 .byte = ulb_operand_whole,
                                                 .start = ulb_start_magic,
                                                 .floats = ulb_floats_1,
                                                 .shift = ulb_no_shift};
static const struct ulb_codes ulb_nibble_codes = {.bytes = 1,
                                                  .rows = 2,
                                                  .sums = 2,
                                                  .step = ulb_step_nibbles,
                                                  .operand = ulb_operand_nibbles,
                                                  .byte = ulb_byte_of_nibbles,
                                                  .start = ulb_start_nibbles,
                                                  .floats = ulb_floats_nibbles,
                                                  .shift = ulb_shift_nibbles};
static const struct ulb_codes ulb_two_bit_codes = {.bytes = 1,
                                                   .rows = 4,
                                                   .sums = 4,
                                                   .step = ulb_step_two_bit,
                                                   .byte = ulb_byte_of_two_bit,
                                                   .operand = ulb_operand_two_bit,
                                                   .start = ulb_start_two_bit,
                                                   .floats = ulb_floats_two_bit,
                                                   .shift = ulb_shift_two_bit};
static const struct ulb_codes ulb_three_bit_codes = {.bytes = 3,
                                                     .rows = 8,
                                                     .sums = 10,
                                                     .step = ulb_step_three_bit,
                                                     .byte = ulb_byte_of_three_bit,
                                                     .start = ulb_start_three_bit,
                                                     .floats = ulb_floats_three_bit,
                                                     .shift = ulb_shift_three_bit,
                                                     .factors = {1, 8, 64}};
static const struct ulb_codes ulb_five_bit_codes = {.bytes = 5,
                                                    .rows = 8,
                                                    .sums = 12,
                                                    .step = ulb_step_five_bit,
                                                    .operand = ulb_operand_five_bit,
                                                    .byte = ulb_byte_of_five_bit,
                                                    .start = ulb_start_five_bit,
                                                    .floats = ulb_floats_five_bit,
                                                    .shift = ulb_no_shift};
static const struct ulb_codes ulb_six_bit_codes = {.bytes = 3,
                                                   .rows = 4,
                                                   .sums = 6,
                                                   .step = ulb_step_six_bit,
                                                   .operand = ulb_operand_six_bit,
                                                   .byte = ulb_byte_of_six_bit,
                                                   .start = ulb_start_six_bit,
                                                   .floats = ulb_floats_six_bit,
                                                   .shift = ulb_shift_six_bit,
                                                   .factors = {1, -64}};

#define ULB_WHOLE_COUNTS(use)     use(1, 1, 0, 0, 0, 0, 1, 0, 0, 1, 0, 0, 0, 1)
#define ULB_NIBBLE_COUNTS(use)    use(1, 2, 0, 1, 0, 0, 2, 0, 0, 2, 0, 0, 0, 1)
#define ULB_TWO_BIT_COUNTS(use)   use(1, 4, ULB_MASK_LOADS(2), 3, 0, 0, 4, 0, 3, 3, 0, 0, 1, 3)
#define ULB_THREE_BIT_COUNTS(use) use(3, 8, ULB_MASK_LOADS(4), 7, 0, 0, 10, 0, 9, 8, 0, 2, 0, 8)
/* Four additions are for the zero point, and fold away if it is 0. */
#define ULB_FIVE_BIT_COUNTS(use)                                                                             \
    use(5, 8, ULB_MASK_LOADS(2), 7, 0, 0, 12, 0, (ZERO_POINT) ? 15 : 11, 5, 0, 7, 3, 5)
#define ULB_SIX_BIT_COUNTS(use) use(3, 4, 0, 3, 0, 0, 6, 0, 0, 6, 2, 0, 0, 3)

#endif
