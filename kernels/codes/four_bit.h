/* The 4-bit codes of GGUF's blocks of 32 columns: columns 0-15 in the low nibbles of 16 bytes, 16-31 in the
 * high nibbles. */
#ifndef ULB_KERNELS_CODES_FOUR_BIT_H
#define ULB_KERNELS_CODES_FOUR_BIT_H

#include <stdint.h>

static inline void ulb_nibbles_encode(const int16_t q[32], int zero_point, uint8_t qs[16])
{
    for (int i = 0; i < 16; i++)
        qs[i] = (uint8_t)(((q[i] + zero_point) & 15) | ((q[i + 16] + zero_point) & 15) << 4);
}

static inline void ulb_nibbles_decode(const uint8_t qs[16], int zero_point, int16_t q[32])
{
    for (int i = 0; i < 16; i++) {
        q[i] = (int16_t)((qs[i] & 15) - zero_point);
        q[i + 16] = (int16_t)((qs[i] >> 4) - zero_point);
    }
}

#endif
