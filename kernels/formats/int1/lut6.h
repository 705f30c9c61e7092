/* Sums over bits by exact tables of 64 entries: vpermb looks up 6 bits at once.
 *
 * A table for six columns holds v = (sum of x over the set bits) - (sum of the negative x). v is 0 to 768,
 * stored as v % 32 and v / 32. Three bytes of a row hold 24 columns. vpermb ignores the high two bits of its
 * index, so that the low 6 bits of each byte are an index in place. The high bits of the three together are
 * the fourth (3 shifts, two vpternlog). Bytes hold the eight look-ups of two steps. vpmaddubsw by (1, 32)
 * then joins them into 16 bits, which hold 10 such pairs of steps. 32 bits follow.
 * `8 * 31 = 248 < 2^8`; `10 * 8 * 768 = 61,440 < 2^16`. */
#ifndef ULB_KERNELS_FORMATS_INT1_LUT6_H
#define ULB_KERNELS_FORMATS_INT1_LUT6_H

#include "kernels/formats/int1/format.h"
#include "kernels/microkernel.h"
#include "kernels/x86/simd/prefetch.h"

#include <immintrin.h>
#include <string.h>

enum {
    ULB_LUT6_ROWS = 128,
    ULB_LUT6_COLUMNS = 24,
    ULB_LUT6_STEP = ULB_LUT6_ROWS * ULB_LUT6_COLUMNS / 8, /* bytes of weights */
    ULB_LUT6_TABLES =
        ULB_LUT6_COLUMNS / 6 * 128, /* bytes of a step: four tables of 64 low parts and 64 high parts */
    ULB_LUT6_RADIX_BITS = 5,
    ULB_LUT6_RADIX = 1 << ULB_LUT6_RADIX_BITS,
    ULB_LUT6_PAIRS = 10 /* of steps, that words hold */
};

/* ---- tables ---- */

/* For each six columns of a step, in 64 bits: the sum of the negative activations, without its sign. */
static inline __m256i ulb_lut6_negative(__m256i step)
{
    const __m256i zero = _mm256_setzero_si256();
    const __m256i lut6 = _mm256_setr_epi8(0, 1, 2, 3, 4, 5, 24, 24, 6, 7, 8, 9, 10, 11, 24, 24, 12, 13, 14,
                                          15, 16, 17, 24, 24, 18, 19, 20, 21, 22, 23, 24, 24);
    __m256i magnitudes = _mm256_sub_epi8(zero, _mm256_min_epi8(step, zero));
    return _mm256_sad_epu8(_mm256_permutexvar_epi8(lut6, magnitudes), zero);
}

static inline __m512i ulb_lut6_all16(const void *word)
{
    int16_t value;
    memcpy(&value, word, sizeof value);
    return _mm512_set1_epi16(value);
}

/* The table of six columns at x; by8: they as words, times 8; bias: of each entry, times 8, too. Times 8 the
 * high part of an entry is its word's upper byte. */
static inline void ulb_lut6_table(const int8_t *x, const int16_t *by8, const int16_t *bias, uint8_t *table)
{
    /* Eight in each entry 0 to 31 that has the column's bit: columns 0 and 1, columns 2 and 3. */
    const __m512i bits01 = _mm512_set1_epi64(0x0808080000080000);
    const __m512i bits23 = _mm512_set4_epi64(0x0808080808080808, 0x0800080008000800, 0x0008000800080008, 0);
    static const _Alignas(64) uint8_t evens[64] = {
        0,  2,  4,  6,  8,  10, 12,  14,  16,  18,  20,  22,  24,  26,  28,  30,  32,  34,  36,  38, 40, 42,
        44, 46, 48, 50, 52, 54, 56,  58,  60,  62,  64,  66,  68,  70,  72,  74,  76,  78,  80,  82, 84, 86,
        88, 90, 92, 94, 96, 98, 100, 102, 104, 106, 108, 110, 112, 114, 116, 118, 120, 122, 124, 126};
    const __m512i even = _mm512_load_si512(evens), odd = _mm512_add_epi8(even, _mm512_set1_epi8(1));
    __m512i v0 = _mm512_add_epi16(ulb_lut6_all16(bias), _mm512_maddubs_epi16(bits01, ulb_lut6_all16(x)));
    v0 = _mm512_add_epi16(v0, _mm512_maddubs_epi16(bits23, ulb_lut6_all16(x + 2)));
    v0 = _mm512_add_epi16(v0, _mm512_maskz_set1_epi16(0xFFFF0000, by8[4]));
    __m512i v1 = _mm512_add_epi16(v0, ulb_lut6_all16(by8 + 5));
    __m512i low = _mm512_srli_epi16(_mm512_permutex2var_epi8(v0, even, v1), 8 - ULB_LUT6_RADIX_BITS);
    _mm512_storeu_si512(table, _mm512_and_si512(low, _mm512_set1_epi8(ULB_LUT6_RADIX - 1)));
    _mm512_storeu_si512(table + 64, _mm512_permutex2var_epi8(v0, odd, v1));
}

