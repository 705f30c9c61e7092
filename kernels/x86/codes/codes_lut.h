/* Nibbles that stand for entries of a table of 16 int8 values: looked up, then multiplied as whole bytes. */
#ifndef ULB_KERNELS_X86_CODES_CODES_LUT_H
#define ULB_KERNELS_X86_CODES_CODES_LUT_H

#include "kernels/x86/codes/codes.h"

/* The entries of both nibbles of each byte; entries holds them as the build multiplies them. One statement:
 * compilers bring the loads of a step together. */
static inline void ulb_look_up_nibbles(const uint8_t *w, ulb_vec entries, ulb_vec *low, ulb_vec *high)
{
    __asm__(ULB_MOVE
            " %[w], %[low]\n\tvpsrlw $4, %[low], %[high]\n\t" /* clang-format off */
            ULB_AND " %[nibble], %[low], %[low]\n\t" ULB_AND " %[nibble], %[high], %[high]\n\t"
            "vpshufb %[low], %[entries], %[low]\n\tvpshufb %[high], %[entries], %[high]" /* clang-format on */
            : [low] ULB_SCRATCH(*low), [high] ULB_SCRATCH(*high)
            : [w] ULB_WEIGHTS(w), [entries] ULB_REGISTER(entries), [nibble] ULB_REGISTER(ulb_all8(15)));
}

/* struct ulb_codes' operand: entries of low nibbles, of high ones. */
static inline __attribute__((always_inline)) ulb_vec ulb_operand_entries(const ulb_vec *packed, size_t i,
                                                                         ulb_vec entries)
{
    return ulb_look_up(entries, ulb_and(i ? ulb_shr16(packed[0], 4) : packed[0], ulb_all8(15)));
}

#endif
