/* Single precision at the width of ulb_vec, and what scales are stored as. */
#ifndef ULB_KERNELS_X86_SIMD_VEC_FLOAT_H
#define ULB_KERNELS_X86_SIMD_VEC_FLOAT_H

#include "kernels/x86/simd/vec.h"

/* A float, or two bfloat16. */
typedef float __attribute__((may_alias)) ulb_any_float;

#ifdef ULB_DP_512

static inline ulb_floats ulb_to_floats(ulb_vec ints)
{
    return _mm512_cvtepi32_ps(ints);
}

static inline ulb_floats ulb_as_floats(ulb_vec bits)
{
    return _mm512_castsi512_ps(bits);
}

static inline ulb_floats ulb_sub(ulb_floats a, ulb_floats b)
{
    return _mm512_sub_ps(a, b);
}

static inline ulb_floats ulb_all_floats(float value)
{
    return _mm512_set1_ps(value);
}

static inline ulb_floats ulb_load_to_all(const float *p)
{
    return _mm512_set1_ps(*(const ulb_any_float *)p);
}

static inline ulb_floats ulb_mul(ulb_floats a, ulb_floats b)
{
    return _mm512_mul_ps(a, b);
}

/* a * b + c */
static inline ulb_floats ulb_fma(ulb_floats a, ulb_floats b, ulb_floats c)
{
    return _mm512_fmadd_ps(a, b, c);
}

/* c - a * b */
static inline ulb_floats ulb_fnma(ulb_floats a, ulb_floats b, ulb_floats c)
{
    return _mm512_fnmadd_ps(a, b, c);
}

static inline ulb_floats ulb_load_floats(const void *p)
{
    return _mm512_loadu_ps(p);
}

/* A byte from memory for each lane. */
static inline ulb_vec ulb_load_unsigned_bytes(const void *p)
{
    return _mm512_cvtepu8_epi32(_mm_loadu_si128((const __m128i *)p));
}

static inline ulb_vec ulb_load_signed_bytes(const void *p)
{
    return _mm512_cvtepi8_epi32(_mm_loadu_si128((const __m128i *)p));
}

#else

static inline ulb_floats ulb_to_floats(ulb_vec ints)
{
    return _mm256_cvtepi32_ps(ints);
}

static inline ulb_floats ulb_as_floats(ulb_vec bits)
{
    return _mm256_castsi256_ps(bits);
}

static inline ulb_floats ulb_sub(ulb_floats a, ulb_floats b)
{
    return _mm256_sub_ps(a, b);
}

static inline ulb_floats ulb_all_floats(float value)
{
    return _mm256_set1_ps(value);
}

static inline ulb_floats ulb_load_to_all(const float *p)
{
    return _mm256_broadcast_ss((const ulb_any_float *)p);
}

static inline ulb_floats ulb_mul(ulb_floats a, ulb_floats b)
{
    return _mm256_mul_ps(a, b);
}

/* a * b + c */
static inline ulb_floats ulb_fma(ulb_floats a, ulb_floats b, ulb_floats c)
{
    return _mm256_fmadd_ps(a, b, c);
}

/* c - a * b */
static inline ulb_floats ulb_fnma(ulb_floats a, ulb_floats b, ulb_floats c)
{
    return _mm256_fnmadd_ps(a, b, c);
}

static inline ulb_floats ulb_load_floats(const void *p)
{
    return _mm256_loadu_ps(p);
}

/* A byte from memory for each lane. */
static inline ulb_vec ulb_load_unsigned_bytes(const void *p)
{
    return _mm256_cvtepu8_epi32(_mm_loadl_epi64((const __m128i *)p));
}

static inline ulb_vec ulb_load_signed_bytes(const void *p)
{
    return _mm256_cvtepi8_epi32(_mm_loadl_epi64((const __m128i *)p));
}

#endif

/* *sum += value * one; of bfloat16 both products of pairs. Assembler statements, because Clang moves sums
 * from register to register, and one of them to memory. */
static inline __attribute__((always_inline)) void ulb_add_product(ulb_floats *sum, ulb_floats value,
                                                                  ulb_floats one)
{
    __asm__("vfmadd231ps %[one], %[value], %[sum]" : [sum] "+v"(*sum) : [value] "v"(value), [one] "v"(one));
}

static inline __attribute__((always_inline)) void ulb_add_pair(ulb_floats *sum, ulb_floats value,
                                                               ulb_floats one)
{
    __asm__("vdpbf16ps %[one], %[value], %[sum]" : [sum] "+v"(*sum) : [value] "v"(value), [one] "v"(one));
}

/* Half precision from memory. It uses the assembler: Clang 14 may load the halves singly into general
 * registers and join them again. */
static inline ulb_floats ulb_load_halves(const void *p)
{
    ulb_floats values;
    __asm__("vcvtph2ps %1, %0" : "=v"(values) : "m"(*(const uint16_t(*)[ULB_LANES])p));
    return values;
}

/* 1.5 * 2^23. Its bits plus an integer n, |n| <= 2^22, are the number 1.5 * 2^23 + n. A sum of integers that
 * starts with ULB_MAGIC is therefore converted by a subtraction. */
#define ULB_MAGIC       0x4B400000
#define ULB_MAGIC_VALUE 12582912

/* Twice d, stored as an exponent byte e, ulb_exponent_scale(): 2^(e - 127). e = 0 has no normal pattern and
 * needs a smaller one. e = 255 would be infinite. The largest number, smaller by 2^-24 of it, takes its
 * place. */
static inline ulb_floats ulb_load_powers(const void *p)
{
    ulb_vec pattern = ulb_max32(ulb_shl32(ulb_load_unsigned_bytes(p), 23), ulb_all32(1 << 22));
    return ulb_as_floats(ulb_min32(pattern, ulb_all32(0x7F7FFFFF)));
}

#endif
