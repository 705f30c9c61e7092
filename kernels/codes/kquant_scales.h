/* The 6-bit scales and minima of GGUF's Q4_K and Q5_K: eight of each in 12 bytes. Bytes 0-3 hold scales 0-3,
 * bytes 4-7 hold minima 0-3. Bytes 8-11 hold the low nibbles of scales 4-7 (low) and minima 4-7 (high). The
 * two upper bits of these are the top bits of bytes 0-3 and 4-7. */
#ifndef ULB_KERNELS_CODES_KQUANT_SCALES_H
#define ULB_KERNELS_CODES_KQUANT_SCALES_H

#include <stdint.h>

static inline void ulb_k_scales_encode(const int16_t scale[8], const int16_t min[8], uint8_t bytes[12])
{
    for (int i = 0; i < 4; i++) {
        bytes[i] = (uint8_t)(scale[i] | scale[i + 4] >> 4 << 6);
        bytes[i + 4] = (uint8_t)(min[i] | min[i + 4] >> 4 << 6);
        bytes[i + 8] = (uint8_t)((scale[i + 4] & 15) | (min[i + 4] & 15) << 4);
    }
}

static inline void ulb_k_scales_decode(const uint8_t bytes[12], int16_t scale[8], int16_t min[8])
{
    for (int i = 0; i < 4; i++) {
        scale[i] = bytes[i] & 63;
        min[i] = bytes[i + 4] & 63;
        scale[i + 4] = (int16_t)((bytes[i + 8] & 15) | bytes[i] >> 6 << 4);
        min[i + 4] = (int16_t)(bytes[i + 8] >> 4 | bytes[i + 4] >> 6 << 4);
    }
}

#endif
