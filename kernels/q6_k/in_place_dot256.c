/* Q6_K in place: 4 bits and 2. */
#include "kernels/q6_k/format.h"
#include "kernels/x86/in_place_long.h"

#include <stddef.h>

static inline __m256i scales(const uint8_t *block)
{
    const uint8_t *bytes = block + offsetof(struct ulb_q6_k, scales);
    return _mm256_cvtepi8_epi16(_mm_loadu_si128((const __m128i *)bytes));
}

static inline __m256i codes(const uint8_t *block, size_t unit)
{
    const uint8_t *ql = block + offsetof(struct ulb_q6_k, ql) + unit / 4 * 64 + unit % 2 * 32;
    __m256i low = ulb_field(_mm256_loadu_si256((const __m256i *)ql), (unsigned)(unit / 2 % 2 * 4), 0, 15);
    return _mm256_or_si256(low, ulb_unit_crumbs(block + offsetof(struct ulb_q6_k, qh), unit, 4));
}

static const struct ulb_long format = {.bytes = sizeof(struct ulb_q6_k),
                                       .d_at = offsetof(struct ulb_q6_k, d),
                                       .scales = scales,
                                       .zero_shift = 5,
                                       .codes = codes};

static void run(const struct ulb_gemm *g)
{
    ulb_run_long(g, &format);
}

const struct ulb_kernel ULB_ROW =
    ULB_IN_PLACE_ROW(ulb_q6_k_in_place, ULB_ACT_Q8_K, 1, ULB_Q6_K_COLUMNS, sizeof(struct ulb_q6_k),
                     ULB_LONG_MIX(1.375, ULB_BY_ENCODING(3, 2), 1.25, 0, 0, 16, 0));
