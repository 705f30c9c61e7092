/* One instruction on registers alone: PEAK_INSTRUCTION (operands %0, the accumulator, and %1),
 * PEAK_ACTIVATION, and PEAK_OPS of one instruction. 16 chains hide a latency of 4 cycles on four pipes. */
#ifndef ULB_KERNELS_ARM_PEAK_LOOP_H
#define ULB_KERNELS_ARM_PEAK_LOOP_H

#define ULB_KERNEL_IS_PEAK
#include "kernels/microkernel.h"

#include <arm_neon.h>

enum { CHAINS = 16, UNROLLED = 4 };

static void run(size_t passes)
{
    uint8x16_t sums[CHAINS], zero = vdupq_n_u8(0);
#pragma GCC unroll 16
    for (int i = 0; i < CHAINS; i++)
        sums[i] = zero;
    for (size_t pass = 0; pass < passes; pass++) {
#pragma GCC unroll 64
        for (int i = 0; i < UNROLLED * CHAINS; i++)
            __asm__(PEAK_INSTRUCTION : "+w"(sums[i % CHAINS]) : "w"(zero));
    }
#pragma GCC unroll 16
    for (int i = 0; i < CHAINS; i++)
        __asm__ volatile("" : : "w"(sums[i]));
}

const struct ulb_peak ULB_KERNEL = {
    .isa = ULB_KERNEL_ISA,
    .needs = ULB_KERNEL_NEEDS,
    .activation = PEAK_ACTIVATION,
    .ops_per_pass = (double)UNROLLED * CHAINS * (PEAK_OPS),
    .run = run,
};

#endif
