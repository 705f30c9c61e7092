/* Q6_K in place: 4 bits and 2. */
#include "kernels/formats/q6_k/format.h"
#include "kernels/x86/gguf_inplace_256.h"

#include <stddef.h>

static inline __m128i scales(const uint8_t *block)
{
    return _mm_loadu_si128((const __m128i *)(block + offsetof(struct ulb_q6_k, scales)));
}

static inline __m256i codes(const uint8_t *block, size_t unit)
{
    const uint8_t *ql = block + offsetof(struct ulb_q6_k, ql) + unit / 4 * 64 + unit % 2 * 32;
    __m256i low = ulb_field(_mm256_loadu_si256((const __m256i *)ql), (unsigned)(unit / 2 % 2 * 4), 0, 15);
    return _mm256_or_si256(low, ulb_unit_two_bit(block + offsetof(struct ulb_q6_k, qh), unit, 4));
}

#define LAYOUT      ulb_q6_k_in_place
#define ACTIVATION  ULB_ACT_Q8_K
#define BLOCK_BYTES sizeof(struct ulb_q6_k)
#define GROUP       16
#define ZERO_POINT  32
#define SCALES      ULB_SIGNED_SCALES
#define MINIMA      ULB_NO_MINIMA
#define LARGEST     63
#define MIX         ULB_LONG_MIX(1.375, ULB_BY_ENCODING(3, 2), 1.25, 0, 0, 16, 0)

static const struct ulb_long format = {.bytes = BLOCK_BYTES,
                                       .d_at = offsetof(struct ulb_q6_k, d),
                                       .scales = scales,
                                       .zero_point = ZERO_POINT,
                                       .codes = codes};

#include "kernels/x86/gguf_inplace_kernel.h"
