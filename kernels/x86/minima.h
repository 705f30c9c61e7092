/* What the minima of a block's groups take off: the sum over groups of min * (sum of the group's
 * activations).
 *
 * Minima are bytes, 4 groups of a row in a lane; sums of 32 activations are 64 high + low with both in int8
 * (|sum| <= 4,096), so that products of both are dot products like those of codes. With AVX2 a 16-bit sum
 * holds 2 minima up to 63 of 64 or 63 for every 4 groups: 16,128 of 8 groups. */
#ifndef ULB_KERNELS_X86_MINIMA_H
#define ULB_KERNELS_X86_MINIMA_H

#include "kernels/x86/block_walk.h"

/* Sums of groups of 32 activations, 4 of them in every lane of each vector. */
struct ulb_sum_quads {
    ulb_vec low[2], high[2];
};

static inline __attribute__((always_inline)) struct ulb_sum_quads ulb_split_sums(const int16_t *x_sums)
{
    __m256i sums = _mm256_madd_epi16(_mm256_loadu_si256((const __m256i *)x_sums), _mm256_set1_epi16(1));
    __m256i low = _mm256_and_si256(sums, _mm256_set1_epi32(63)), high = _mm256_srai_epi32(sums, 6);
    /* To bytes: words of low and high, then bytes 0-3 low, 4-7 high of sums 0-3, and of 4-7 in the upper
     * half. */
    __m256i words = _mm256_packs_epi32(low, high);
    __m256i bytes = _mm256_packs_epi16(words, words);
    struct ulb_sum_quads quads;
    quads.low[0] = ulb_all32(_mm256_extract_epi32(bytes, 0));
    quads.high[0] = ulb_all32(_mm256_extract_epi32(bytes, 1));
    quads.low[1] = ulb_all32(_mm256_extract_epi32(bytes, 4));
    quads.high[1] = ulb_all32(_mm256_extract_epi32(bytes, 5));
    return quads;
}

/* Of vector v of rows; minima of 8 groups: [2][rows][4]. */
static inline __attribute__((always_inline)) ulb_floats ulb_sum_minima(const uint8_t *minima, size_t rows,
                                                                       const int16_t *x_sums, size_t v)
{
    struct ulb_sum_quads x = ulb_split_sums(x_sums);
    ulb_vec low = ulb_zero(), high = ulb_zero();
#pragma GCC unroll 2
    for (size_t i = 0; i < 2; i++) {
        ulb_vec quads = ulb_load(minima + i * rows * 4 + v * ULB_VEC_BYTES);
        ulb_dot(&low, quads, x.low[i]);
        ulb_dot(&high, quads, x.high[i]);
    }
    return ulb_to_floats(ulb_add32(ulb_widen(low), ulb_shl32(ulb_widen(high), 6)));
}

#endif
