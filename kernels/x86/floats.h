/* Single precision at the width of ulb_vec, and what scales are stored as. */
#ifndef ULB_KERNELS_X86_FLOATS_H
#define ULB_KERNELS_X86_FLOATS_H

#include "kernels/x86/vec.h"

#ifdef ULB_DP_512

static inline ulb_floats ulb_to_floats(ulb_vec ints)
{
    return _mm512_cvtepi32_ps(ints);
}

static inline ulb_floats ulb_all_floats(float value)
{
    return _mm512_set1_ps(value);
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

/* Half precision from memory. */
static inline ulb_floats ulb_load_halves(const void *p)
{
    return _mm512_cvtph_ps(_mm256_loadu_si256((const __m256i *)p));
}

static inline ulb_floats ulb_load_unsigned_bytes(const void *p)
{
    return _mm512_cvtepi32_ps(_mm512_cvtepu8_epi32(_mm_loadu_si128((const __m128i *)p)));
}

static inline ulb_floats ulb_load_signed_bytes(const void *p)
{
    return _mm512_cvtepi32_ps(_mm512_cvtepi8_epi32(_mm_loadu_si128((const __m128i *)p)));
}

#else

static inline ulb_floats ulb_to_floats(ulb_vec ints)
{
    return _mm256_cvtepi32_ps(ints);
}

static inline ulb_floats ulb_all_floats(float value)
{
    return _mm256_set1_ps(value);
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

/* Half precision from memory. */
static inline ulb_floats ulb_load_halves(const void *p)
{
    return _mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)p));
}

static inline ulb_floats ulb_load_unsigned_bytes(const void *p)
{
    return _mm256_cvtepi32_ps(_mm256_cvtepu8_epi32(_mm_loadl_epi64((const __m128i *)p)));
}

static inline ulb_floats ulb_load_signed_bytes(const void *p)
{
    return _mm256_cvtepi32_ps(_mm256_cvtepi8_epi32(_mm_loadl_epi64((const __m128i *)p)));
}

#endif

#endif
