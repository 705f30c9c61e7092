/* One vector type for kernels that are written once for 256 and 512 bits (ULB_DP_512). */
#ifndef ULB_KERNELS_X86_SIMD_VEC_H
#define ULB_KERNELS_X86_SIMD_VEC_H

#include "kernels/microkernel.h"

#include <immintrin.h>
#include <stddef.h>
#include <stdint.h>

#ifdef ULB_DP_512

typedef __m512i ulb_vec;

static inline ulb_vec ulb_load(const void *p)
{
    return _mm512_loadu_si512(p);
}

static inline void ulb_store(void *p, ulb_vec v)
{
    _mm512_storeu_si512(p, v);
}

static inline ulb_vec ulb_zero(void)
{
    return _mm512_setzero_si512();
}

static inline ulb_vec ulb_all8(int value)
{
    return _mm512_set1_epi8((char)value);
}

static inline ulb_vec ulb_all32(int32_t value)
{
    return _mm512_set1_epi32(value);
}

static inline ulb_vec ulb_and(ulb_vec a, ulb_vec b)
{
    return _mm512_and_si512(a, b);
}

static inline ulb_vec ulb_add8(ulb_vec a, ulb_vec b)
{
    return _mm512_add_epi8(a, b);
}

static inline ulb_vec ulb_add32(ulb_vec a, ulb_vec b)
{
    return _mm512_add_epi32(a, b);
}

static inline ulb_vec ulb_sub32(ulb_vec a, ulb_vec b)
{
    return _mm512_sub_epi32(a, b);
}

static inline ulb_vec ulb_asr32(ulb_vec v, unsigned bits)
{
    return _mm512_srai_epi32(v, bits);
}

static inline ulb_vec ulb_shl32(ulb_vec v, unsigned bits)
{
    return _mm512_slli_epi32(v, bits);
}

/* Shifts 16-bit words. It is an operator, because compilers disagree about the type of the intrinsic's
 * count. */
static inline ulb_vec ulb_shr16(ulb_vec v, unsigned bits)
{
    typedef unsigned short words __attribute__((vector_size(64)));
    return (ulb_vec)((words)v >> bits);
}

static inline ulb_vec ulb_or(ulb_vec a, ulb_vec b)
{
    return _mm512_or_si512(a, b);
}

/* Low halves of the products of words. */
static inline ulb_vec ulb_mul16(ulb_vec a, ulb_vec b)
{
    return _mm512_mullo_epi16(a, b);
}

static inline ulb_vec ulb_max32(ulb_vec a, ulb_vec b)
{
    return _mm512_max_epi32(a, b);
}

static inline ulb_vec ulb_min32(ulb_vec a, ulb_vec b)
{
    return _mm512_min_epi32(a, b);
}

/* 16 bytes in every 128-bit lane. */
static inline ulb_vec ulb_all128(const void *p)
{
    return _mm512_broadcast_i32x4(_mm_loadu_si128((const __m128i *)p));
}

/* table[index & 15] for every byte, in each 128-bit lane; 0 if bit 7 of the index is set. */
static inline ulb_vec ulb_look_up(ulb_vec table, ulb_vec index)
{
    return _mm512_shuffle_epi8(table, index);
}

typedef __m512 ulb_floats;

static inline ulb_floats ulb_no_floats(void)
{
    return _mm512_setzero_ps();
}

static inline void ulb_store_floats(float *p, ulb_floats v)
{
    _mm512_storeu_ps(p, v);
}

/* *sums += ints as floats, times scales. */
static inline void ulb_add_scaled(ulb_floats *sums, ulb_vec ints, const float *scales)
{
    *sums = _mm512_fmadd_ps(_mm512_cvtepi32_ps(ints), _mm512_loadu_ps(scales), *sums);
}

#else

typedef __m256i ulb_vec;

static inline ulb_vec ulb_load(const void *p)
{
    return _mm256_loadu_si256((const __m256i *)p);
}

static inline void ulb_store(void *p, ulb_vec v)
{
    _mm256_storeu_si256((__m256i *)p, v);
}

static inline ulb_vec ulb_zero(void)
{
    return _mm256_setzero_si256();
}

static inline ulb_vec ulb_all8(int value)
{
    return _mm256_set1_epi8((char)value);
}

static inline ulb_vec ulb_all32(int32_t value)
{
    return _mm256_set1_epi32(value);
}

static inline ulb_vec ulb_and(ulb_vec a, ulb_vec b)
{
    return _mm256_and_si256(a, b);
}

static inline ulb_vec ulb_add8(ulb_vec a, ulb_vec b)
{
    return _mm256_add_epi8(a, b);
}

static inline ulb_vec ulb_add32(ulb_vec a, ulb_vec b)
{
    return _mm256_add_epi32(a, b);
}

static inline ulb_vec ulb_sub32(ulb_vec a, ulb_vec b)
{
    return _mm256_sub_epi32(a, b);
}

