/* TILE_INSTRUCTION on tiles alone: 16 rows of 64 bytes times 16 columns of 64 bytes, TILE_PRODUCTS
 * multiply-adds each, for activations TILE_ACTIVATION. Six chains: an instruction starts every 16 cycles and
 * takes 52. */
#ifndef ULB_KERNELS_PEAK_TILE_H
#define ULB_KERNELS_PEAK_TILE_H

#define ULB_KERNEL_IS_PEAK
#include "kernels/microkernel.h"
#include "kernels/x86/simd/amx_tiles.h"

enum { CHAINS = 6 };

#define STEP(sums) TILE_INSTRUCTION " %tmm7, %tmm6, %tmm" sums "\n\t"

static void run(size_t passes)
{
    ulb_amx_configure(2 * ULB_TILE_ROWS, false);
    ulb_amx_zero();
    __asm__ volatile("tilezero %tmm4\n\ttilezero %tmm5\n\ttilezero %tmm6\n\ttilezero %tmm7");
    for (size_t pass = 0; pass < passes; pass++)
        __asm__ volatile(STEP("0") STEP("1") STEP("2") STEP("3") STEP("4") STEP("5"));
    ulb_amx_release();
}

const struct ulb_peak ULB_KERNEL = {
    .isa = ULB_KERNEL_ISA,
    .needs = ULB_KERNEL_NEEDS,
    .activation = TILE_ACTIVATION,
    .ops_per_pass = 2.0 * CHAINS * (TILE_PRODUCTS),
    .run = run,
};

#endif
