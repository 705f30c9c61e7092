/* IEEE half precision. */
#ifndef ULB_COMMON_FP16_H
#define ULB_COMMON_FP16_H

#include <stdint.h>
#include <string.h>

/* Exact; infinities and NaNs stay what they are. */
static inline float ulb_fp16_to_float(uint16_t half)
{
    uint32_t sign = (uint32_t)(half & 0x8000u) << 16, rest = half & 0x7FFFu, bits;
    float value;
    if (rest < 0x0400u) { /* zero and subnormals: multiples of 2^-24 */
        value = (float)rest * 0x1p-24f;
        memcpy(&bits, &value, sizeof bits);
    } else {
        bits = (rest << 13) + (rest < 0x7C00u ? (127u - 15u) << 23 : (255u - 31u) << 23);
    }
    bits |= sign;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* Round to nearest even; what is too large becomes infinite; NaN stays NaN. */
static inline uint16_t ulb_fp16_from_float(float value)
{
    uint32_t bits, magnitude;
    memcpy(&bits, &value, sizeof bits);
    uint16_t sign = (uint16_t)(bits >> 16 & 0x8000u);
    magnitude = bits & 0x7FFFFFFFu;
    if (magnitude > 0x7F800000u)
        return (uint16_t)(sign | 0x7E00u);
    if (magnitude >= 0x47800000u) /* 2^16 */
        return (uint16_t)(sign | 0x7C00u);
    if (magnitude < 0x38800000u) { /* below 2^-14: adding 2^-1 leaves multiples of 2^-24 in the mantissa */
        float rounded;
        memcpy(&rounded, &magnitude, sizeof rounded);
        rounded += 0.5f;
        memcpy(&magnitude, &rounded, sizeof magnitude);
        return (uint16_t)(sign | (magnitude - 0x3F000000u));
    }
    magnitude -= (127u - 15u) << 23;
    return (uint16_t)(sign | ((magnitude + 0x0FFFu + (magnitude >> 13 & 1u)) >> 13));
}

#endif
