/* FMA_INSTRUCTION on registers alone, with FMA_PRODUCTS in each lane of single precision, for activations
 * FMA_ACTIVATION. The including file defines the vector: FMA_VECTOR (type), FMA_BYTES and FMA_REGISTER
 * (constraint). 12 chains hide a latency of 4 or 5 cycles on two ports, which needs 8 or 10. */
#ifndef ULB_KERNELS_PEAK_FMA_H
#define ULB_KERNELS_PEAK_FMA_H

#define ULB_KERNEL_IS_PEAK
#include "kernels/microkernel.h"

enum { CHAINS = 12, UNROLLED = 4 };

static void run(size_t passes)
{
    FMA_VECTOR sums[CHAINS], zero = {0};
#pragma GCC unroll 16
    for (int i = 0; i < CHAINS; i++)
        sums[i] = zero;
    for (size_t pass = 0; pass < passes; pass++) {
#pragma GCC unroll 64
        for (int i = 0; i < UNROLLED * CHAINS; i++)
            __asm__(FMA_INSTRUCTION " %1, %1, %0" : "+" FMA_REGISTER(sums[i % CHAINS]) : FMA_REGISTER(zero));
    }
#pragma GCC unroll 16
    for (int i = 0; i < CHAINS; i++)
        __asm__ volatile("" : : FMA_REGISTER(sums[i]));
}

const struct ulb_peak ULB_KERNEL = {
    .isa = ULB_KERNEL_ISA,
    .needs = ULB_KERNEL_NEEDS,
    .activation = FMA_ACTIVATION,
    .ops_per_pass = 2.0 * FMA_PRODUCTS * UNROLLED * CHAINS * FMA_BYTES / sizeof(float),
    .run = run,
};

#endif
