/* Q5_K in place. */
#include "kernels/formats/q5_k/format.h"
#include "kernels/x86/gguf_inplace_256.h"

#include <stddef.h>

#define BLOCK   struct ulb_q5_k
#define LAYOUT  ulb_q5_k_in_place
#define LARGEST 31
#define MIX     ULB_LONG_MIX(0.75, ULB_BY_ENCODING(3, 2), 1.375, 0, 0, 8, 1)

static inline __m256i codes(const uint8_t *block, size_t unit)
{
    return _mm256_or_si256(ulb_unit_nibbles(block + offsetof(BLOCK, qs), unit),
                           ulb_unit_bits(block + offsetof(BLOCK, qh), unit, 4));
}

#include "kernels/formats/q4_k/in_place.h"
