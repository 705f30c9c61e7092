/* Two-bit fields of 256 columns, as in most of GGUF's blocks: 32 bytes for each 128 columns. Byte m holds
 * columns m, m + 32, m + 64 and m + 96, the first in the lowest bits. */
#ifndef ULB_KERNELS_CODES_TWO_BIT_H
#define ULB_KERNELS_CODES_TWO_BIT_H

#include <stdint.h>

static inline int16_t ulb_two_bit_get(const uint8_t bytes[64], unsigned k)
{
    return (int16_t)(bytes[k / 128 * 32 + k % 32] >> k / 32 % 4 * 2 & 3);
}

/* The bytes must begin as 0. */
static inline void ulb_two_bit_set(uint8_t bytes[64], unsigned k, unsigned code)
{
    uint8_t *byte = &bytes[k / 128 * 32 + k % 32];
    *byte = (uint8_t)(*byte | code << k / 32 % 4 * 2);
}

#endif
