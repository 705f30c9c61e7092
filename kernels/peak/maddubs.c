/* vpmaddubsw and the vpaddw that adds its sums: the minimum for a dot product of bytes without VNNI. 16 bits
 * hold a few steps, and the widening is left out here. The additions are 12 chains. */
#define ULB_KERNEL_IS_PEAK
#include "kernels/microkernel.h"

#include <immintrin.h>

enum { CHAINS = 12, UNROLLED = 4, VECTOR_BYTES = 32 };

static void run(size_t passes)
{
    __m256i sums[CHAINS], one = _mm256_set1_epi8(1), products;
#pragma GCC unroll 16
    for (int i = 0; i < CHAINS; i++)
        sums[i] = _mm256_setzero_si256();
    for (size_t pass = 0; pass < passes; pass++) {
#pragma GCC unroll 64
        for (int i = 0; i < UNROLLED * CHAINS; i++)
            __asm__("vpmaddubsw %2, %2, %1\n\tvpaddw %1, %0, %0"
                    : "+x"(sums[i % CHAINS]), "=&x"(products)
                    : "x"(one));
    }
#pragma GCC unroll 16
    for (int i = 0; i < CHAINS; i++)
        __asm__ volatile("" : : "x"(sums[i]));
}

const struct ulb_peak ULB_KERNEL = {
    .isa = ULB_KERNEL_ISA,
    .needs = ULB_KERNEL_NEEDS,
    .activation = ULB_ACT_A8,
    .ops_per_pass = 2.0 * UNROLLED * CHAINS * VECTOR_BYTES,
    .run = run,
};
