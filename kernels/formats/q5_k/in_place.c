/* Q5_K in place. */
#include "kernels/formats/q5_k/format.h"
#include "kernels/x86/gguf_inplace_256.h"

#include <stddef.h>

static inline __m128i scales(const uint8_t *block)
{
    return ulb_k_scales(block + offsetof(struct ulb_q5_k, scales));
}

static inline __m256i codes(const uint8_t *block, size_t unit)
{
    return _mm256_or_si256(ulb_unit_nibbles(block + offsetof(struct ulb_q5_k, qs), unit),
                           ulb_unit_bits(block + offsetof(struct ulb_q5_k, qh), unit, 4));
}

#define LAYOUT      ulb_q5_k_in_place
#define ACTIVATION  ULB_ACT_Q8_K
#define BLOCK_BYTES sizeof(struct ulb_q5_k)
#define GROUP       32
#define ZERO_POINT  0
#define SCALES      ULB_UNSIGNED_SCALES
#define MINIMA      ULB_BYTE_MINIMA
#define LARGEST     31
#define MIX         ULB_LONG_MIX(0.75, ULB_BY_ENCODING(3, 2), 1.375, 0, 0, 8, 1)

static const struct ulb_long format = {.bytes = BLOCK_BYTES,
                                       .d_at = offsetof(struct ulb_q5_k, d),
                                       .scales = scales,
                                       .minima = MINIMA,
                                       .codes = codes};

#include "kernels/x86/gguf_inplace_kernel.h"