static inline ulb_vec ulb_asr32(ulb_vec v, unsigned bits)
{
    return _mm256_srai_epi32(v, (int)bits);
}

static inline ulb_vec ulb_shl32(ulb_vec v, unsigned bits)
{
    return _mm256_slli_epi32(v, (int)bits);
}

/* Shifts 16-bit words. It is an operator, because compilers disagree about the type of the intrinsic's
 * count. */
static inline ulb_vec ulb_shr16(ulb_vec v, unsigned bits)
{
    typedef unsigned short words __attribute__((vector_size(32)));
    return (ulb_vec)((words)v >> bits);
}

static inline ulb_vec ulb_or(ulb_vec a, ulb_vec b)
{
    return _mm256_or_si256(a, b);
}

static inline ulb_vec ulb_mul16(ulb_vec a, ulb_vec b)
{
    return _mm256_mullo_epi16(a, b);
}

static inline ulb_vec ulb_max32(ulb_vec a, ulb_vec b)
{
    return _mm256_max_epi32(a, b);
}

static inline ulb_vec ulb_min32(ulb_vec a, ulb_vec b)
{
    return _mm256_min_epi32(a, b);
}

/* 16 bytes in every 128-bit lane. */
static inline ulb_vec ulb_all128(const void *p)
{
    return _mm256_broadcastsi128_si256(_mm_loadu_si128((const __m128i *)p));
}

/* table[index & 15] for every byte, in each 128-bit lane; 0 if bit 7 of the index is set. */
static inline ulb_vec ulb_look_up(ulb_vec table, ulb_vec index)
{
    return _mm256_shuffle_epi8(table, index);
}

typedef __m256 ulb_floats;

static inline ulb_floats ulb_no_floats(void)
{
    return _mm256_setzero_ps();
}

static inline void ulb_store_floats(float *p, ulb_floats v)
{
    _mm256_storeu_ps(p, v);
}

/* *sums += ints as floats, times scales. */
static inline void ulb_add_scaled(ulb_floats *sums, ulb_vec ints, const float *scales)
{
    *sums = _mm256_fmadd_ps(_mm256_cvtepi32_ps(ints), _mm256_loadu_ps(scales), *sums);
}

#endif

enum {
    ULB_VEC_BYTES = sizeof(ulb_vec),
    ULB_VEC_BITS = 8 * ULB_VEC_BYTES,
    ULB_LANES = ULB_VEC_BYTES / 4 /* 32-bit lanes: rows of one vector */
};

/* Constant vectors of equal parts of 64 bits, 32 bits, 8 bits. */
#ifdef ULB_DP_512
#define ULB_LONGS(q)                                                                                         \
    {                                                                                                        \
        (q), (q), (q), (q), (q), (q), (q), (q)                                                               \
    }
#else
#define ULB_LONGS(q)                                                                                         \
    {                                                                                                        \
        (q), (q), (q), (q)                                                                                   \
    }
#endif
#define ULB_INTS(i)  ULB_LONGS((long long)(0x0000000100000001ULL * (i)))
#define ULB_BYTES(b) ULB_LONGS((long long)(0x0101010101010101ULL * (b)))

/* 4 bytes, four activations of a token, in every 32-bit lane. It uses the assembler. Clang takes
 * vbroadcastss, whose result reaches integer operations later on Zen 4. GCC 12 may turn the intrinsic into a
 * load and a shuffle. */
static inline ulb_vec ulb_broadcast4(const void *p)
{
    ulb_vec all;
    __asm__("vpbroadcastd %1, %0" : "=v"(all) : "m"(*(const uint8_t(*)[4])p));
    return all;
}

/* 8 bytes in every 64-bit lane, by the assembler too. */
static inline ulb_vec ulb_broadcast8(const void *p)
{
    ulb_vec all;
    __asm__("vpbroadcastq %1, %0" : "=v"(all) : "m"(*(const uint8_t(*)[8])p));
    return all;
}

/* ---- arrays of accumulators: unrolled, so that compilers see them as registers ---- */

static inline __attribute__((always_inline)) void ulb_zero_all(ulb_vec *sums, size_t n)
{
    ULB_UNROLL(32)
    for (size_t i = 0; i < n; i++)
        sums[i] = ulb_zero();
}

/* The first of the sets of n += the others. */
static inline __attribute__((always_inline)) void ulb_add_sets(ulb_vec *sums, size_t sets, size_t n)
{
    ULB_UNROLL(8)
    for (size_t set = 1; set < sets; set++) {
        ULB_UNROLL(16)
        for (size_t i = 0; i < n; i++)
            sums[i] = ulb_add32(sums[i], sums[set * n + i]);
    }
}

static inline __attribute__((always_inline)) void ulb_store_all(int32_t *out, const ulb_vec *vectors, int n)
{
#pragma GCC unroll 16
    for (int i = 0; i < n; i++)
        ulb_store(out + ULB_LANES * i, vectors[i]);
}

#endif
