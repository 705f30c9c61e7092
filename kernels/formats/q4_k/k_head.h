/* The head of a block of Q4_K and of Q5_K. Each of its eight groups of 32 columns has a scale and a minimum
 * of 6 bits (kernels/codes/kquant_scales.h). Their units are in half precision. */
#ifndef ULB_KERNELS_FORMATS_Q4_K_K_HEAD_H
#define ULB_KERNELS_FORMATS_Q4_K_K_HEAD_H

#include "common/fp16.h"
#include "kernels/codes/kquant_scales.h"
#include "kernels/gguf_block.h"

enum { ULB_K_GROUP = 32, ULB_K_SCALE_MAX = 63 };

/* As in a file. */
struct ulb_k_head {
    uint16_t d, dmin;
    uint8_t scales[12];
};

static inline struct ulb_k_head ulb_k_head_encode(const struct ulb_block_values *values)
{
    struct ulb_k_head head = {.d = ulb_fp16_from_float(values->d), .dmin = ulb_fp16_from_float(values->dmin)};
    ulb_k_scales_encode(values->scale, values->min, head.scales);
    return head;
}

static inline void ulb_k_head_decode(const struct ulb_k_head *head, struct ulb_block_values *values)
{
    values->d = ulb_fp16_to_float(head->d);
    values->dmin = ulb_fp16_to_float(head->dmin);
    ulb_k_scales_decode(head->scales, values->scale, values->min);
}

/* The fields of struct ulb_block; of a file that has these three functions. */
#define ULB_K_BLOCK(block_columns, block_bytes)                                                              \
    .columns = (block_columns), .bytes = (block_bytes), .group = ULB_K_GROUP, .scale_max = ULB_K_SCALE_MAX,  \
    .min_max = ULB_K_SCALE_MAX, .d = ULB_SCALE_HALF, .encode = encode, .decode = decode,                     \
    .quantise = quantise

#endif
