/* TQ1_0 in place. A byte times 3^i modulo 256 lies in the third of 256 that is digit i. 86 and 171 are the
 * first values above 1/3 and 2/3 of 256. Bytes less 128, for signed comparisons, stay 128 too small after
 * tripling. Units of 32 columns are one digit of 32 bytes, two digits of 16, or the last digit of 16 and all
 * digits of 4. */
#include "kernels/formats/tq1_0/format.h"
#include "kernels/x86/gguf_inplace_256.h"

#include <stddef.h>
#include <string.h>

enum { ABOVE = 128 };

/* Clang would make products of words of several in a row. */
static inline __m256i three_times(__m256i bytes)
{
    __m256i twice = _mm256_add_epi8(bytes, bytes);
    __asm__("" : "+x"(twice));
    return _mm256_add_epi8(bytes, twice);
}

/* The first digits. GCC 12 makes two instructions of a comparison with a constant that it knows. */
static inline __m256i digits(__m256i bytes)
{
    __m256i first = _mm256_set1_epi8(85 - ABOVE), second = _mm256_set1_epi8(170 - ABOVE);
    __asm__("" : "+x"(first), "+x"(second));
    return _mm256_abs_epi8(
        _mm256_add_epi8(_mm256_cmpgt_epi8(bytes, first), _mm256_cmpgt_epi8(bytes, second)));
}

/* 4 bytes, then the same bytes times 3, 9 and 27. */
static inline __m128i four_powers(const uint8_t *bytes)
{
    const __m128i even = _mm_set1_epi16(0x00FF), factors = _mm_setr_epi16(1, 1, 3, 3, 9, 9, 27, 27);
    int32_t all;
    memcpy(&all, bytes, sizeof all);
    __m128i four = _mm_xor_si128(_mm_set1_epi32(all), _mm_set1_epi8((char)ABOVE)),
            low = _mm_mullo_epi16(four, factors);
    __m128i high = _mm_mullo_epi16(_mm_andnot_si128(even, four), factors);
    return _mm_or_si128(_mm_and_si128(low, even), high);
}

static inline __attribute__((always_inline)) __m256i codes(const uint8_t *block, size_t unit)
{
    const uint8_t *qs = block + offsetof(struct ulb_tq1_0, qs), *qh = block + offsetof(struct ulb_tq1_0, qh);
    const __m256i above = _mm256_set1_epi8((char)ABOVE);
    __m256i tail =
        _mm256_xor_si256(_mm256_broadcastsi128_si256(_mm_loadu_si128((const __m128i *)(qs + 32))), above);
    __m256i bytes = unit < 5 ? _mm256_xor_si256(_mm256_loadu_si256((const __m256i *)qs), above)
                             : _mm256_blend_epi32(tail, three_times(tail), 0xF0);
#pragma GCC unroll 4
    for (size_t i = 0; i < 4; i++)
        bytes = i < (unit < 5 ? unit : 2 * unit - 10) ? three_times(bytes) : bytes;
    if (unit == 7)
        bytes = _mm256_inserti128_si256(bytes, four_powers(qh), 1);
    return digits(bytes);
}

#define LAYOUT      ulb_tq1_0_in_place
#define ACTIVATION  ULB_ACT_Q8_K
#define BLOCK_BYTES sizeof(struct ulb_tq1_0)
#define GROUP       ULB_LONG_COLUMNS
#define ZERO_POINT  1
#define SCALES      ULB_NO_GROUPS
#define MINIMA      ULB_NO_MINIMA
#define LARGEST     2
#define MIX         ULB_LONG_MIX(0.375, ULB_BY_ENCODING(0.625, 0.5), 0, 4.25, 2, 0, 0)

static const struct ulb_long format = {
    .bytes = BLOCK_BYTES, .d_at = offsetof(struct ulb_tq1_0, d), .zero_point = ZERO_POINT, .codes = codes};

#include "kernels/x86/gguf_inplace_kernel.h"
