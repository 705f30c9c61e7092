/* Codes for 16-bit sums; a part of kernels/x86/codes/codes.h. */
#ifndef ULB_KERNELS_X86_CODES_CODES_AVX2_H
#define ULB_KERNELS_X86_CODES_CODES_AVX2_H

ULB_PLAIN_FLOATS(ulb_floats_4, 4)
ULB_PLAIN_FLOATS(ulb_floats_8, 8)

static inline void ulb_step_nibbles(const uint8_t *w, ulb_vec x, ulb_vec *sums)
{
    ulb_dot_nibbles(sums, w, x);
}

static inline void ulb_step_two_bit(const uint8_t *w, ulb_vec x, ulb_vec *sums)
{
    ulb_dot_two_bit(sums, w, x);
}

static inline __attribute__((always_inline)) unsigned ulb_shift_two_bit(size_t v)
{
    return v % 2 ? 2 : 0;
}

static inline void ulb_floats_two_bit(const ulb_vec *sums, const struct ulb_zero_sum *zero,
                                      const struct ulb_sum_scale *scale, ulb_floats *values)
{
    (void)scale;
#pragma GCC unroll 4
    for (size_t v = 0; v < 4; v++)
        values[v] =
            ulb_less(sums[v], ulb_add32(ulb_all32(ULB_MAGIC), ulb_shl32(zero->all, ulb_shift_two_bit(v))));
}

/* into = the bits of from, so far to the right, in mask; or, into |= these bits. */
#define ULB_ASM_BITS(from, right, mask, into)                                                                \
    "vpsrlw $" right ", %[" from "], %[" into "]\n\tvpand %[" mask "], %[" into "], %[" into "]\n\t"
#define ULB_ASM_JOIN(from, right, mask, into)                                                                \
    ULB_ASM_BITS(from, right, mask, "field") "vpor %[field], %[" into "], %[" into "]\n\t"

/* Bytes A, B, C hold codes 0 and 1, 2 and 3, 4 and 5. The low bits of codes 6 and 7 end A and B; their high
 * bits end C. */
static inline void ulb_step_three_bit(const uint8_t *w, ulb_vec x, ulb_vec *sums)
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

/* Bytes A to E hold codes 0 to 4, then the bits of codes 5 to 7. Three statements, because one has at most 30
 * operands. */
static inline void ulb_step_five_bit(const uint8_t *w, ulb_vec x, ulb_vec *sums)
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

/* Bytes A to C hold codes 0 to 2, and two bits each of code 3. */
static inline void ulb_step_six_bit(const uint8_t *w, ulb_vec x, ulb_vec *sums)
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

/* sum += x . w of signed bytes, w >= -127. size: |x|, the unsigned operand. 16 bits hold one pair of
 * products, but not two.
 * `|pair| <= 2 * 128 * 127`. */
static inline void ulb_dot_signed(ulb_vec *sum, ulb_vec x, ulb_vec size, ulb_vec w)
{
    __asm__("vpsignb %[x], %[w], %[w]\n\tvpmaddubsw %[w], %[size], %[w]\n\t"
            "vpmaddwd %[ones], %[w], %[w]\n\tvpaddd %[w], %[sum], %[sum]"
            : [sum] "+x"(*sum), [w] "+x"(w)
            : [x] "x"(x), [size] "x"(size), [ones] "x"(_mm256_set1_epi16(1)));
}

/* Bytes are values. As ulb_dot_signed(), but with |w|; the load stays next to its use. */
static inline void ulb_step_whole(const uint8_t *w, ulb_vec x, ulb_vec *sums)
{
    ulb_vec packed, field;
    __asm__("vmovdqu %[w], %[packed]\n\tvpsignb %[packed], %[x], %[field]\n\t"
            "vpabsb %[packed], %[packed]\n\tvpmaddubsw %[field], %[packed], %[packed]\n\t"
            "vpmaddwd %[ones], %[packed], %[packed]\n\tvpaddd %[packed], %[s0], %[s0]"
            : [s0] ULB_SUM(sums[0]), [packed] ULB_SCRATCH(packed), [field] ULB_SCRATCH(field)
            : [w] ULB_WEIGHTS(w), [x] "x"(x), [ones] "x"(_mm256_set1_epi16(1)));
}

