/* bfloat16: the upper half of an IEEE single. */
#ifndef ULB_COMMON_BF16_H
#define ULB_COMMON_BF16_H

#include <stdint.h>
#include <string.h>

static inline float ulb_bf16_to_float(uint16_t half)
{
    uint32_t bits = (uint32_t)half << 16;
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* Round to nearest even; NaN stays NaN. */
static inline uint16_t ulb_bf16_from_float(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    if ((bits & 0x7FFFFFFFu) > 0x7F800000u)
        return (uint16_t)((bits >> 16) | 0x40u);
    return (uint16_t)((bits + 0x7FFFu + ((bits >> 16) & 1u)) >> 16);
}

#endif
