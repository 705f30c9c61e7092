/* Single precision cut into three bfloat16 of 8 bits whose sum it is exactly. */
#ifndef ULB_KERNELS_FORMATS_BF16_PARTS_H
#define ULB_KERNELS_FORMATS_BF16_PARTS_H

#include <stdint.h>

enum { ULB_BF16_PARTS = 3 };

/* Takes the next part, the leading 8 bits of the rest. */
static inline uint16_t ulb_bf16_part(float *rest)
{
    uint32_t bits;
    float part;
    __builtin_memcpy(&bits, rest, sizeof bits);
    uint16_t leading = (uint16_t)(bits >> 16);
    bits &= 0xFFFF0000;
    __builtin_memcpy(&part, &bits, sizeof part);
    *rest -= part;
    return leading;
}

#endif
