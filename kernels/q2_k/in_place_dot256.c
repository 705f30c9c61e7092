/* Q2_K in place. */
#include "kernels/q2_k/format.h"
#include "kernels/x86/in_place_long.h"

#include <stddef.h>

static inline void scales_and_minima(const uint8_t *block, __m256i *scales, __m256i *minima)
{
    const __m256i nibble = _mm256_set1_epi8(15);
    __m128i bytes = _mm_loadu_si128((const __m128i *)(block + offsetof(struct ulb_q2_k, scales)));
    *scales = _mm256_and_si256(_mm256_broadcastsi128_si256(bytes), nibble);
    *minima = _mm256_and_si256(_mm256_srli_epi16(ulb_words(bytes), 4), nibble);
}

static inline __m256i codes(const uint8_t *block, size_t unit)
{
    return ulb_unit_crumbs(block + offsetof(struct ulb_q2_k, qs), unit, 0);
}

static const struct ulb_long format = {.bytes = sizeof(struct ulb_q2_k),
                                       .d_at = offsetof(struct ulb_q2_k, d),
                                       .scales_and_minima = scales_and_minima,
                                       .groups = 16,
                                       .codes = codes};

static void run(const struct ulb_gemm *g)
{
    ulb_run_long(g, &format);
}

const struct ulb_kernel ULB_ROW =
    ULB_IN_PLACE_ROW(ulb_q2_k_in_place, ULB_ACT_Q8_K, 1, ULB_Q2_K_COLUMNS, sizeof(struct ulb_q2_k),
                     ULB_LONG_MIX(0.5, 1, 0.75, 0, 0, 16, 1));
