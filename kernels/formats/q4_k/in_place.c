/* Q4_K in place.
 *
 * Ports, per 32 weights: and, half a shift, vpmaddubsw, a dot product of words, a shuffle that brings its
 * scale into the lanes; of every block 5 that bring scales and minima, taken apart in general registers, into
 * vectors, 1 that adds the two sums up, and 9 for d and what these become: 6.4 on three ports are 2.13. */
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
