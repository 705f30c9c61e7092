/* TQ1_0 in place: bytes times 3^i modulo 256, whose third they lie in is digit i: 86 and 171 are the first
 * above 1/3 and 2/3 of 256. Units of 32 columns are a digit of 32 bytes; two digits of 16; the last of 16 and
 * all of 4. */
#include "kernels/tq1_0/format.h"
#include "kernels/x86/in_place.h"

#include <stddef.h>
#include <string.h>

/* 3^i */
static inline short power(size_t i)
{
    static const short powers[] = {1, 3, 9, 27, 81};
    return powers[i];
}

/* The first digits of bytes times words of factors, modulo 256. */
static inline __m256i digits(__m256i bytes, __m256i factors)
{
    const __m256i even = _mm256_set1_epi16(0x00FF);
    __m256i low = _mm256_mullo_epi16(bytes, factors),
            high = _mm256_mullo_epi16(_mm256_andnot_si256(even, bytes), factors);
    __m256i fraction = _mm256_or_si256(_mm256_and_si256(low, even), high);
    __m256i flipped = _mm256_xor_si256(fraction, _mm256_set1_epi8((char)0x80));
    __m256i one = _mm256_cmpgt_epi8(flipped, _mm256_set1_epi8(85 - 128));
    __m256i two = _mm256_cmpgt_epi8(flipped, _mm256_set1_epi8(170 - 128));
    return _mm256_abs_epi8(_mm256_add_epi8(one, two));
}

static inline __m256i codes(const uint8_t *block, size_t unit)
{
    const uint8_t *qs = block + offsetof(struct ulb_tq1_0, qs);
    int32_t last;
    memcpy(&last, block + offsetof(struct ulb_tq1_0, qh), sizeof last);
    if (unit < 5)
        return digits(_mm256_loadu_si256((const __m256i *)qs), _mm256_set1_epi16(power(unit)));
    __m128i tail = _mm_loadu_si128((const __m128i *)(qs + 32));
    if (unit < 7)
        return digits(ulb_from_halves(tail, tail), ulb_from_halves(_mm_set1_epi16(power(2 * unit - 10)),
                                                                   _mm_set1_epi16(power(2 * unit - 9))));
    return digits(ulb_from_halves(tail, _mm_set1_epi32(last)),
                  ulb_from_halves(_mm_set1_epi16(81), _mm_setr_epi16(1, 1, 3, 3, 9, 9, 27, 27)));
}

static const struct ulb_long format = {.bytes = sizeof(struct ulb_tq1_0),
                                       .d_at = offsetof(struct ulb_tq1_0, d),
                                       .zero_shift = 0,
                                       .codes = codes};

static void run(const struct ulb_gemm *g)
{
    ulb_run_long(g, &format);
}

const struct ulb_kernel ULB_ROW =
    ULB_IN_PLACE_ROW(ulb_tq1_0_in_place, ULB_ACT_Q8_K, 1, ULB_TQ1_0_COLUMNS, sizeof(struct ulb_tq1_0),
                     ULB_LONG_MIX(1, 3, 0, 3, 2, 0, 0));
