/* Defines the kernel of Q4_K and of Q5_K in place. A file includes this header at its end. The file defines a
 * function codes() and the constants BLOCK, the struct of a block, and LAYOUT, LARGEST and MIX
 * (kernels/x86/gguf_inplace_kernel.h). */
#ifndef ULB_KERNELS_FORMATS_Q4_K_IN_PLACE_H
#define ULB_KERNELS_FORMATS_Q4_K_IN_PLACE_H

#include "kernels/x86/gguf_inplace_256.h"

#include <stddef.h>

#define ACTIVATION  ULB_ACT_Q8_K
#define BLOCK_BYTES sizeof(BLOCK)
#define GROUP       ULB_K_GROUP
#define ZERO_POINT  0
#define SCALES      ULB_UNSIGNED_SCALES
#define MINIMA      ULB_BYTE_MINIMA

static inline __m128i scales(const uint8_t *block)
{
    return ulb_k_scales(block + offsetof(BLOCK, head.scales));
}

static const struct ulb_long format = {.bytes = BLOCK_BYTES,
                                       .d_at = offsetof(BLOCK, head.d),
                                       .scales = scales,
                                       .minima = MINIMA,
                                       .codes = codes};

#include "kernels/x86/gguf_inplace_kernel.h"

#endif
