/* Q2_K in place. */
#include "kernels/formats/q2_k/format.h"
#include "kernels/x86/gguf_inplace_256.h"

#include <stddef.h>

static inline __m128i scales(const uint8_t *block)
{
    return _mm_loadu_si128((const __m128i *)(block + offsetof(struct ulb_q2_k, scales)));
}

static inline __m256i codes(const uint8_t *block, size_t unit)
{
    return ulb_unit_two_bit(block + offsetof(struct ulb_q2_k, qs), unit, 0);
}

#define LAYOUT      ulb_q2_k_in_place
#define ACTIVATION  ULB_ACT_Q8_K
#define BLOCK_BYTES sizeof(struct ulb_q2_k)
#define GROUP       16
#define ZERO_POINT  0
#define SCALES      ULB_UNSIGNED_SCALES
#define MINIMA      ULB_NIBBLE_MINIMA
#define LARGEST     3
#define MIX         ULB_LONG_MIX(0.5, 1, 0.75, 0, 0, 16, 1)

static const struct ulb_long format = {.bytes = BLOCK_BYTES,
                                       .d_at = offsetof(struct ulb_q2_k, d),
                                       .scales = scales,
                                       .minima = MINIMA,
                                       .codes = codes};

#include "kernels/x86/gguf_inplace_kernel.h"
