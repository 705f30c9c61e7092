/* Eight 3-bit codes in three bytes A, B, C, `distance` bytes apart. A holds codes 0 and 1, B codes 2 and 3, C
 * codes 4 and 5. Code 6: its low bits are bits 6-7 of A, its top bit is bit 6 of C. Code 7: its low bits are
 * bits 6-7 of B, its top bit is bit 7 of C. */
#ifndef ULB_KERNELS_CODES_THREE_BIT_H
#define ULB_KERNELS_CODES_THREE_BIT_H

#include <stddef.h>
#include <stdint.h>

static inline void ulb_three_bit_pack(const unsigned code[8], size_t distance, uint8_t *a)
{
    a[0] = (uint8_t)(code[0] | code[1] << 3 | code[6] << 6);
    a[distance] = (uint8_t)(code[2] | code[3] << 3 | code[7] << 6);
    a[2 * distance] = (uint8_t)(code[4] | code[5] << 3 | code[6] >> 2 << 6 | code[7] >> 2 << 7);
}

static inline void ulb_three_bit_unpack(const uint8_t *bytes, size_t distance, unsigned code[8])
{
    unsigned a = bytes[0], b = bytes[distance], c = bytes[2 * distance];
    code[0] = a & 7;
    code[1] = a >> 3 & 7;
    code[2] = b & 7;
    code[3] = b >> 3 & 7;
    code[4] = c & 7;
    code[5] = c >> 3 & 7;
    code[6] = a >> 6 | (c >> 6 & 1) << 2;
    code[7] = b >> 6 | c >> 7 << 2;
}

#endif
