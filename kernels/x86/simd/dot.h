/* Sums of products of codes and int8 activations, four columns of a row in a lane. The build of the file
 * selects the instruction:
 *   ULB_DP_VEX     vpdpbusd, AVX-VNNI           256 bits, unsigned weights x signed activations.
 *   ULB_DP_EVEX    vpdpbusd, AVX-512 VNNI + VL  the same on CPUs without the VEX form (Ice Lake, Zen 4).
 *   ULB_DP_512     vpdpbusd, AVX-512 VNNI       512 bits.
 *   ULB_DP_SIGNED  vpdpbssd, AVX-VNNI-INT8      256 bits, signed x signed.
 *   none           vpmaddubsw, AVX2             256 bits, unsigned x signed, two 16-bit sums per lane.
 *
 * Unsigned forms hold code = value + zero point. The caller subtracts zero point * sum(x), which
 * ULB_DP_ZERO(zp) gives; it is 0 for the signed form. The four dot products do not saturate: exact modulo
 * 2^32. 16-bit sums hold a limited number of steps. ulb_widen_s16() then turns them into int32.
 * A step adds at most 256 C for codes <= C and `|x| <= 128`, so that 127 / C steps fit. */
#ifndef ULB_KERNELS_X86_SIMD_DOT_H
#define ULB_KERNELS_X86_SIMD_DOT_H

#include "kernels/x86/simd/vec.h"

#if defined(ULB_DP_VEX) || defined(ULB_DP_EVEX) || defined(ULB_DP_512) || defined(ULB_DP_SIGNED)
#define ULB_S16_SUMS 0

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

/* sums += dot products of four neighbouring bytes. It uses the assembler for two reasons. GCC 12 copies the
 * accumulators of the intrinsic from register to register in every step. No compiler of that age has an
 * intrinsic for vpdpbssd. */
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

/* A step whose accumulators fill the registers is one assembler statement: compilers that see single
 * instructions copy and spill accumulators. The parts of such statements: */
#if defined(ULB_DP_VEX) || defined(ULB_DP_SIGNED)
#define ULB_MOVE          "vmovdqu"
#define ULB_AND           "vpand"
#define ULB_MASK(mask)    "m"(mask) /* 16 registers: accumulators need them */
#define ULB_MASK_LOADS(n) (n)       /* loads for n uses of masks, in an instruction mix */
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

/* sums += dot products of weights from memory. It is one statement, so that the load stays next to its
 * use. */
static inline void ulb_dp_at(ulb_vec *sums, const uint8_t *weights, ulb_vec x)
{
    ulb_vec w;
    __asm__(ULB_MOVE " %2, %1\n\t" ULB_DP_INSTRUCTION " %3, %1, %0"
            : ULB_SUM(*sums), ULB_SCRATCH(w)
            : ULB_WEIGHTS(weights), ULB_REGISTER(x));
}

/* Turns sums of a byte's fields, each in its place in the byte, into sums of the fields. sums[j] is x.(w &
 * mask_j) = 2^(bits j) S_j for all but the last. The last is x.w, the whole byte. All divisions are exact,
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

#else

#define ULB_S16_SUMS 1
#define ULB_REGISTER "x"
/* Parts of steps that are one assembler statement, as above. The multiplied register is overwritten. */
#define ULB_MOVE     "vmovdqu"
#define ULB_AND      "vpand"
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

/* Steps of four columns between two ulb_widen_s16(), for codes 0..largest: a power of two. */
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

/* sums[0] += low nibbles of the bytes at w, sums[1] += high nibbles. One statement, as
 * above. */
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

/* sums[i] += the fields of two bits from bit 2 i. Fields 1 and 3 stay in their places in a nibble, four times
 * too large. */
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

#ifndef ULB_DP_SIGNED
static inline void ulb_dot_s16(ulb_vec *sums, ulb_vec a, ulb_vec b)
{
    ulb_dp_s16(sums, a, b);
}
#endif

static inline ulb_vec ulb_widen_s16(ulb_vec sums)
{
    return sums;
}

#endif

/* Tokens of a register tile whose activations are in registers. At 512 bits 24 sums leave room for two
 * tokens. Products load the activations of the others, ulb_dot_at(). With the loads of codes these are nearly
 * as many loads as products, which a core can issue side by side. */
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
