/* Q4_K in place. Scales and minima are separated in general registers and then moved to vectors. */
#include "kernels/formats/q4_k/format.h"
#include "kernels/x86/gguf_inplace_256.h"

#include <stddef.h>

#define BLOCK   struct ulb_q4_k
#define LAYOUT  ulb_q4_k_in_place
#define LARGEST 15
#define MIX     ULB_LONG_MIX(0.5, 1, 0.5, 0, 0, 8, 1)

static inline __m256i codes(const uint8_t *block, size_t unit)
{
    return ulb_unit_nibbles(block + offsetof(BLOCK, qs), unit);
}

#include "kernels/formats/q4_k/in_place.h"
