/* Sums of products of unsigned codes and int8 activations, 4 columns of a row in a lane, in what the build of
 * the file has: dot products into int32 (kernels/x86/simd/vnni.h), or, with AVX2 alone, vpmaddubsw into two
 * 16-bit sums per lane, which hold only so many steps: with codes up to C and |x| <= 128 a step adds at most
 * 256 C to each, so that 127 / C steps fit; ulb_widen_s16() then makes int32 of them. */
#ifndef ULB_KERNELS_X86_SIMD_DOT_H
#define ULB_KERNELS_X86_SIMD_DOT_H

#if defined(ULB_DP_VEX) || defined(ULB_DP_EVEX) || defined(ULB_DP_512)
#define ULB_S16_SUMS 0
#include "kernels/x86/simd/vnni.h"
#else
#define ULB_S16_SUMS 1
#define ULB_REGISTER "x"
#include "kernels/x86/simd/vec.h"
/* Parts of steps that are one assembler statement, as kernels/x86/simd/vnni.h has them. What is multiplied is
 * lost. */
#define ULB_MOVE "vmovdqu"
#define ULB_AND  "vpand"
#define ULB_ASM_DP(codes, sum)                                                                               \
    "vpmaddubsw %[x], %[" codes "], %[" codes "]\n\tvpaddw %[" codes "], %[" sum "], %[" sum "]\n\t"
#define ULB_ASM_FIELD(mask, sum) "vpand %[" mask "], %[packed], %[field]\n\t" ULB_ASM_DP("field", sum)
#define ULB_SUM(v)               "+x"(v)
#define ULB_SCRATCH(v)           "=&x"(v)
#define ULB_WEIGHTS(p)           "m"(*(const uint8_t(*)[ULB_VEC_BYTES])(p))
#endif

/* Sums of two products of words. Through the assembler, because Clang makes vpdpwssd of it and an addition.
 */
static inline ulb_vec ulb_madd16(ulb_vec a, ulb_vec b)
{
    ulb_vec sums;
    __asm__("vpmaddwd %2, %1, %0" : "=" ULB_REGISTER(sums) : ULB_REGISTER(a), ULB_REGISTER(b));
    return sums;
}

/* The sum of 32 activations, times a factor, in every lane. */
static inline ulb_vec ulb_all_x_sums(const int16_t *sums, int factor)
{
    return ulb_madd16(ulb_broadcast4(sums), ulb_all32(factor << 16 | factor));
}

/* What a kernel has at 256 and what at 512 bits. */
#ifdef ULB_DP_512
#define ULB_BY_WIDTH(narrow, wide) (wide)
#else
#define ULB_BY_WIDTH(narrow, wide) (narrow)
#endif
/* What it has for 16-bit sums, and what for dot products. */
#if ULB_S16_SUMS
#define ULB_BY_SUMS(words, dots) (words)
#else
#define ULB_BY_SUMS(words, dots) (dots)
#endif

/* What it has in VEX, and what in EVEX, with 32 registers and logic of three operands, vpternlogd. */
#if defined(ULB_DP_EVEX) || defined(ULB_DP_512)
#define ULB_BY_ENCODING(vex, evex) (evex)
#else
#define ULB_BY_ENCODING(vex, evex) (vex)
#endif

/* Steps of 4 columns between two ulb_widen_s16(), of codes 0..largest: a power of two. */
#define ULB_S16_STEPS(largest)                                                                               \
    (127 / (largest) >= 16  ? 16                                                                             \
     : 127 / (largest) >= 8 ? 8                                                                              \
     : 127 / (largest) >= 4 ? 4                                                                              \
     : 127 / (largest) >= 2 ? 2                                                                              \
                            : 1)

#if ULB_S16_SUMS

/* One statement: compilers reorder additions, and keep all products of a block in memory until then. */
static inline void ulb_dot(ulb_vec *sums, ulb_vec codes, ulb_vec x)
{
    ulb_vec pairs;
    __asm__("vpmaddubsw %[x], %[codes], %[pairs]\n\tvpaddw %[pairs], %[sum], %[sum]"
            : [sum] "+x"(*sums), [pairs] "=&x"(pairs)
            : [codes] "x"(codes), [x] "x"(x));
}

