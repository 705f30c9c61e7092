/* Nibbles that stand for entries of a table of 16 int8 values: looked up, then multiplied as whole bytes. */
#ifndef ULB_KERNELS_X86_TABLE_CODES_H
#define ULB_KERNELS_X86_TABLE_CODES_H

#include "kernels/x86/codes.h"

/* The entries of both nibbles of each byte; entries holds them as the build multiplies them. */
static inline void ulb_look_up_nibbles(const uint8_t *w, ulb_vec entries, ulb_vec *low, ulb_vec *high)
{
    ulb_vec bytes = ulb_load(w), nibble = ulb_all8(15);
    *low = ulb_look_up(entries, ulb_and(bytes, nibble));
    *high = ulb_look_up(entries, ulb_and(ulb_shr16(bytes, 4), nibble));
}

#endif
