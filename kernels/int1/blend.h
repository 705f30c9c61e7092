/* The up-conversion of the paper's 1-bit kernel (arXiv 2508.06753, III-D, figure 2): 32 bits, broadcast to
 * every lane, become 32 bytes, one per bit: byte shuffle, and, compare, blend. */
#ifndef ULB_KERNELS_INT1_BLEND_H
#define ULB_KERNELS_INT1_BLEND_H

#include <immintrin.h>
#include <stdint.h>

/* Byte i of the result is set where bit i of word is set, clear where it is not. */
static inline __m256i ulb_int1_expand(const uint8_t *word, __m256i if_clear, __m256i if_set)
{
    /* Byte i of the vector takes byte i/8 of the word, then keeps bit i%8 of it. */
    const __m256i spread = _mm256_setr_epi8(0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1, 2, 2, 2, 2, 2, 2,
                                            2, 2, 3, 3, 3, 3, 3, 3, 3, 3);
    const __m256i bit = _mm256_set1_epi64x((long long)0x8040201008040201ull);
    int32_t bits;
    __builtin_memcpy(&bits, word, sizeof bits);
    __m256i bytes = _mm256_and_si256(_mm256_shuffle_epi8(_mm256_set1_epi32(bits), spread), bit);
    __m256i mask = _mm256_cmpeq_epi8(bytes, bit);
    /* The blend itself goes through the assembler: compilers see that or/andn would do for the values +1 and
     * -1, and this row is there to show the published sequence. */
    __m256i weights;
    __asm__("vpblendvb %3, %2, %1, %0" : "=x"(weights) : "x"(if_clear), "x"(if_set), "x"(mask));
    return weights;
}

#endif