/* struct ulb_codes' operand of each code below: its codes, as its step multiplies them. */
static inline __attribute__((always_inline)) ulb_vec ulb_operand_nibbles(const ulb_vec *packed, size_t i)
{
    return ulb_and(i ? ulb_shr16(packed[0], 4) : packed[0], ulb_all8(15));
}

static inline __attribute__((always_inline)) ulb_vec ulb_operand_two_bit(const ulb_vec *packed, size_t i)
{
    return ulb_and(i < 2 ? packed[0] : ulb_shr16(packed[0], 4), ulb_all8(i % 2 ? 12 : 3));
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
                                                  .s16_steps = ULB_S16_STEPS(15),
                                                  .step = ulb_step_nibbles,
                                                  .operand = ulb_operand_nibbles,
                                                  .start = ulb_start_magic,
                                                  .floats = ulb_floats_2,
                                                  .shift = ulb_no_shift};
static const struct ulb_codes ulb_two_bit_codes = {.bytes = 1,
                                                   .rows = 4,
                                                   .sums = 4,
                                                   .s16_steps = ULB_S16_STEPS(12),
                                                   .step = ulb_step_two_bit,
                                                   .operand = ulb_operand_two_bit,
                                                   .start = ulb_start_magic,
                                                   .floats = ulb_floats_two_bit,
                                                   .shift = ulb_shift_two_bit};
static const struct ulb_codes ulb_three_bit_codes = {.bytes = 3,
                                                     .rows = 8,
                                                     .sums = 8,
                                                     .s16_steps = ULB_S16_STEPS(7),
                                                     .step = ulb_step_three_bit,
                                                     .operand = ulb_byte_of_three_bit,
                                                     .start = ulb_start_magic,
                                                     .floats = ulb_floats_8,
                                                     .shift = ulb_no_shift};
static const struct ulb_codes ulb_five_bit_codes = {.bytes = 5,
                                                    .rows = 8,
                                                    .sums = 8,
                                                    .s16_steps = ULB_S16_STEPS(31),
                                                    .step = ulb_step_five_bit,
                                                    .operand = ulb_byte_of_five_bit,
                                                    .start = ulb_start_magic,
                                                    .floats = ulb_floats_8,
                                                    .shift = ulb_no_shift};
static const struct ulb_codes ulb_six_bit_codes = {.bytes = 3,
                                                   .rows = 4,
                                                   .sums = 4,
                                                   .s16_steps = ULB_S16_STEPS(63),
                                                   .step = ulb_step_six_bit,
                                                   .operand = ulb_byte_of_six_bit,
                                                   .start = ulb_start_magic,
                                                   .floats = ulb_floats_4,
                                                   .shift = ulb_no_shift};

#define ULB_WHOLE_COUNTS(use)     use(1, 1, 0, 0, 0, 3, 1, 1, 0, 1, 0, 0, 0, 1)
#define ULB_NIBBLE_COUNTS(use)    use(1, 2, 0, 2, 1, 2, 2, 8, 0, 2, 0, 0, 0, 2)
#define ULB_TWO_BIT_COUNTS(use)   use(1, 4, 0, 4, 1, 4, 4, 8, 0, 4, 0, 0, 0, 4)
#define ULB_THREE_BIT_COUNTS(use) use(3, 8, 4, 12, 7, 8, 8, 16, 0, 8, 0, 0, 0, 8)
#define ULB_FIVE_BIT_COUNTS(use)  use(5, 8, 7, 16, 7, 8, 8, 4, 0, 8, 0, 0, 0, 8)
#define ULB_SIX_BIT_COUNTS(use)   use(3, 4, 3, 8, 3, 4, 4, 2, 0, 4, 0, 0, 0, 4)

#endif
