/* The unpacking of the paper's 2-bit kernel (arXiv 2508.06753, III-B, figure 1). 32 bytes with four fields
 * each become four vectors of codes, by a shift, two ANDs and four byte shuffles. The vectors are rows 0-7,
 * 8-15, 16-23, 24-31 of the tile. */
#ifndef ULB_KERNELS_FORMATS_INT2_PSHUFB_H
#define ULB_KERNELS_FORMATS_INT2_PSHUFB_H

#include <immintrin.h>
#include <stdint.h>

/* Table for the field in bits 0-1 or 2-3 of a nibble. The code of field f is stored as f + offset. */
static inline __m256i ulb_int2_table(int high_field, int offset)
{
    int8_t table[16];
    for (int nibble = 0; nibble < 16; nibble++)
        table[nibble] = (int8_t)((high_field ? nibble >> 2 : nibble & 3) + offset);
    return _mm256_broadcastsi128_si256(_mm_loadu_si128((const __m128i *)table));
}

static inline void ulb_int2_unpack(__m256i packed, __m256i low_field, __m256i high_field, __m256i codes[4])
{
    __m256i nibble = _mm256_set1_epi8(0x0F);
    __m256i low = _mm256_and_si256(packed, nibble);
    __m256i high = _mm256_and_si256(_mm256_srli_epi32(packed, 4), nibble);
    codes[0] = _mm256_shuffle_epi8(low_field, low);
    codes[1] = _mm256_shuffle_epi8(high_field, low);
    codes[2] = _mm256_shuffle_epi8(low_field, high);
    codes[3] = _mm256_shuffle_epi8(high_field, high);
}

#endif
