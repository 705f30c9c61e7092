/* How each struct ulb_code_bytes (kernels/pack/block_interleave.c) is multiplied. With dot products fields
 * stay in their places in the byte, so that their sums are too large by a power of two (see
 * kernels/formats/int2/mask.h). With AVX2 alone fields are separated first. Every product of a code and an
 * activation fits: codes <= 255, |x| <= 128.
 *
 * Sums of a group that start with ULB_MAGIC are converted by a subtraction. They stay below 2^22. Steps that
 * fill the registers are one assembler statement each: see kernels/x86/simd/dot.h. */
#ifndef ULB_KERNELS_X86_CODES_CODES_H
#define ULB_KERNELS_X86_CODES_CODES_H

#include "kernels/x86/codes/code_ops.h"
#include "kernels/x86/simd/dot.h"

static inline ulb_vec ulb_start_magic(size_t i, ulb_vec magic, const struct ulb_zero_sum *zero)
{
    (void)i;
    (void)zero;
    return magic;
}

static inline __attribute__((always_inline)) unsigned ulb_no_shift(size_t v)
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

/* Multiplies a value that is a float already. */
static inline ulb_floats ulb_times(ulb_floats value, const struct ulb_sum_scale *scale)
{
    return scale ? ulb_mul(value, scale->by) : value;
}

/* Converts n sums, one for each vector. */
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

/* Bits of v in mask, after a shift to the right. Codes whose bits lie in several bytes are joined to bytes
 * with it (struct ulb_codes' byte). With AVX2 alone these bytes are multiplied. */
static inline __attribute__((always_inline)) ulb_vec ulb_bits(ulb_vec v, unsigned right, int mask)
{
    return ulb_and(ulb_shr16(v, right), ulb_all8(mask));
}

static inline __attribute__((always_inline)) ulb_vec ulb_byte_of_nibbles(const ulb_vec *packed, size_t i)
{
    return ulb_bits(packed[0], 4 * (unsigned)i, 15);
}

static inline __attribute__((always_inline)) ulb_vec ulb_byte_of_two_bit(const ulb_vec *packed, size_t i)
{
    return ulb_bits(packed[0], 2 * (unsigned)i, 3);
}

static inline __attribute__((always_inline)) ulb_vec ulb_byte_of_three_bit(const ulb_vec *packed, size_t i)
{
    if (i < 6)
        return ulb_bits(packed[i / 2], i % 2 ? 3 : 0, 7);
    return ulb_or(ulb_bits(packed[i - 6], 6, 3), ulb_bits(packed[2], i == 6 ? 4 : 5, 4));
}

static inline __attribute__((always_inline)) ulb_vec ulb_byte_of_five_bit(const ulb_vec *packed, size_t i)
{
    if (i < 5)
        return ulb_and(packed[i], ulb_all8(31));
    if (i == 5)
        return ulb_or(ulb_bits(packed[0], 5, 0x07), ulb_bits(packed[1], 2, 0x18));
    if (i == 6)
        return ulb_or(ulb_or(ulb_bits(packed[1], 7, 0x01), ulb_bits(packed[2], 4, 0x0E)),
                      ulb_bits(packed[3], 1, 0x10));
    return ulb_or(ulb_bits(packed[3], 6, 0x03), ulb_bits(packed[4], 3, 0x1C));
}

static inline __attribute__((always_inline)) ulb_vec ulb_byte_of_six_bit(const ulb_vec *packed, size_t i)
{
    if (i < 3)
        return ulb_and(packed[i], ulb_all8(63));
    return ulb_or(ulb_or(ulb_bits(packed[0], 6, 0x03), ulb_bits(packed[1], 4, 0x0C)),
                  ulb_bits(packed[2], 2, 0x30));
}

/* ULB_..._COUNTS: instructions by kind, for ULB_CODES_MIX().
 * One step of one set: bytes rows masks logic shifts adds dots s16_steps.
 * The epilogue of a group: adds float_adds fmas shifts conversions.
 * The last count is the codes that have a sum of their own. masks: uses of masks in memory. */
#if ULB_S16_SUMS
#include "kernels/x86/codes/codes_avx2.h"
#else
#include "kernels/x86/codes/codes_vnni.h"
#endif

#endif
