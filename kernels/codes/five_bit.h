/* The 5-bit codes of GGUF's Q5_0 and Q5_1, 32 columns. Bits 0-3 are nibbles: columns 0-15 low, columns 16-31
 * high. Bit 4 of column k is bit k of four bytes. */
#ifndef ULB_KERNELS_CODES_FIVE_BIT_H
#define ULB_KERNELS_CODES_FIVE_BIT_H

#include "kernels/codes/four_bit.h"

#include <string.h>

static inline void ulb_five_bits_encode(const int16_t q[32], int zero_point, uint8_t qs[16], uint8_t qh[4])
{
    memset(qh, 0, 4);
    ulb_nibbles_encode(q, zero_point, qs);
    for (int k = 0; k < 32; k++)
        qh[k / 8] = (uint8_t)(qh[k / 8] | (q[k] + zero_point) >> 4 << k % 8);
}

static inline void ulb_five_bits_decode(const uint8_t qs[16], const uint8_t qh[4], int zero_point,
                                        int16_t q[32])
{
    uint32_t high;
    memcpy(&high, qh, sizeof high);
    ulb_nibbles_decode(qs, zero_point, q);
    for (int k = 0; k < 32; k++)
        q[k] = (int16_t)(q[k] + (int)(high >> k & 1) * 16);
}

#endif
