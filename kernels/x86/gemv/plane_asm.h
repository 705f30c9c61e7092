/* One step of a plane of codes (kernels/x86/gemv/planes.h): its four columns of eight vectors of rows are
 * added to 8 sums. All 8 are one assembler statement: see kernels/x86/simd/dot.h. */
#ifndef ULB_KERNELS_X86_GEMV_PLANE_ASM_H
#define ULB_KERNELS_X86_GEMV_PLANE_ASM_H

#include "kernels/x86/simd/dot.h"

enum { ULB_PLANE_VECTORS = 8 /* of rows */ };

/* Loads vector i of the step's bytes and prefetches for the line that begins there. The prefetches of the
 * first vector come before the statement. At 256 bits odd vectors begin no line. Distances are registers, so
 * that one statement can prefetch into L1 and L2, or into L2 only. In the latter case the first prefetch is
 * for a line that is being loaded, and has no effect. */
#define ULB_PLANE_ASM_PREFETCH(at) "prefetcht0 " at "(%[w], %[l1])\n\tprefetcht1 " at "(%[w], %[l2])\n\t"
#ifdef ULB_DP_512
#define ULB_PLANE_AT(i)           "64*" #i "(%[w])"
#define ULB_PLANE_PREFETCH(i)     ULB_PLANE_ASM_PREFETCH("64*" #i)
#define ULB_PLANE_PREFETCH_ODD(i) ULB_PLANE_PREFETCH(i)
#else
#define ULB_PLANE_AT(i)           "32*" #i "(%[w])"
#define ULB_PLANE_PREFETCH(i)     ULB_PLANE_ASM_PREFETCH("32*" #i)
#define ULB_PLANE_PREFETCH_ODD(i) ""
#endif
#define ULB_PLANE_SUM(s) "%[s" #s "]"

/* Operands of a statement that prefetches; of 1 bit it does not, and has as many operands as there may be. */
#define ULB_PLANE_DISTANCES , [l1] "r"(distances->l1_distance), [l2] "r"(distances->l2_distance)

#if ULB_S16_SUMS

/* A field is shifted down; its products go into 16-bit sums. */
#define ULB_PLANE_LOAD(i) "vmovdqu " ULB_PLANE_AT(i) ", %[packed]\n\t"
#define ULB_PLANE_ADD(s)                                                                                     \
    "vpmaddubsw %[x], %[field], %[field]\n\tvpaddw %[field], " ULB_PLANE_SUM(s) ", " ULB_PLANE_SUM(s) "\n\t"
#define ULB_PLANE_FIRST(s) "vpand %[m0], %[packed], %[field]\n\t" ULB_PLANE_ADD(s)
#define ULB_PLANE_FIELD(bit, s)                                                                              \
    "vpsrlw $" #bit ", %[packed], %[field]\n\tvpand %[m0], %[field], %[field]\n\t" ULB_PLANE_ADD(s)
#define ULB_PLANE_LAST(bit, s) ULB_PLANE_FIELD(bit, s)
/* Products of |code - 128| and x with the sign of code - 128. A pair of products fills 16 bits and is
 * widened. */
#define ULB_PLANE_BYTE(s)                                                                                    \
    "vpxor " ULB_PLANE_AT(s) ", %[m0], %[packed]\n\t"                                                        \
                             "vpsignb %[packed], %[x], %[field]\n\t"                                         \
                             "vpabsb %[packed], %[packed]\n\t"                                               \
                             "vpmaddubsw %[field], %[packed], %[field]\n\t"                                  \
                             "vpmaddwd %[ones], %[field], %[field]\n\t"                                      \
                             "vpaddd %[field], " ULB_PLANE_SUM(s) ", " ULB_PLANE_SUM(s) "\n\t"

#define ULB_PLANE_MASK(bits) , [m0] "x"(ulb_all8((1 << (bits)) - 1))
#define ULB_PLANE_MASKS_1    ULB_PLANE_MASK(1)
#define ULB_PLANE_MASKS_2    ULB_PLANE_MASK(2) ULB_PLANE_DISTANCES
#define ULB_PLANE_MASKS_4    ULB_PLANE_MASK(4) ULB_PLANE_DISTANCES
#define ULB_PLANE_MASKS_8    , [m0] "x"(ulb_all8(-128)), [ones] "x"(_mm256_set1_epi16(1))ULB_PLANE_DISTANCES

#else

/* A field stays at its place; the last is the whole byte (ulb_separate_fields). */
#define ULB_PLANE_LOAD(i)       ULB_MOVE " " ULB_PLANE_AT(i) ", %[packed]\n\t"
#define ULB_PLANE_FIELD(bit, s) ULB_AND " %[m" #bit "], %[packed], %[field]\n\t" ULB_ASM_DP("field", "s" #s)
#define ULB_PLANE_FIRST(s)      ULB_PLANE_FIELD(0, s)
#define ULB_PLANE_LAST(bit, s)  ULB_ASM_DP("packed", "s" #s)
#define ULB_PLANE_BYTE(s)       ULB_PLANE_LOAD(s) ULB_ASM_DP("packed", "s" #s)

static const ulb_vec ulb_plane_masks_1[] = {ULB_BYTES(1),  ULB_BYTES(2),  ULB_BYTES(4), ULB_BYTES(8),
                                            ULB_BYTES(16), ULB_BYTES(32), ULB_BYTES(64)};
static const ulb_vec ulb_plane_masks_2[] = {ULB_BYTES(3), ULB_BYTES(12), ULB_BYTES(48)};

