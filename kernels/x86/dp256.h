/* 256-bit dot product of 4 neighbouring bytes into int32, in the encoding that the build of the file asks
 * for: ULB_DP_VEX     vpdpbusd, AVX-VNNI            unsigned weights x signed activations ULB_DP_EVEX
 * vpdpbusd, AVX-512 VNNI + VL   the same on CPUs that lack the VEX form (Ice Lake, Zen 4) ULB_DP_SIGNED
 * vpdpbssd, AVX-VNNI-INT8       signed x signed Unsigned forms hold code = value + zero point; the caller
 * subtracts zero point * sum(x), which the layout-wide ULB_DP_ZERO(zp) gives (0 for the signed form). None of
 * the three saturates: exact modulo 2^32. */
#ifndef ULB_KERNELS_X86_DP256_H
#define ULB_KERNELS_X86_DP256_H

#include "kernels/x86/avx2.h"

#ifdef ULB_DP_SIGNED
#define ULB_DP_ZERO(zero_point) 0
#else
#define ULB_DP_ZERO(zero_point) (zero_point)
#endif

#if defined(ULB_DP_VEX)
#define ULB_DP_INSTRUCTION "%{vex%} vpdpbusd"
#define ULB_DP_REGISTER    "x"
#elif defined(ULB_DP_EVEX)
#define ULB_DP_INSTRUCTION "vpdpbusd"
#define ULB_DP_REGISTER    "v"
#elif defined(ULB_DP_SIGNED)
#define ULB_DP_INSTRUCTION "vpdpbssd"
#define ULB_DP_REGISTER    "x"
#endif

/* sums += dot products. Through the assembler for two reasons: GCC 12 copies accumulators of the intrinsic
 * form from register to register in every step, and no compiler of that age has an intrinsic for vpdpbssd. */
static inline void ulb_dp256(__m256i *sums, __m256i weights, __m256i x)
{
    __asm__(ULB_DP_INSTRUCTION " %2, %1, %0"
            : "+" ULB_DP_REGISTER(*sums)
            : ULB_DP_REGISTER(weights), ULB_DP_REGISTER(x));
}

#endif