/* Builds the tables of `steps` steps. Returns the offset that they add to each sum over the set bits. */
static inline int32_t ulb_lut6_build(const int8_t *x, size_t steps, uint8_t *tables)
{
    enum { TURN = 16 };
    /* Broadcasts from memory take no port on Zen 5, broadcasts from a register take one of permutations.
     * Words are stored for several steps before they are read, presumably because a wider store must leave
     * its buffer first. */
    __m256i origin = _mm256_setzero_si256();
    for (size_t s = 0; s < steps; s += TURN) {
        _Alignas(64) int16_t by8[TURN][32], bias[TURN][16];
        size_t some = steps - s < TURN ? steps - s : TURN;
        for (size_t t = 0; t < some; t++) {
            __m256i step =
                _mm256_maskz_loadu_epi8((1u << ULB_LUT6_COLUMNS) - 1, x + ULB_LUT6_COLUMNS * (s + t));
            __m256i negative = ulb_lut6_negative(step);
            _mm512_store_si512(by8[t], _mm512_slli_epi16(_mm512_cvtepi8_epi16(step), 3));
            _mm256_store_si256((__m256i *)(void *)bias[t], _mm256_slli_epi64(negative, 3));
            origin = _mm256_add_epi64(origin, negative);
        }
        for (size_t t = 0; t < some; t++) {
            ULB_UNROLL(4)
            for (size_t i = 0; i < 4; i++)
                ulb_lut6_table(x + ULB_LUT6_COLUMNS * (s + t) + 6 * i, by8[t] + 6 * i, bias[t] + 4 * i,
                               tables + ULB_LUT6_TABLES * (s + t) + 128 * i);
        }
    }
    __m128i sum = _mm_add_epi64(_mm256_castsi256_si128(origin), _mm256_extracti128_si256(origin, 1));
    return _mm_cvtsi128_si32(sum) + _mm_extract_epi32(sum, 2);
}

/* ---- look-up ---- */

/* The four indices of 64 rows. The empty statement keeps GCC from loading weights for each use. */
static inline void ulb_lut6_indices(const uint8_t *w, __m512i index[4])
{
    for (int i = 0; i < 3; i++) {
        index[i] = _mm512_loadu_si512(w + 64 * i);
        __asm__("" : "+v"(index[i]));
    }
    const __m512i bits23 = _mm512_set1_epi8(0x0C), bits45 = _mm512_set1_epi8(0x30);
    /* 0xE4: the first operand if the third has a 1, otherwise the second. The first is overwritten. */
    __m512i low = _mm512_ternarylogic_epi32(_mm512_srli_epi16(index[1], 4), _mm512_srli_epi16(index[0], 6),
                                            bits23, 0xE4);
    index[3] = _mm512_ternarylogic_epi32(_mm512_srli_epi16(index[2], 2), low, bits45, 0xE4);
}

/* Prefetches for w + line. Held at its place by a sum: six in a row take 4 % longer. */
static inline __attribute__((always_inline)) void ulb_lut6_prefetch(__m512i *sum, const uint8_t *w,
                                                                    size_t line,
                                                                    struct ulb_prefetch_setting prefetch,
                                                                    size_t l1_distance)
{
#define PREFETCH(instruction, ...) __asm__(instruction : "+v"(*sum) : __VA_ARGS__)
    ULB_PREFETCH_BY(PREFETCH, w, line, l1_distance, prefetch);
#undef PREFETCH
}

/* Byte sums of a step for one token: low and high parts for each 64 rows. The empty statements make GCC load
 * tables once for both row blocks, and keep each sum a chain. ask: prefetch weights too. */
