/* The dot product of 4 neighbouring bytes into int32, in the encoding that the build of the file asks for:
 *   ULB_DP_VEX     vpdpbusd, AVX-VNNI               256 bits, unsigned weights x signed activations
 *   ULB_DP_EVEX    vpdpbusd, AVX-512 VNNI + VL      the same on CPUs that lack the VEX form (Ice Lake, Zen 4)
 *   ULB_DP_512     vpdpbusd, AVX-512 VNNI           512 bits
 *   ULB_DP_SIGNED  vpdpbssd, AVX-VNNI-INT8          256 bits, signed x signed
 * Unsigned forms hold code = value + zero point; the caller subtracts zero point * sum(x), which
 * ULB_DP_ZERO(zp) gives (0 for the signed form). None of the four saturates: exact modulo 2^32. */
#ifndef ULB_KERNELS_X86_SIMD_VNNI_H
#define ULB_KERNELS_X86_SIMD_VNNI_H

#include "kernels/unroll.h"
#include "kernels/x86/simd/vec.h"

#ifdef ULB_DP_SIGNED
#define ULB_DP_ZERO(zero_point) 0
#else
#define ULB_DP_ZERO(zero_point) (zero_point)
#endif

#if defined(ULB_DP_VEX)
#define ULB_DP_INSTRUCTION "%{vex%} vpdpbusd"
#define ULB_DP_S16         "%{vex%} vpdpwssd"
#define ULB_REGISTER       "x"
#elif defined(ULB_DP_SIGNED)
#define ULB_DP_INSTRUCTION "vpdpbssd"
#define ULB_REGISTER       "x"
#else
#define ULB_DP_INSTRUCTION "vpdpbusd"
#define ULB_DP_S16         "vpdpwssd"
#define ULB_REGISTER       "v"
#endif

/* sums += dot products of 4 neighbouring bytes. Through the assembler for two reasons: GCC 12 copies
 * accumulators of the intrinsic form from register to register in every step, and no compiler of that age has
 * an intrinsic for vpdpbssd. */
static inline void ulb_dp(ulb_vec *sums, ulb_vec weights, ulb_vec x)
{
    __asm__(ULB_DP_INSTRUCTION " %2, %1, %0"
            : "+" ULB_REGISTER(*sums)
            : ULB_REGISTER(weights), ULB_REGISTER(x));
}

/* sums += products of neighbouring signed words, two to a lane. */
#ifndef ULB_DP_SIGNED
static inline void ulb_dp_s16(ulb_vec *sums, ulb_vec a, ulb_vec b)
{
    __asm__(ULB_DP_S16 " %2, %1, %0" : "+" ULB_REGISTER(*sums) : ULB_REGISTER(a), ULB_REGISTER(b));
}
#endif

/* Steps whose accumulators fill the registers are one assembler statement each: compilers that see the
 * instructions apart copy and spill accumulators, each in its own way. The parts of such statements: */
#if defined(ULB_DP_VEX) || defined(ULB_DP_SIGNED)
#define ULB_MOVE          "vmovdqu"
#define ULB_AND           "vpand"
#define ULB_MASK(mask)    "m"(mask) /* 16 registers: accumulators need them */
#define ULB_MASK_LOADS(n) (n)       /* loads of so many uses of them, in a mix of instructions */
#else
#define ULB_MOVE          "vmovdqu32"
#define ULB_AND           "vpandd"
#define ULB_MASK(mask)    "v"(mask)
#define ULB_MASK_LOADS(n) 0
#endif
#define ULB_KEPT(mask) ULB_REGISTER(mask) /* the one that finds a register all the same */
/* Loads the step's weights into packed, its activations into every lane of x. */
#define ULB_ASM_LOAD ULB_MOVE " %[w], %[packed]\n\tvpbroadcastd %[x4], %[x]\n\t"
/* sum += x . weights */
#define ULB_ASM_DP(weights, sum) ULB_DP_INSTRUCTION " %[x], %[" weights "], %[" sum "]\n\t"
/* sum += x . (packed & mask) */
#define ULB_ASM_FIELD(mask, sum) ULB_AND " %[" mask "], %[packed], %[field]\n\t" ULB_ASM_DP("field", sum)
#define ULB_SUM(v)               "+" ULB_REGISTER(v)
#define ULB_SCRATCH(v)           "=&" ULB_REGISTER(v)
#define ULB_WEIGHTS(p)           "m"(*(const uint8_t(*)[ULB_VEC_BYTES])(p))
#define ULB_ACTIVATIONS(p)       "m"(*(const int8_t(*)[4])(p))

/* sums += dot products of weights from memory; one statement, so that the load stays beside its use. */
static inline void ulb_dp_at(ulb_vec *sums, const uint8_t *weights, ulb_vec x)
{
    ulb_vec w;
    __asm__(ULB_MOVE " %2, %1\n\t" ULB_DP_INSTRUCTION " %3, %1, %0"
            : ULB_SUM(*sums), ULB_SCRATCH(w)
            : ULB_WEIGHTS(weights), ULB_REGISTER(x));
}

/* Sums of a byte's fields, each still at its place in the byte, to sums of the fields: sums[j] is
 * x.(w & mask_j) = 2^(bits j) S_j for all but the last, which is x.w, the whole byte. All divisions are exact
 * and the differences exact modulo 2^32. */
static inline __attribute__((always_inline)) void ulb_separate_fields(ulb_vec *sums, unsigned fields,
                                                                      unsigned bits)
{
    ULB_UNROLL(8)
    for (unsigned j = 0; j < fields - 1; j++) {
        sums[fields - 1] = ulb_sub32(sums[fields - 1], sums[j]);
        sums[j] = ulb_asr32(sums[j], bits * j);
    }
    sums[fields - 1] = ulb_asr32(sums[fields - 1], bits * (fields - 1));
}

#endif
