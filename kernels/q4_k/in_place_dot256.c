/* Q4_K in place.
 *
 * Ports, per 32 weights: and, half a shift, vpmaddubsw, a dot product of words, a shuffle that brings its
 * scale into the lanes; of every block 5 that bring scales and minima, taken apart in general registers, into
 * vectors, 1 that adds the two sums up, and 9 for d and what these become: 6.4 on three ports are 2.13. */
#include "kernels/q4_k/format.h"
#include "kernels/x86/in_place_long.h"

#include <stddef.h>

static inline void scales_and_minima(const uint8_t *block, __m256i *scales, __m256i *minima)
{
    ulb_k_scales_and_minima(block + offsetof(struct ulb_q4_k, scales), scales, minima);
}

static inline __m256i codes(const uint8_t *block, size_t unit)
{
    return ulb_unit_nibbles(block + offsetof(struct ulb_q4_k, qs), unit);
}

static const struct ulb_long format = {.bytes = sizeof(struct ulb_q4_k),
                                       .d_at = offsetof(struct ulb_q4_k, d),
                                       .scales_and_minima = scales_and_minima,
                                       .groups = 8,
                                       .codes = codes};

static void run(const struct ulb_gemm *g)
{
    ulb_run_long(g, &format);
}

const struct ulb_kernel ULB_ROW =
    ULB_IN_PLACE_ROW(ulb_q4_k_in_place, ULB_ACT_Q8_K, 1, ULB_Q4_K_COLUMNS, sizeof(struct ulb_q4_k),
                     ULB_LONG_MIX(0.5, 1, 0.5, 0, 0, 8, 1));
