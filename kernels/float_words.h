/* Numbers of floating formats as the 16-bit words of a matrix. */
#ifndef ULB_KERNELS_FLOAT_WORDS_H
#define ULB_KERNELS_FLOAT_WORDS_H

#include "common/bf16.h"
#include "common/fp16.h"
#include "kernels/kernel.h"

/* Words of one weight: 1 for everything but single precision. */
static inline size_t ulb_words(const struct ulb_format *format)
{
    return format->floating && format->kind == ULB_FP32 ? 2 : 1;
}

static inline float ulb_float_of(enum ulb_float_kind kind, const void *pattern)
{
    uint16_t half;
    float value;
    memcpy(&half, pattern, sizeof half);
    if (kind == ULB_FP32)
        memcpy(&value, pattern, sizeof value);
    else
        value = kind == ULB_BF16 ? ulb_bf16_to_float(half) : ulb_fp16_to_float(half);
    return value;
}

/* Rounds to the nearest pattern. */
static inline void ulb_float_set(enum ulb_float_kind kind, float value, void *pattern)
{
    uint16_t half = kind == ULB_BF16 ? ulb_bf16_from_float(value) : ulb_fp16_from_float(value);
    if (kind == ULB_FP32)
        memcpy(pattern, &value, sizeof value);
    else
        memcpy(pattern, &half, sizeof half);
}

#endif