/* *sums += products of neighbouring words, two to a lane. */
static inline void ulb_dot_s16(ulb_vec *sums, ulb_vec a, ulb_vec b)
{
    *sums = _mm256_add_epi32(*sums, _mm256_madd_epi16(a, b));
}

/* The sums as int32. */
static inline ulb_vec ulb_widen_s16(ulb_vec sums)
{
    return _mm256_madd_epi16(sums, _mm256_set1_epi16(1));
}

static inline void ulb_add_s16(ulb_vec words, ulb_vec *sum)
{
    *sum = ulb_add32(*sum, ulb_widen_s16(words));
}

/* sums[0] += low nibbles of the bytes at w, sums[1] += high nibbles. One statement: see
 * kernels/x86/simd/vnni.h.
 */
static inline void ulb_dot_nibbles(ulb_vec *sums, const uint8_t *w, ulb_vec x)
{
    ulb_vec low, high;
    __asm__("vmovdqu %[w], %[low]\n\t"
            "vpsrlw $4, %[low], %[high]\n\t"
            "vpand %[nibble], %[low], %[low]\n\t"
            "vpand %[nibble], %[high], %[high]\n\t"
            "vpmaddubsw %[x], %[low], %[low]\n\t"
            "vpmaddubsw %[x], %[high], %[high]\n\t"
            "vpaddw %[low], %[s0], %[s0]\n\t"
            "vpaddw %[high], %[s1], %[s1]"
            : [s0] "+x"(sums[0]), [s1] "+x"(sums[1]), [low] "=&x"(low), [high] "=&x"(high)
            : [w] "m"(*(const uint8_t(*)[ULB_VEC_BYTES])w), [x] "x"(x), [nibble] "x"(ulb_all8(0x0F)));
}

/* sums[i] += the fields of two bits from bit 2 i on; those of 1 and 3 stay where they are in a nibble, 4
 * times too large. */
static inline void ulb_dot_two_bit(ulb_vec *sums, const uint8_t *w, ulb_vec x)
{
    ulb_vec packed, field;
    __asm__("vmovdqu %[w], %[packed]\n\t" ULB_ASM_FIELD("low", "s0")
                ULB_ASM_FIELD("high", "s1") "vpsrlw $4, %[packed], %[packed]\n\t" ULB_ASM_FIELD("low", "s2")
                    ULB_ASM_FIELD("high", "s3")
            : [s0] ULB_SUM(sums[0]), [s1] ULB_SUM(sums[1]), [s2] ULB_SUM(sums[2]), [s3] ULB_SUM(sums[3]),
              [packed] ULB_SCRATCH(packed), [field] ULB_SCRATCH(field)
            : [w] ULB_WEIGHTS(w), [x] "x"(x), [low] "x"(ulb_all8(0x03)), [high] "x"(ulb_all8(0x0C)));
}

#else

static inline void ulb_dot(ulb_vec *sums, ulb_vec codes, ulb_vec x)
{
    ulb_dp(sums, codes, x);
}

static inline void ulb_dot_s16(ulb_vec *sums, ulb_vec a, ulb_vec b)
{
    ulb_dp_s16(sums, a, b);
}

static inline ulb_vec ulb_widen_s16(ulb_vec sums)
{
    return sums;
}

#endif

/* Tokens of a register tile of so many whose activations are in registers. At 512 bits 24 sums leave room for
 * those of two; products load the others', ulb_dot_at(): with the codes' 20 loads for 24 products, where a
 * core has time for as many of both: Zen 5, 16 tokens, 0.78 (TQ2_0) to 0.90 (Q4_0) of the time with all of
 * them in registers, IQ4_NL as long. */
#define ULB_TOKENS_KEPT(tokens) ULB_BY_WIDTH(tokens, ((tokens) + 1) / 2)

/* sums += products of codes and the 4 activations at x in every lane. */
static inline void ulb_dot_at(ulb_vec *sums, ulb_vec codes, const int8_t *x)
{
#ifdef ULB_DP_512
    __asm__(ULB_DP_INSTRUCTION " %2%{1to16%}, %1, %0"
            : ULB_SUM(*sums)
            : ULB_REGISTER(codes), ULB_ACTIVATIONS(x));
#else
    ulb_dot(sums, codes, ulb_broadcast4(x));
#endif
}

#endif
