/* Q4_K in place.
 *
 * Ports, per 32 weights: and, half a shift, vpmaddubsw, a dot product of words, a shuffle that brings its
 * scale into the lanes; of every block 5 that bring scales and minima, taken apart in general registers, into
 * vectors, 1 that adds the two sums up, and 9 for d and what these become: 6.4 on three ports are 2.13. */
#include "kernels/formats/q4_k/format.h"
#include "kernels/x86/gguf_inplace_256.h"

#include <stddef.h>

static inline __m128i scales(const uint8_t *block)
{
    return ulb_k_scales(block + offsetof(struct ulb_q4_k, scales));
}

static inline __m256i codes(const uint8_t *block, size_t unit)
{
    return ulb_unit_nibbles(block + offsetof(struct ulb_q4_k, qs), unit);
}

#define LAYOUT      ulb_q4_k_in_place
#define ACTIVATION  ULB_ACT_Q8_K
#define BLOCK_BYTES sizeof(struct ulb_q4_k)
#define GROUP       32
#define ZERO_POINT  0
#define SCALES      ULB_UNSIGNED_SCALES
#define MINIMA      ULB_BYTE_MINIMA
#define LARGEST     15
#define MIX         ULB_LONG_MIX(0.5, 1, 0.5, 0, 0, 8, 1)

static const struct ulb_long format = {.bytes = BLOCK_BYTES,
                                       .d_at = offsetof(struct ulb_q4_k, d),
                                       .scales = scales,
                                       .minima = MINIMA,
                                       .codes = codes};

#include "kernels/x86/gguf_inplace_kernel.h"
