/* Vectors of the compiler, and where the lines of a cache lie (attention.h). For kernels/vector/attention.c
 * alone. */
#ifndef ULB_KERNELS_VECTOR_ATTENTION_PRIVATE_H
#define ULB_KERNELS_VECTOR_ATTENTION_PRIVATE_H

#include "kernels/vector/attention.h"

#include <stdint.h>
#include <string.h>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

/* Lanes of a vector, and rows that share each line read: their sums fill the registers. */
#if defined(__AVX512F__)
enum { LANES = 16, ROWS = 8 };
#elif defined(__AVX__)
enum { LANES = 8, ROWS = 2 };
#elif defined(__aarch64__)
enum { LANES = 4, ROWS = 2 };
#else
enum { LANES = 4, ROWS = 1 };
#endif
enum { VECTORS = ULB_KV_LINES / LANES, ROW_BYTES = ULB_KV_LINES * 4 };
typedef float floats __attribute__((vector_size(LANES * 4)));
typedef uint32_t words __attribute__((vector_size(LANES * 4)));
typedef int32_t integers __attribute__((vector_size(LANES * 4)));
typedef uint16_t halves __attribute__((vector_size(LANES * 2)));
typedef uint16_t pairs __attribute__((vector_size(LANES * 4)));

#define INLINE static inline __attribute__((always_inline))

INLINE floats load_floats(const float *at)
{
    floats value;
    memcpy(&value, at, sizeof value);
    return value;
}

INLINE void store_floats(float *at, floats value)
{
    memcpy(at, &value, sizeof value);
}

INLINE floats floats_of(words bits)
{
    floats value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

INLINE integers larger_of(integers a, integers b)
{
#if defined(__AVX512F__)
    return (integers)_mm512_max_epi32((__m512i)a, (__m512i)b);
#elif defined(__AVX2__)
    return (integers)_mm256_max_epi32((__m256i)a, (__m256i)b);
#else
    return (a & (a > b)) | (b & ~(a > b));
#endif
}

typedef int32_t quads __attribute__((vector_size(16)));

INLINE int32_t largest_lane(integers x)
{
    quads part[LANES / 4], most;
    memcpy(part, &x, sizeof x);
    most = part[0];
    for (size_t i = 1; i < LANES / 4; i++)
        most = (most & (most > part[i])) | (part[i] & ~(most > part[i]));
    int32_t largest = most[0];
    for (size_t i = 1; i < 4; i++)
        largest = most[i] > largest ? most[i] : largest;
    return largest;
}

INLINE int32_t sum_of_lanes(integers x)
{
    quads part[LANES / 4];
    memcpy(part, &x, sizeof x);
    for (size_t i = 1; i < LANES / 4; i++)
        part[0] += part[i];
    return part[0][0] + part[0][1] + part[0][2] + part[0][3];
}

INLINE bool has_scales(enum ulb_kv_type type)
{
    return type == ULB_KV_Q8_0 || type == ULB_KV_Q4_0;
}

INLINE unsigned bits_of(enum ulb_kv_type type)
{
    static const unsigned all[ULB_KV_TYPES] = {16, 8, 4, 32};
    return all[type];
}

/* Codes count from 0; their middle is 0. */
INLINE int32_t middle_of(enum ulb_kv_type type)
{
    return 1 << (bits_of(type) - 1);
}

/* A row of a group is a word for each element, in which that element of so many lines stands. */
INLINE size_t lines_of_row(enum ulb_kv_type type)
{
    return 32 / bits_of(type);
}

/* Codes of a group, and the scales of its positions. */
INLINE size_t code_bytes(enum ulb_kv_type type)
{
    return ULB_KV_LINES * ULB_KV_LINES * bits_of(type) / 8;
}

INLINE size_t scale_bytes(enum ulb_kv_type type)
{
    return has_scales(type) ? ULB_KV_LINES * sizeof(uint16_t) : 0;
}

/* Groups of keys: each behind its scales. */
INLINE const char *key_scales(enum ulb_kv_type type, const void *half, size_t group)
{
    return (const char *)half + group * (scale_bytes(type) + code_bytes(type));
}

INLINE const char *key_codes(enum ulb_kv_type type, const void *half, size_t group)
{
    return key_scales(type, half, group) + scale_bytes(type);
}

/* Groups of values, of all blocks together: scales stand before the codes of the groups before. */
INLINE const char *value_scales(enum ulb_kv_type type, const void *half, size_t g)
{
    return (const char *)half +
           ULB_KV_BLOCKS * (g * scale_bytes(type) + (g > 0 ? g - 1 : 0) * code_bytes(type));
}

INLINE const char *value_codes(enum ulb_kv_type type, const void *half, size_t groups, size_t g)
{
    const size_t scales = g + 2 < groups ? g + 2 : groups;
    return (const char *)half + ULB_KV_BLOCKS * (scales * scale_bytes(type) + g * code_bytes(type));
}

/* Vector v of a group's scales. */
INLINE floats load_scales(const char *scales, size_t v)
{
    halves half;
    memcpy(&half, scales + v * sizeof half, sizeof half);
#if defined(__AVX512F__)
    return (floats)_mm512_cvtph_ps((__m256i)half);
#elif defined(__F16C__)
    return (floats)_mm256_cvtph_ps((__m128i)half);
#else
    /* Shifted to a single's place the exponent lacks 112. */
    words wide = __builtin_convertvector(half, words);
    floats size = floats_of((wide & 0x7FFF) << 13) * 0x1p112f;
    words bits;
    memcpy(&bits, &size, sizeof bits);
    return floats_of(bits | (wide & 0x8000) << 16);
#endif
}

/* Of a row so many vectors at a time: their words, what they hold, and all sums are registers. */
enum { WORDS = 2 };

INLINE void load_words(const char *row, size_t v, words word[WORDS])
{
    for (size_t i = 0; i < WORDS; i++)
        memcpy(&word[i], row + (v + i) * sizeof *word, sizeof *word);
}

#endif
