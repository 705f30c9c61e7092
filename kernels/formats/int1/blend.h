/* The expansion of the paper's 1-bit kernel (arXiv 2508.06753, III-D, figure 2). 32 bits, broadcast to every
 * lane, become 32 bytes, one per bit: byte shuffle, AND, compare, blend. */
#ifndef ULB_KERNELS_FORMATS_INT1_BLEND_H
#define ULB_KERNELS_FORMATS_INT1_BLEND_H

#include <immintrin.h>
#include <stdint.h>

/* Byte i of the result is set where bit i of word is set, clear where it is not. One assembler statement:
 * compilers see that or/andn would do for the values +1 and -1, and this kernel is there to show the
 * published sequence. */
static inline __m256i ulb_int1_expand(const uint8_t *word, __m256i if_clear, __m256i if_set)
{
    /* Byte i of the vector takes byte i/8 of the word, then keeps bit i%8 of it. */
    const __m256i spread = _mm256_setr_epi8(0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1, 2, 2, 2, 2, 2, 2,
                                            2, 2, 3, 3, 3, 3, 3, 3, 3, 3);
    const __m256i bit = _mm256_set1_epi64x((long long)0x8040201008040201ull);
    __m256i weights;
    __asm__("vpbroadcastd %[word], %[weights]\n\t"
            "vpshufb %[spread], %[weights], %[weights]\n\t"
            "vpand %[bit], %[weights], %[weights]\n\t"
            "vpcmpeqb %[bit], %[weights], %[weights]\n\t"
            "vpblendvb %[weights], %[if_set], %[if_clear], %[weights]"
            : [weights] "=&x"(weights)
            : [word] "m"(*(const uint8_t(*)[4])word), [spread] "x"(spread), [bit] "x"(bit),
              [if_set] "x"(if_set), [if_clear] "x"(if_clear));
    return weights;
}

#endif
