/* vpdpbusd or vpdpbssd on registers alone. 12 chains hide a latency of 5 cycles on two ports, which needs
 * 10. */
#define ULB_KERNEL_IS_PEAK
#include "kernels/microkernel.h"
#include "kernels/x86/simd/dot.h"

enum { CHAINS = 12, UNROLLED = 4 };

static void run(size_t passes)
{
    ulb_vec sums[CHAINS], one = ulb_all8(1);
    ulb_zero_all(sums, CHAINS);
    for (size_t pass = 0; pass < passes; pass++) {
#pragma GCC unroll 64
        for (int i = 0; i < UNROLLED * CHAINS; i++)
            ulb_dp(&sums[i % CHAINS], one, one);
    }
#pragma GCC unroll 16
    for (int i = 0; i < CHAINS; i++)
        __asm__ volatile("" : : ULB_REGISTER(sums[i]));
}

const struct ulb_peak ULB_KERNEL = {
    .isa = ULB_KERNEL_ISA,
    .needs = ULB_KERNEL_NEEDS,
    .activation = ULB_ACT_A8,
    .ops_per_pass = 2.0 * UNROLLED * CHAINS * ULB_VEC_BYTES,
    .run = run,
};
