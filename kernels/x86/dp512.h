/* 512-bit dot product of 4 neighbouring bytes into int32: unsigned weights x signed activations, exact modulo
 * 2^32. */
#ifndef ULB_KERNELS_X86_DP512_H
#define ULB_KERNELS_X86_DP512_H

#include <immintrin.h>
#include <stdint.h>

/* sums += dot products. Through the assembler because GCC 12 copies accumulators of the intrinsic form. */
static inline void ulb_dp512(__m512i *sums, __m512i weights, __m512i x)
{
    __asm__("vpdpbusd %2, %1, %0" : "+v"(*sums) : "v"(weights), "v"(x));
}

/* Four activations in every 32-bit lane. */
static inline __m512i ulb_broadcast4_512(const int8_t *x)
{
    int32_t four;
    __builtin_memcpy(&four, x, sizeof four);
    return _mm512_set1_epi32(four);
}

#endif
