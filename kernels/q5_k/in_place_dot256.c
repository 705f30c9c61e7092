/* Q5_K in place. */
#include "kernels/q5_k/format.h"
#include "kernels/x86/in_place_long.h"

#include <stddef.h>

static inline void scales_and_minima(const uint8_t *block, __m256i *scales, __m256i *minima)
{
    ulb_k_scales_and_minima(block + offsetof(struct ulb_q5_k, scales), scales, minima);
}

static inline __m256i codes(const uint8_t *block, size_t unit)
{
    return _mm256_or_si256(ulb_unit_nibbles(block + offsetof(struct ulb_q5_k, qs), unit),
                           ulb_unit_bits(block + offsetof(struct ulb_q5_k, qh), unit, 4));
}

static const struct ulb_long format = {.bytes = sizeof(struct ulb_q5_k),
                                       .d_at = offsetof(struct ulb_q5_k, d),
                                       .scales_and_minima = scales_and_minima,
                                       .groups = 8,
                                       .codes = codes};

static void run(const struct ulb_gemm *g)
{
    ulb_run_long(g, &format);
}

const struct ulb_kernel ULB_ROW =
    ULB_IN_PLACE_ROW(ulb_q5_k_in_place, ULB_ACT_Q8_K, 1, ULB_Q5_K_COLUMNS, sizeof(struct ulb_q5_k),
                     ULB_LONG_MIX(0.75, ULB_BY_ENCODING(3, 2), 1.375, 0, 0, 8, 1));
