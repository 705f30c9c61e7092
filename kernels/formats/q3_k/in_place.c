/* Q3_K in place: planes of 2 bits and 1 bit; 6-bit scales in 12 bytes. */
#include "kernels/formats/q3_k/format.h"
#include "kernels/x86/gguf_inplace_256.h"

#include <stddef.h>
#include <string.h>

/* Nibbles of 8 bytes, pairs of bits of the other 4. */
static inline __m128i scales(const uint8_t *block)
{
    const uint8_t *packed = block + offsetof(struct ulb_q3_k, scales);
    int64_t first;
    int32_t last;
    memcpy(&first, packed, sizeof first);
    memcpy(&last, packed + sizeof first, sizeof last);
    __m128i low = _mm_srlv_epi32(_mm_set1_epi64x(first), _mm_setr_epi32(0, 0, 4, 4)),
            high = _mm_srlv_epi32(_mm_set1_epi32(last), _mm_setr_epi32(0, 2, 4, 6));
    high = _mm_slli_epi16(_mm_and_si128(high, _mm_set1_epi8(3)), 4);
    __m128i bytes = _mm_or_si128(_mm_and_si128(low, _mm_set1_epi8(15)), high);
    return _mm_sub_epi8(bytes, _mm_set1_epi8(ULB_Q3_K_SCALE_ZERO));
}

static inline __m256i codes(const uint8_t *block, size_t unit)
{
    return _mm256_or_si256(ulb_unit_two_bit(block + offsetof(struct ulb_q3_k, qs), unit, 0),
                           ulb_unit_bits(block + offsetof(struct ulb_q3_k, hmask), unit, 2));
}

#define LAYOUT      ulb_q3_k_in_place
#define ACTIVATION  ULB_ACT_Q8_K
#define BLOCK_BYTES sizeof(struct ulb_q3_k)
#define GROUP       16
#define ZERO_POINT  4
#define SCALES      ULB_SIGNED_SCALES
#define MINIMA      ULB_NO_MINIMA
#define LARGEST     7
#define MIX         ULB_LONG_MIX(0.625, ULB_BY_ENCODING(3.375, 2.25), 2, 0.125, 0, 16, 0)

static const struct ulb_long format = {.bytes = BLOCK_BYTES,
                                       .d_at = offsetof(struct ulb_q3_k, d),
                                       .scales = scales,
                                       .zero_point = ZERO_POINT,
                                       .codes = codes};

#include "kernels/x86/gguf_inplace_kernel.h"
