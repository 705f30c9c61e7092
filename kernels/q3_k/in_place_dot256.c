/* Q3_K in place: 2 bits and 1; 6-bit scales in 12 bytes. */
#include "kernels/q3_k/format.h"
#include "kernels/x86/in_place.h"

#include <stddef.h>
#include <string.h>

static inline __m256i scales(const uint8_t *block)
{
    uint32_t word[3];
    memcpy(word, block + offsetof(struct ulb_q3_k, scales), sizeof word);
    const uint32_t nibbles = 0x0F0F0F0F, pairs = 0x30303030;
    __m128i bytes = _mm_setr_epi32((int)((word[0] & nibbles) | (word[2] << 4 & pairs)),
                                   (int)((word[1] & nibbles) | (word[2] << 2 & pairs)),
                                   (int)((word[0] >> 4 & nibbles) | (word[2] & pairs)),
                                   (int)((word[1] >> 4 & nibbles) | (word[2] >> 2 & pairs)));
    return _mm256_sub_epi16(ulb_words(bytes), _mm256_set1_epi16(ULB_Q3_K_SCALE_ZERO));
}

static inline __m256i codes(const uint8_t *block, size_t unit)
{
    return _mm256_or_si256(ulb_unit_crumbs(block + offsetof(struct ulb_q3_k, qs), unit, 0),
                           ulb_unit_bits(block + offsetof(struct ulb_q3_k, hmask), unit, 2));
}

static const struct ulb_long format = {.bytes = sizeof(struct ulb_q3_k),
                                       .d_at = offsetof(struct ulb_q3_k, d),
                                       .scales = scales,
                                       .zero_shift = 2,
                                       .codes = codes};

static void run(const struct ulb_gemm *g)
{
    ulb_run_long(g, &format);
}

const struct ulb_kernel ULB_ROW =
    ULB_IN_PLACE_ROW(ulb_q3_k_in_place, ULB_ACT_Q8_K, 1, ULB_Q3_K_COLUMNS, sizeof(struct ulb_q3_k),
                     ULB_LONG_MIX(1.25, 3, 1.625, 0, 0, 16, 0));
