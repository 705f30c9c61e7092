/* The epilogue of the kernels that triple bytes (see triple.c). */
#ifndef ULB_KERNELS_FORMATS_TERN1_6_DIGITS_H
#define ULB_KERNELS_FORMATS_TERN1_6_DIGITS_H

#include "kernels/formats/tern1_6/format.h"
#include "kernels/x86/simd/vec.h"

/* sums[i] = (3 sums[i] - sums[i + 1]) / 256. The numerator exceeds 32 bits. It is therefore computed in two
 * parts, from quotients by 256 and from remainders; the second part divides without remainder too. */
static inline __attribute__((always_inline)) void ulb_digit_sums(ulb_vec *sums)
{
    ulb_vec low = ulb_all32(255);
#pragma GCC unroll 8
    for (int i = 0; i < ULB_TERN1_6_DIGITS; i++) {
        ulb_vec quotient = ulb_asr32(sums[i], 8), rest = ulb_and(sums[i], low);
        ulb_vec next_quotient = ulb_asr32(sums[i + 1], 8), next_rest = ulb_and(sums[i + 1], low);
        ulb_vec quotients = ulb_sub32(ulb_add32(ulb_add32(quotient, quotient), quotient), next_quotient);
        ulb_vec rests = ulb_sub32(ulb_add32(ulb_add32(rest, rest), rest), next_rest);
        sums[i] = ulb_add32(quotients, ulb_asr32(rests, 8));
    }
}

#endif
