/* Shared by the 256-bit rows. */
#ifndef ULB_KERNELS_X86_AVX2_H
#define ULB_KERNELS_X86_AVX2_H

#include <immintrin.h>
#include <stdint.h>

/* Four activations in every 32-bit lane. */
static inline __m256i ulb_broadcast4(const int8_t *x)
{
    int32_t four;
    __builtin_memcpy(&four, x, sizeof four);
    return _mm256_set1_epi32(four);
}

#endif
