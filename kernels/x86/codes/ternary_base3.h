/* Five ternary digits a byte, taken out by tripling it: kernels/formats/tern1_6/triple.c. */
#ifndef ULB_KERNELS_X86_CODES_TERNARY_BASE3_H
#define ULB_KERNELS_X86_CODES_TERNARY_BASE3_H

#include "kernels/microkernel.h"
#include "kernels/x86/simd/dot.h"

/* Bytes tripled i times, modulo 256. */
static inline __attribute__((always_inline)) ulb_vec ulb_tripled(ulb_vec bytes, size_t i)
{
    ULB_UNROLL(5)
    for (size_t j = 0; j < i; j++) {
        ulb_vec thrice;
        __asm__("vpaddb %1, %1, %0\n\tvpaddb %0, %1, %0" : "=&" ULB_REGISTER(thrice) : ULB_REGISTER(bytes));
        bytes = thrice;
    }
    return bytes;
}

#ifndef ULB_DP_512
/* Digit i of bytes less 128: how many of the bounds 256/3 and 512/3 the byte, tripled i times, reaches. */
static inline __attribute__((always_inline)) __m256i ulb_signed_digit(__m256i bytes, size_t i)
{
    const __m256i tripled = (__m256i)ulb_tripled((ulb_vec)bytes, i);
    const __m256i one = _mm256_cmpgt_epi8(tripled, _mm256_set1_epi8(85 - 128)),
                  two = _mm256_cmpgt_epi8(tripled, _mm256_set1_epi8(170 - 128));
    return _mm256_abs_epi8(_mm256_add_epi8(one, two));
}
#endif

/* A part of an assembler statement: packed = 3 packed mod 256. */
#define ULB_ASM_TRIPLE "vpaddb %[packed], %[packed], %[twice]\n\tvpaddb %[twice], %[packed], %[packed]\n\t"

#endif