#define ULB_PLANE_MASK(bits, at) , [m##at] ULB_MASK(ulb_plane_masks_##bits[(at) / (bits)])
/* clang-format off */
#define ULB_PLANE_MASKS_1 \
    ULB_PLANE_MASK(1, 0) ULB_PLANE_MASK(1, 1) ULB_PLANE_MASK(1, 2) ULB_PLANE_MASK(1, 3) \
    ULB_PLANE_MASK(1, 4) ULB_PLANE_MASK(1, 5) ULB_PLANE_MASK(1, 6)
#define ULB_PLANE_MASKS_2 \
    ULB_PLANE_MASK(2, 0) ULB_PLANE_MASK(2, 2) ULB_PLANE_MASK(2, 4) ULB_PLANE_DISTANCES
#define ULB_PLANE_MASKS_4 , [m0] ULB_KEPT(ulb_all8(15)) ULB_PLANE_DISTANCES
#define ULB_PLANE_MASKS_8 ULB_PLANE_DISTANCES
/* clang-format on */

#endif

/* clang-format off */
#define ULB_PLANE_1 \
    ULB_PLANE_LOAD(0) ULB_PLANE_FIRST(0) ULB_PLANE_FIELD(1, 1) ULB_PLANE_FIELD(2, 2) ULB_PLANE_FIELD(3, 3) \
    ULB_PLANE_FIELD(4, 4) ULB_PLANE_FIELD(5, 5) ULB_PLANE_FIELD(6, 6) ULB_PLANE_LAST(7, 7)
#define ULB_PLANE_2 \
    ULB_PLANE_LOAD(0) ULB_PLANE_FIRST(0) ULB_PLANE_FIELD(2, 1) ULB_PLANE_FIELD(4, 2) ULB_PLANE_LAST(6, 3) \
    ULB_PLANE_PREFETCH_ODD(1) \
    ULB_PLANE_LOAD(1) ULB_PLANE_FIRST(4) ULB_PLANE_FIELD(2, 5) ULB_PLANE_FIELD(4, 6) ULB_PLANE_LAST(6, 7)
#define ULB_PLANE_4 \
    ULB_PLANE_LOAD(0) ULB_PLANE_FIRST(0) ULB_PLANE_LAST(4, 1) \
    ULB_PLANE_PREFETCH_ODD(1) ULB_PLANE_LOAD(1) ULB_PLANE_FIRST(2) ULB_PLANE_LAST(4, 3) \
    ULB_PLANE_PREFETCH(2) ULB_PLANE_LOAD(2) ULB_PLANE_FIRST(4) ULB_PLANE_LAST(4, 5) \
    ULB_PLANE_PREFETCH_ODD(3) ULB_PLANE_LOAD(3) ULB_PLANE_FIRST(6) ULB_PLANE_LAST(4, 7)
#define ULB_PLANE_8 \
    ULB_PLANE_BYTE(0) ULB_PLANE_PREFETCH_ODD(1) ULB_PLANE_BYTE(1) \
    ULB_PLANE_PREFETCH(2) ULB_PLANE_BYTE(2) ULB_PLANE_PREFETCH_ODD(3) ULB_PLANE_BYTE(3) \
    ULB_PLANE_PREFETCH(4) ULB_PLANE_BYTE(4) ULB_PLANE_PREFETCH_ODD(5) ULB_PLANE_BYTE(5) \
    ULB_PLANE_PREFETCH(6) ULB_PLANE_BYTE(6) ULB_PLANE_PREFETCH_ODD(7) ULB_PLANE_BYTE(7)

#define ULB_PLANE_SUM_OPERAND(i) [s##i] "+" ULB_REGISTER(sums[i])
#define ULB_PLANE_STATEMENT(bits) \
    __asm__("vpbroadcastd %[x4], %[x]\n\t" ULB_PLANE_##bits \
            : ULB_PLANE_SUM_OPERAND(0), ULB_PLANE_SUM_OPERAND(1), ULB_PLANE_SUM_OPERAND(2), \
              ULB_PLANE_SUM_OPERAND(3), ULB_PLANE_SUM_OPERAND(4), ULB_PLANE_SUM_OPERAND(5), \
              ULB_PLANE_SUM_OPERAND(6), ULB_PLANE_SUM_OPERAND(7), [packed] "=&" ULB_REGISTER(packed), \
              [field] "=&" ULB_REGISTER(field), [x] "=&" ULB_REGISTER(x4) \
            : [w] "r"(w), [x4] "m"(*(const int8_t(*)[4])x), \
              "m"(*(const uint8_t(*)[(bits)*ULB_VEC_BYTES])w) ULB_PLANE_MASKS_##bits)
/* clang-format on */

/* Bytes ahead of the prefetches into L1 and L2; 0: the line itself. */
struct ulb_plane_prefetch {
    size_t l1_distance, l2_distance;
};

/* sums[8] += products of a step. bits: of the plane, 1, 2, 4 or 8. begins: whether a line begins at w, a
 * constant. */
static inline __attribute__((always_inline)) void
ulb_add_plane_step(unsigned bits, const uint8_t *w, const int8_t *x,
                   const struct ulb_plane_prefetch *distances, bool begins, ulb_vec *sums)
{
    ulb_vec packed, field, x4;
    if (begins)
        __asm__ volatile(ULB_PLANE_PREFETCH(0)
                         : "+" ULB_REGISTER(sums[0])
                         : [w] "r"(w), [l1] "r"(distances->l1_distance), [l2] "r"(distances->l2_distance));
    if (bits == 8)
        ULB_PLANE_STATEMENT(8);
    else if (bits == 4)
        ULB_PLANE_STATEMENT(4);
    else if (bits == 2)
        ULB_PLANE_STATEMENT(2);
    else
        ULB_PLANE_STATEMENT(1);
}

#endif