static inline __attribute__((always_inline)) void ulb_lut6_step(struct ulb_prefetch_setting prefetch,
                                                                size_t l1_distance, bool ask, bool first,
                                                                const uint8_t *w, const uint8_t *table,
                                                                __m512i index[2][4], __m512i bytes[2][2])
{
    ULB_UNROLL(4)
    for (size_t j = 0; j < 4; j++) {
        __m512i low = _mm512_loadu_si512(table + 128 * j), high = _mm512_loadu_si512(table + 128 * j + 64);
        __asm__("" : "+v"(low), "+v"(high));
        ULB_UNROLL(2)
        for (size_t b = 0; b < 2; b++) {
            __m512i found = _mm512_permutexvar_epi8(index[b][j], low);
            bytes[b][0] = first && j == 0 ? found : _mm512_add_epi8(bytes[b][0], found);
            if (ask && (b == 0 || j % 2))
                ulb_lut6_prefetch(&bytes[b][0], w, (3 * j / 2 + b) * 64, prefetch, l1_distance);
            found = _mm512_permutexvar_epi8(index[b][j], high);
            bytes[b][1] = first && j == 0 ? found : _mm512_add_epi8(bytes[b][1], found);
            __asm__("" : "+v"(bytes[b][1]));
        }
    }
}

/* Moves byte sums to 16-bit sums; rows are stored so that widening leaves them in order. */
static inline __attribute__((always_inline)) void ulb_lut6_join(__m512i bytes[2][2], __m512i words[2][2])
{
    const __m512i weights = _mm512_set1_epi16(ULB_LUT6_RADIX << 8 | 1);
    ULB_UNROLL(2)
    for (int b = 0; b < 2; b++) {
        __m512i low = _mm512_unpacklo_epi8(bytes[b][0], bytes[b][1]);
        __m512i high = _mm512_unpackhi_epi8(bytes[b][0], bytes[b][1]);
        words[b][0] = _mm512_add_epi16(words[b][0], _mm512_maddubs_epi16(low, weights));
        words[b][1] = _mm512_add_epi16(words[b][1], _mm512_maddubs_epi16(high, weights));
        __asm__("" : "+v"(words[b][0]), "+v"(words[b][1]));
    }
}

/* words += the look-ups of one or two steps of one slice for some tokens, whose tables lie token_bytes
 * apart. */
static inline __attribute__((always_inline)) void ulb_lut6_chunk(struct ulb_prefetch_setting prefetch,
                                                                 bool ask, size_t l1_distance, size_t tokens,
                                                                 size_t steps, const uint8_t *w,
                                                                 const uint8_t *tables, size_t token_bytes,
                                                                 __m512i words[][2][2])
{
    __m512i bytes[2][2][2];
    ULB_UNROLL(2)
    for (size_t s = 0; s < steps; s++, w += ULB_LUT6_STEP, tables += ULB_LUT6_TABLES) {
        __m512i index[2][4];
        ulb_lut6_indices(w, index[0]);
        ulb_lut6_indices(w + ULB_LUT6_STEP / 2, index[1]);
        ULB_UNROLL(2)
        for (size_t t = 0; t < tokens; t++)
            ulb_lut6_step(prefetch, l1_distance, ask && t == 0, s == 0, w, tables + t * token_bytes, index,
                          bytes[t]);
    }
    ULB_UNROLL(2)
    for (size_t t = 0; t < tokens; t++)
        ulb_lut6_join(bytes[t], words[t]);
}

static inline __attribute__((always_inline)) void ulb_lut6_clear(__m512i words[2][2])
{
    words[0][0] = words[0][1] = words[1][0] = words[1][1] = _mm512_setzero_si512();
}

/* sums += words, which are 0 then. */
static inline __attribute__((always_inline)) void ulb_lut6_widen(__m512i words[2][2], int32_t *sums)
{
    ULB_UNROLL(4)
    for (int i = 0; i < 4; i++) {
        int32_t *at = sums + 32 * i;
        __m512i word = words[i / 2][i % 2], low = _mm512_cvtepu16_epi32(_mm512_castsi512_si256(word));
        __m512i high = _mm512_cvtepu16_epi32(_mm512_extracti64x4_epi64(word, 1));
        _mm512_storeu_si512(at, _mm512_add_epi32(_mm512_loadu_si512(at), low));
        _mm512_storeu_si512(at + 16, _mm512_add_epi32(_mm512_loadu_si512(at + 16), high));
    }
    ulb_lut6_clear(words);
}

/* A set bit is -1: the row's dot product is sum(x) - 2 T. */
static inline int32_t ulb_lut6_dot(int32_t sum)
{
    return -2 * sum;
}

#endif
