/* The part of a block's sum that its minima take off: the sum over groups of min * (sum of the activations).
 *
 * Minima are bytes or nibbles, four groups of a row in a lane. A sum of 16 or 32 activations is split into 64
 * * high + low, both int8 (|sum| <= 4,096). Their products are then dot products like those of codes. With
 * AVX2 a 16-bit sum holds two products of minima <= 63 for every four groups.
 * 8 groups: `2 * 2 * 63 * 64 = 16,128`; 16 groups: `4 * 2 * 15 * 64 = 7,680`. */
#ifndef ULB_KERNELS_X86_GEMV_BLOCK_MINIMA_H
#define ULB_KERNELS_X86_GEMV_BLOCK_MINIMA_H

#include "kernels/x86/simd/dot.h"
#include "kernels/x86/simd/vec_float.h"

#include <stddef.h>

/* No minima; one for each block, of any sign; one byte for each of eight groups; 4 bits for each of 16
 * groups. */
enum ulb_minima { ULB_NO_MINIMA, ULB_ONE_MINIMUM, ULB_BYTE_MINIMA, ULB_NIBBLE_MINIMA };

/* Bytes of the minima of a tile. */
static inline __attribute__((always_inline)) size_t ulb_minima_bytes(enum ulb_minima kind, size_t rows,
                                                                     size_t groups)
{
    return kind == ULB_BYTE_MINIMA ? rows * groups : kind == ULB_NIBBLE_MINIMA ? rows * groups / 2 : 0;
}

/* Sums of groups of activations, 4 of them in every lane of each vector. */
struct ulb_sum_quads {
    ulb_vec low[4], high[4];
};

/* Eight sums as int32: the first two quads from i. */
static inline __attribute__((always_inline)) void ulb_split_eight(__m256i sums, struct ulb_sum_quads *quads,
                                                                  size_t i)
{
    __m256i low = _mm256_and_si256(sums, _mm256_set1_epi32(63)), high = _mm256_srai_epi32(sums, 6);
    /* To bytes: words of low and high, then bytes. Bytes 0-3 are low of sums 0-3, bytes 4-7 high. The upper
     * half holds sums 4-7. */
    __m256i words = _mm256_packs_epi32(low, high);
    __m256i bytes = _mm256_packs_epi16(words, words);
    quads->low[i] = ulb_all32(_mm256_extract_epi32(bytes, 0));
    quads->high[i] = ulb_all32(_mm256_extract_epi32(bytes, 1));
    quads->low[i + 1] = ulb_all32(_mm256_extract_epi32(bytes, 4));
    quads->high[i + 1] = ulb_all32(_mm256_extract_epi32(bytes, 5));
}

/* Splits 16 sums of 16 activations. groups: eight of two sums each, or 16. */
static inline __attribute__((always_inline)) struct ulb_sum_quads ulb_split_sums(const int16_t *x_sums,
                                                                                 size_t groups)
{
    struct ulb_sum_quads quads;
    __m256i sums = _mm256_loadu_si256((const __m256i *)x_sums);
    if (groups == 8) {
        ulb_split_eight(_mm256_madd_epi16(sums, _mm256_set1_epi16(1)), &quads, 0);
    } else {
        ulb_split_eight(_mm256_cvtepi16_epi32(_mm256_castsi256_si128(sums)), &quads, 0);
        ulb_split_eight(_mm256_cvtepi16_epi32(_mm256_extracti128_si256(sums, 1)), &quads, 2);
    }
    return quads;
}

/* The sum for one vector of rows. A quad of groups is `stride` bytes from the next. */
static inline __attribute__((always_inline)) ulb_floats
ulb_sum_minima(enum ulb_minima kind, const uint8_t *minima, size_t stride, const struct ulb_sum_quads *x)
{
    ulb_vec low = ulb_zero(), high = ulb_zero(), nibble = ulb_all8(15);
    size_t n = kind == ULB_NIBBLE_MINIMA ? 4 : 2;
#pragma GCC unroll 4
    for (size_t i = 0; i < n; i++) {
        ulb_vec quad = ulb_load(minima + i % 2 * stride);
        if (kind == ULB_NIBBLE_MINIMA)
            quad = ulb_and(i < 2 ? quad : ulb_shr16(quad, 4), nibble);
        ulb_dot(&low, quad, x->low[i]);
        ulb_dot(&high, quad, x->high[i]);
    }
    return ulb_to_floats(ulb_add32(ulb_widen_s16(low), ulb_shl32(ulb_widen_s16(high), 6)));
}

#endif
