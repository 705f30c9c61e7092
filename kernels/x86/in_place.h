/* Block formats in place, as an mmap'ed file has them: 256 bits, rows one after the other.
 *
 * Blocks of 32 columns: a vector holds the same 16 columns of two rows, its halves; four such pairs are 8
 * rows, whose sums three times two shuffles and an addition bring into one vector, so that conversion and
 * scales are one operation for 8 rows. Blocks of 256 columns: a row at a time, 32 columns a vector. Pairs of
 * products, 16 bits each, are multiplied by the integer scale of their group of 16 columns while they are
 * added up, so that nothing is converted before the block's end: at most 63 * 128 * 128 * 256 < 2^29. What
 * zero points and minima take off follows from the activations' sums of 16 columns: one vpmaddwd a block.
 *
 * Address streams (kernels/x86/streams.h) run on from row to row: of blocks of 32 columns the 8 rows, each of
 * its eighth of the rows; of 256 columns two, a block of each half of the rows in turn. */
#ifndef ULB_KERNELS_X86_IN_PLACE_H
#define ULB_KERNELS_X86_IN_PLACE_H

#include "kernels/activations.h"
#include "kernels/block.h"
#include "kernels/row.h"
#include "kernels/x86/dot.h"
#include "kernels/x86/floats.h"
#include "kernels/x86/streams.h"

enum {
    ULB_PAIRED_ROWS = 8,
    ULB_PAIRED_COLUMNS = 32,
    ULB_LONG_COLUMNS = 256,
    ULB_UNITS = 8,
    ULB_ROW_STREAMS = 2,
    ULB_LONG_NEAR = 1024, /* bytes ahead of the prefetch */
    ULB_PAIRED_NEAR = 768
};

static inline __m256i ulb_from_halves(__m128i low, __m128i high)
{
    return _mm256_inserti128_si256(_mm256_castsi128_si256(low), high, 1);
}

/* 16 bytes each. */
static inline __m256i ulb_load_pair(const uint8_t *low, const uint8_t *high)
{
    return ulb_from_halves(_mm_loadu_si128((const __m128i *)low), _mm_loadu_si128((const __m128i *)high));
}

/* 4 bytes in every lane. Through the assembler, because GCC 12 may make a load and a shuffle of it. */
static inline __m256i ulb_load_to_lanes(const void *p)
{
    __m256i lanes;
    __asm__("vpbroadcastd %1, %0" : "=" ULB_REGISTER(lanes) : "m"(*(const uint8_t(*)[4])p));
    return lanes;
}

static inline __m256i ulb_words(__m128i unsigned_bytes)
{
    return _mm256_cvtepu8_epi16(unsigned_bytes);
}

/* One token. */
struct ulb_in_place_x {
    const int8_t *x;
    const float *scale;  /* of blocks */
    const int16_t *sums; /* of 16 columns */
};

static inline struct ulb_in_place_x ulb_in_place_token(const struct ulb_gemm *g, size_t n)
{
    return (struct ulb_in_place_x){(const int8_t *)g->x + n * g->x_stride, g->x_scale + n * g->x_scale_stride,
                                   g->x_sums + n * g->x_sums_stride};
}

/* Every line of so many bytes; at is rarely the begin of one. */
static inline __attribute__((always_inline)) void ulb_prefetch_ahead(const uint8_t *at, size_t bytes)
{
#pragma GCC unroll 8
    for (size_t i = 0; i < bytes; i += ULB_LINE)
        _mm_prefetch((const char *)at + i, _MM_HINT_T0);
}

/* ---- blocks of 32 columns ---- */

struct ulb_paired {
    size_t bytes;       /* of a block */
    bool powers;        /* the scale, at the block's begin, is an exponent, else half precision */
    bool minimum;       /* half precision, behind the scale */
    bool is_signed;     /* codes are values, 16-bit sums hold one pair */
    bool many;          /* codes take many registers: those of two rows at a time, else of all 8 first */
    int32_t zero_point; /* of codes */
    /* Columns 0-15 and 16-31 of two rows. */
    void (*codes)(const uint8_t *a, const uint8_t *b, __m256i *low, __m256i *high);
};

/* int32 sums of codes times activations, 4 for each row. */
static inline __attribute__((always_inline)) __m256i ulb_pair_sums(bool is_signed, __m256i low, __m256i high,
                                                                   __m256i x_low, __m256i x_high)
{
#if ULB_WORD_SUMS
    const __m256i ones = _mm256_set1_epi16(1);
    if (is_signed) {
        __m256i first = _mm256_maddubs_epi16(_mm256_abs_epi8(low), _mm256_sign_epi8(x_low, low));
        __m256i second = _mm256_maddubs_epi16(_mm256_abs_epi8(high), _mm256_sign_epi8(x_high, high));
        return _mm256_add_epi32(_mm256_madd_epi16(first, ones), _mm256_madd_epi16(second, ones));
    }
    __m256i words = _mm256_add_epi16(_mm256_maddubs_epi16(low, x_low), _mm256_maddubs_epi16(high, x_high));
    return _mm256_madd_epi16(words, ones);
#else
    (void)is_signed;
    __m256i sums = _mm256_setzero_si256();
    ulb_dp(&sums, low, x_low);
    ulb_dp(&sums, high, x_high);
    return sums;
#endif
}

/* Sums of 4 lanes each of a, b, c, d, for both halves. */
static inline __m256i ulb_add_across(__m256i a, __m256i b, __m256i c, __m256i d)
{
    __m256i ab = _mm256_add_epi32(_mm256_unpacklo_epi32(a, b), _mm256_unpackhi_epi32(a, b));
    __m256i cd = _mm256_add_epi32(_mm256_unpacklo_epi32(c, d), _mm256_unpackhi_epi32(c, d));
    return _mm256_add_epi32(_mm256_unpacklo_epi64(ab, cd), _mm256_unpackhi_epi64(ab, cd));
}

/* 8 rows, stride bytes apart. */
struct ulb_row_pointers {
    const uint8_t *first, *fourth;
    size_t stride, three; /* 3 * stride */
};

/* Row i, a constant: a sum of two registers, one of them times 1, 2 or 4. */
static inline __attribute__((always_inline)) const uint8_t *ulb_row_at(const struct ulb_row_pointers *rows,
                                                                       size_t i)
{
    const uint8_t *base = i == 3 || i >= 5 ? rows->fourth : rows->first;
    return i == 6 ? base + rows->three : base + (i == 3 ? 0 : i == 5 ? 2 : i == 7 ? 4 : i) * rows->stride;
}

/* Numbers in half precision, one of each row. The first comes with two bytes more, without the port of
 * shuffles; GCC makes three shuffles more of _mm_setr_epi16(). */
static inline __attribute__((always_inline)) __m256 ulb_gather_halves(const struct ulb_row_pointers *rows,
                                                                      size_t at)
{
    __m128i halves = _mm_loadu_si32(ulb_row_at(rows, 0) + at);
#define ULB_INSERT(i)                                                                                        \
    {                                                                                                        \
        int16_t half;                                                                                        \
        __builtin_memcpy(&half, ulb_row_at(rows, i) + at, sizeof half);                                      \
        halves = _mm_insert_epi16(halves, half, i);                                                          \
    }
    ULB_INSERT(1)
    ULB_INSERT(2)
    ULB_INSERT(3)
    ULB_INSERT(4)
    ULB_INSERT(5)
    ULB_INSERT(6)
    ULB_INSERT(7)
#undef ULB_INSERT
    return _mm256_cvtph_ps(halves);
}

/* The same of exponents, see ulb_load_powers(). They come together in a general register: vectors have enough
 * to do. */
static inline __attribute__((always_inline)) __m256 ulb_gather_powers(const struct ulb_row_pointers *rows)
{
    uint64_t e = 0;
#pragma GCC unroll 8
    for (size_t i = ULB_PAIRED_ROWS; i-- > 0;)
        e = e << 8 | *ulb_row_at(rows, i);
    __asm__("" : "+r"(e)); /* else Clang inserts bytes into a vector */
    return ulb_load_powers(&e);
}

/* *results += block b of a token, at which the rows are. */
static inline __attribute__((always_inline)) void ulb_add_paired(const struct ulb_paired *format,
                                                                 const struct ulb_row_pointers *rows,
                                                                 size_t b, const struct ulb_in_place_x *x,
                                                                 __m256 *results)
{
    const int8_t *columns = x->x + b * ULB_PAIRED_COLUMNS;
    __m256i x_low = _mm256_broadcastsi128_si256(_mm_loadu_si128((const __m128i *)columns)), pairs[4];
    __m256i x_high = _mm256_broadcastsi128_si256(_mm_loadu_si128((const __m128i *)(columns + 16)));
    __m256i low[4], high[4];
#pragma GCC unroll 4
    for (size_t i = 0; i < 4; i++) {
        format->codes(ulb_row_at(rows, i), ulb_row_at(rows, i + 4), &low[i], &high[i]);
        if (format->many)
            pairs[i] = ulb_pair_sums(format->is_signed, low[i], high[i], x_low, x_high);
    }
    if (!format->many) {
        /* Held apart from the products: so many loads at once are a tenth faster. */
        __asm__(""
                : "+" ULB_REGISTER(low[0]), "+" ULB_REGISTER(low[1]), "+" ULB_REGISTER(low[2]),
                  "+" ULB_REGISTER(low[3]), "+" ULB_REGISTER(high[0]), "+" ULB_REGISTER(high[1]),
                  "+" ULB_REGISTER(high[2]), "+" ULB_REGISTER(high[3]));
#pragma GCC unroll 4
        for (size_t i = 0; i < 4; i++)
            pairs[i] = ulb_pair_sums(format->is_signed, low[i], high[i], x_low, x_high);
    }
    __m256i sums = ulb_add_across(pairs[0], pairs[1], pairs[2], pairs[3]);
    if (format->zero_point)
        sums = _mm256_sub_epi32(sums, ulb_all_x_sums(x->sums + 2 * b, format->zero_point));
    __m256 d = format->powers ? ulb_gather_powers(rows) : ulb_gather_halves(rows, 0);
    __m256 x_scale = _mm256_set1_ps(format->powers ? x->scale[b] / 2 : x->scale[b]);
    *results = _mm256_fmadd_ps(_mm256_cvtepi32_ps(sums), _mm256_mul_ps(d, x_scale), *results);
    if (format->minimum) {
        __m256 x_sum = _mm256_cvtepi32_ps(ulb_all_x_sums(x->sums + 2 * b, 1));
        *results = _mm256_fmadd_ps(ulb_gather_halves(rows, sizeof(uint16_t)), _mm256_mul_ps(x_sum, x_scale),
                                   *results);
    }
}

/* Lines ahead in as many rows, in turn, as 8 blocks have lines. offsets: of the 8 rows, twice. */
static inline __attribute__((always_inline)) void
ulb_prefetch_rows(const struct ulb_paired *format, const uint8_t *rows, const size_t *offsets, size_t b)
{
    const size_t lines = (ULB_PAIRED_ROWS * format->bytes + ULB_LINE - 1) / ULB_LINE,
                 first = b * lines % ULB_PAIRED_ROWS;
    const char *ahead = (const char *)rows + b * format->bytes + ULB_PAIRED_NEAR;
#pragma GCC unroll 8
    for (size_t i = 0; i < lines; i++)
        _mm_prefetch(ahead + offsets[first + i], _MM_HINT_T0);
}

/* 8 rows, part apart, m the first; part 0: one row, which is read eight times. */
static inline __attribute__((always_inline)) void
ulb_paired_rows(const struct ulb_gemm *g, const struct ulb_paired *format, size_t m, size_t part)
{
    size_t blocks = g->k / ULB_PAIRED_COLUMNS, row_bytes = blocks * format->bytes;
    const uint8_t *rows = (const uint8_t *)g->w + m * row_bytes;
    size_t offsets[2 * ULB_PAIRED_ROWS];
    for (size_t i = 0; i < 2 * ULB_PAIRED_ROWS; i++)
        offsets[i] = i % ULB_PAIRED_ROWS * part * row_bytes;
    for (size_t n = 0; n < g->n; n++) {
        struct ulb_in_place_x x = ulb_in_place_token(g, n);
        __m256 results = _mm256_setzero_ps();
        float y[ULB_PAIRED_ROWS];
        size_t stride = part * row_bytes;
        struct ulb_row_pointers at = {rows, rows + 3 * stride, stride, 3 * stride};
        for (size_t b = 0; b < blocks; b++) {
            /* Else compilers keep 8 pointers, in memory. */
            __asm__("" : "+r"(at.first), "+r"(at.fourth), "+r"(at.stride), "+r"(at.three));
            ulb_add_paired(format, &at, b, &x, &results);
            ulb_prefetch_rows(format, rows, offsets, b);
            at.first += format->bytes;
            at.fourth += format->bytes;
        }
        _mm256_storeu_ps(y, results);
        for (size_t r = 0; r < ULB_PAIRED_ROWS; r++)
            g->y[n * g->y_stride + m + r * part] = y[r];
    }
}

static inline __attribute__((always_inline)) void ulb_run_paired(const struct ulb_gemm *g,
                                                                 const struct ulb_paired *format)
{
    size_t row_bytes = g->k / ULB_PAIRED_COLUMNS * format->bytes, m = g->m0, part;
    for (; m + ULB_PAIRED_ROWS <= g->m1; m += ULB_PAIRED_ROWS * part) {
        part = ulb_stream_rows(g->m1 - m, ULB_PAIRED_ROWS, row_bytes);
        for (size_t i = 0; i < part; i++)
            ulb_paired_rows(g, format, m + i, part);
    }
    for (; m < g->m1; m++)
        ulb_paired_rows(g, format, m, 0);
}

/* ---- blocks of 256 columns ---- */

/* What differs from format to format; 16 words of a vector are those of the groups of 16 columns. */
struct ulb_long {
    size_t bytes, d_at;
    unsigned zero_shift; /* codes have the zero point 2^zero_shift */
    /* Integer scales; NULL: none. */
    __m256i (*scales)(const uint8_t *block);
    /* Or unsigned ones, group g's in byte g of either half, with minima, and dmin behind d. */
    void (*scales_and_minima)(const uint8_t *block, __m256i *scales, __m256i *minima);
    size_t groups; /* that have them, 8 or 16 */
    /* Codes of 32 columns from 32 unit on. unit: a constant. */
    __m256i (*codes)(const uint8_t *block, size_t unit);
};

/* Of the two groups of a unit, each in its half. */
static inline __attribute__((always_inline)) __m256i ulb_unit_scales(__m256i scales, size_t unit)
{
    __m256i four = unit < 4 ? _mm256_permute2x128_si256(scales, scales, 0x00)
                            : _mm256_permute2x128_si256(scales, scales, 0x11);
    int first = (int)(unit % 4 * 4), words = first | (first + 1) << 8;
    __m256i low = _mm256_set1_epi16((short)words), second = _mm256_set1_epi16(0x0202);
    return _mm256_shuffle_epi8(
        four, _mm256_add_epi8(
                  low, _mm256_inserti128_si256(_mm256_setzero_si256(), _mm256_castsi256_si128(second), 1)));
}

/* Where the scales of groups of 32 columns are taken from memory, each twice: they reach all lanes there
 * without a shuffle. */
enum { ULB_SCALES_IN_MEMORY = !ULB_WORD_SUMS };

static inline __attribute__((always_inline)) void ulb_place_scales(const struct ulb_long *format,
                                                                   __m256i scales, int32_t units[ULB_UNITS])
{
    if (ULB_SCALES_IN_MEMORY && format->groups == ULB_UNITS) {
        const __m256i twice = _mm256_setr_epi8(0, -1, 0, -1, 1, -1, 1, -1, 2, -1, 2, -1, 3, -1, 3, -1, 4, -1,
                                               4, -1, 5, -1, 5, -1, 6, -1, 6, -1, 7, -1, 7, -1);
        _mm256_storeu_si256((__m256i *)units, _mm256_shuffle_epi8(scales, twice));
        __asm__("" : "+m"(*(int32_t(*)[ULB_UNITS])units)); /* else GCC takes them from the register */
    }
}

/* The words of a unit's groups, each in its half. scales: of words; of bytes of groups of 16 columns; placed
 * ones of 32 are in units. */
static inline __attribute__((always_inline)) __m256i
ulb_unit_words(const struct ulb_long *format, __m256i scales, const int32_t *units, size_t unit)
{
    if (format->scales)
        return ulb_unit_scales(scales, unit);
    if (ULB_SCALES_IN_MEMORY && format->groups == ULB_UNITS)
        return ulb_load_to_lanes(&units[unit]);
    size_t first = format->groups * unit / ULB_UNITS, second = first + (format->groups > ULB_UNITS);
    return _mm256_shuffle_epi8(scales, ulb_from_halves(_mm_set1_epi16((short)(0x8000 | first)),
                                                       _mm_set1_epi16((short)(0x8000 | second))));
}

/* *sums += products of 32 columns; see ulb_dot(). x from memory, because Clang loads the activations that two
 * rows share early, and stores them. */
static inline void ulb_dot_unit(__m256i *sums, __m256i codes, const int8_t *x)
{
#if ULB_WORD_SUMS
    __m256i pairs;
    __asm__("vpmaddubsw %[x], %[codes], %[pairs]\n\tvpaddw %[pairs], %[sums], %[sums]"
            : [sums] ULB_SUM(*sums), [pairs] ULB_SCRATCH(pairs)
            : [codes] "x"(codes), [x] "m"(*(const int8_t(*)[32])x));
#else
    ulb_dp(sums, codes, _mm256_loadu_si256((const __m256i *)x));
#endif
}

/* int32 sums of a block's products. */
static inline __attribute__((always_inline)) __m256i ulb_plain_sums(const struct ulb_long *format,
                                                                    const uint8_t *block, const int8_t *x)
{
    __m256i sums = _mm256_setzero_si256();
#pragma GCC unroll 8
    for (size_t unit = 0; unit < ULB_UNITS; unit++)
        ulb_dot_unit(&sums, format->codes(block, unit), x + 32 * unit);
    return ulb_widen(sums);
}

/* The same, times integer scales: words, or bytes. */
static inline __attribute__((always_inline)) __m256i
ulb_scaled_sums(const struct ulb_long *format, const uint8_t *block, const int8_t *x, __m256i scales)
{
    __m256i sums = _mm256_setzero_si256();
    int32_t units[ULB_UNITS];
    ulb_place_scales(format, scales, units);
#pragma GCC unroll 8
    for (size_t unit = 0; unit < ULB_UNITS; unit++) {
        __m256i x32 = _mm256_loadu_si256((const __m256i *)(x + 32 * unit));
        ulb_dot_words(&sums, _mm256_maddubs_epi16(format->codes(block, unit), x32),
                      ulb_unit_words(format, scales, units, unit));
    }
    return sums;
}

/* results += a block with minima, in odd lanes what these take off. d and dmin are neighbours. */
static inline __attribute__((always_inline)) void ulb_add_with_minima(const struct ulb_long *format,
                                                                      const uint8_t *block, const int8_t *x,
                                                                      __m256i x_sums, __m256 x_scale,
                                                                      __m256 *results)
{
    __m128i halves = _mm256_castsi256_si128(ulb_load_to_lanes(block + format->d_at));
    __m256 both = _mm256_mul_ps(_mm256_cvtph_ps(halves), x_scale);
    __m256i scales, minima;
    format->scales_and_minima(block, &scales, &minima);
    __m256i sums = ulb_scaled_sums(format, block, x, scales), less = _mm256_madd_epi16(minima, x_sums);
    __m256i pairs = _mm256_add_epi32(_mm256_unpacklo_epi32(sums, less), _mm256_unpackhi_epi32(sums, less));
    *results = _mm256_fmadd_ps(_mm256_cvtepi32_ps(pairs), both, *results);
}

/* results += block b of a row and one token. */
static inline __attribute__((always_inline)) void ulb_add_long(const struct ulb_long *format,
                                                               const uint8_t *block, size_t b,
                                                               const struct ulb_in_place_x *token,
                                                               __m256 *results)
{
    const int8_t *x = token->x + b * ULB_LONG_COLUMNS;
    __m256i x_sums = _mm256_loadu_si256((const __m256i *)(token->sums + 16 * b));
    __m256 x_scale = ULB_BY_SUMS(_mm256_set1_ps(token->scale[b]),
                                 _mm256_castsi256_ps(ulb_load_to_lanes(&token->scale[b])));
    if (format->scales_and_minima) {
        ulb_add_with_minima(format, block, x, x_sums, x_scale, results);
        return;
    }
    int16_t half;
    __builtin_memcpy(&half, block + format->d_at, sizeof half);
    __m256 d = _mm256_mul_ps(_mm256_cvtph_ps(_mm_set1_epi16(half)), x_scale);
    __m256i scales = format->scales ? format->scales(block) : _mm256_set1_epi16(1);
    __m256i sums =
        format->scales ? ulb_scaled_sums(format, block, x, scales) : ulb_plain_sums(format, block, x);
    __m256i zero = _mm256_slli_epi32(_mm256_madd_epi16(scales, x_sums), (int)format->zero_shift);
    *results = _mm256_fmadd_ps(_mm256_cvtepi32_ps(_mm256_sub_epi32(sums, zero)), d, *results);
}

/* The sign of every odd lane. */
static inline __m256 ulb_odd_signs(void)
{
    return _mm256_castsi256_ps(_mm256_set1_epi64x((long long)0x8000000000000000ULL));
}

static inline float ulb_sum_of_floats(__m256 v)
{
    __m128 four = _mm_add_ps(_mm256_castps256_ps128(v), _mm256_extractf128_ps(v, 1));
    __m128 two = _mm_add_ps(four, _mm_movehl_ps(four, four));
    return _mm_cvtss_f32(_mm_add_ss(two, _mm_movehdup_ps(two)));
}

/* Rows m[i]. */
static inline __attribute__((always_inline)) void
ulb_long_rows(const struct ulb_gemm *g, const struct ulb_long *format, const size_t *m, size_t streams)
{
    size_t blocks = g->k / ULB_LONG_COLUMNS;
    for (size_t n = 0; n < g->n; n++) {
        struct ulb_in_place_x x = ulb_in_place_token(g, n);
        __m256 results[ULB_ROW_STREAMS];
#pragma GCC unroll 2
        for (size_t i = 0; i < streams; i++)
            results[i] = _mm256_setzero_ps();
        for (size_t b = 0; b < blocks; b++) {
#pragma GCC unroll 2
            for (size_t i = 0; i < streams; i++) {
                const uint8_t *block = (const uint8_t *)g->w + (m[i] * blocks + b) * format->bytes;
                ulb_add_long(format, block, b, &x, &results[i]);
                ulb_prefetch_ahead(block + ULB_LONG_NEAR, format->bytes);
            }
        }
        for (size_t i = 0; i < streams; i++)
            g->y[n * g->y_stride + m[i]] = ulb_sum_of_floats(
                format->scales_and_minima ? _mm256_xor_ps(results[i], ulb_odd_signs()) : results[i]);
    }
}

static inline __attribute__((always_inline)) void ulb_run_long(const struct ulb_gemm *g,
                                                               const struct ulb_long *format)
{
    size_t part = (g->m1 - g->m0) / ULB_ROW_STREAMS, m = g->m0;
    for (; m < g->m0 + part; m++)
        ulb_long_rows(g, format, (const size_t[]){m, m + part}, ULB_ROW_STREAMS);
    for (m += part; m < g->m1; m++)
        ulb_long_rows(g, format, &m, 1);
}

/* ---- codes and scales that several formats have ---- */

/* Fields of so many bits at bit shift of each byte, moved to bit at. Constants. */
static inline __attribute__((always_inline)) __m256i ulb_field(__m256i bytes, unsigned shift, unsigned at,
                                                               int mask)
{
    __m256i moved = shift > at   ? _mm256_srli_epi16(bytes, (int)(shift - at))
                    : shift < at ? _mm256_slli_epi16(bytes, (int)(at - shift))
                                 : bytes;
    return _mm256_and_si256(moved, _mm256_set1_epi8((char)(mask << at)));
}

/* Two-bit fields of kernels/crumbs.h, at bit at. */
static inline __attribute__((always_inline)) __m256i ulb_unit_crumbs(const uint8_t *qs, size_t unit,
                                                                     unsigned at)
{
    return ulb_field(_mm256_loadu_si256((const __m256i *)(qs + unit / 4 * 32)), (unsigned)(unit % 4 * 2), at,
                     3);
}

/* Bit unit of 32 bytes, at bit at. */
static inline __attribute__((always_inline)) __m256i ulb_unit_bits(const uint8_t *bits, size_t unit,
                                                                   unsigned at)
{
    return ulb_field(_mm256_loadu_si256((const __m256i *)bits), (unsigned)unit, at, 1);
}

/* Nibbles of Q4_K and Q5_K. */
static inline __attribute__((always_inline)) __m256i ulb_unit_nibbles(const uint8_t *qs, size_t unit)
{
    return ulb_field(_mm256_loadu_si256((const __m256i *)(qs + unit / 2 * 32)), (unsigned)(unit % 2 * 4), 0,
                     15);
}

/* Scales and minima of kernels/k_scales.h, for struct ulb_long; four bytes more are read. */
static inline __attribute__((always_inline)) void ulb_k_scales_and_minima(const uint8_t bytes[12],
                                                                          __m256i *scales, __m256i *minima)
{
#if ULB_WORD_SUMS
    /* General registers: vectors have enough to do. */
    uint64_t first;
    uint32_t last;
    __builtin_memcpy(&first, bytes, sizeof first);
    __builtin_memcpy(&last, bytes + 8, sizeof last);
    uint64_t lower = (uint64_t)(last >> 4 & 0x0F0F0F0F) << 32 | (last & 0x0F0F0F0F);
    uint64_t upper = lower | (first >> 2 & 0x3030303030303030);
    __m128i first4 = _mm_cvtsi64_si128((long long)(first & 0x3F3F3F3F3F3F3F3F)),
            last4 = _mm_cvtsi64_si128((long long)upper);
#else
    __m128i all = _mm_loadu_si128((const __m128i *)bytes),
            last = _mm256_castsi256_si128(ulb_load_to_lanes(bytes + 8));
    __m128i first4 = _mm_and_si128(all, _mm_set1_epi8(0x3F));
    __m128i upper = _mm_and_si128(_mm_srli_epi16(all, 2), _mm_set1_epi8(0x30));
    __m128i lower = _mm_srlv_epi32(last, _mm_setr_epi32(0, 4, 0, 4));
    __m128i last4 = _mm_or_si128(_mm_and_si128(lower, _mm_set1_epi8(0x0F)), upper);
#endif
    /* Dwords 0 and 1: of scales and of minima. */
    *scales = _mm256_broadcastsi128_si256(_mm_unpacklo_epi32(first4, last4));
    *minima = _mm256_shuffle_epi8(*scales, _mm256_setr_epi8(8, -1, 8, -1, 9, -1, 9, -1, 10, -1, 10, -1, 11,
                                                            -1, 11, -1, 12, -1, 12, -1, 13, -1, 13, -1, 14,
                                                            -1, 14, -1, 15, -1, 15, -1));
}

/* Nibbles of two rows: low ones are columns 0-15, high ones 16-31. */
static inline __attribute__((always_inline)) void ulb_pair_nibbles(const uint8_t *a, const uint8_t *b,
                                                                   __m256i *low, __m256i *high)
{
    __m256i bytes = ulb_load_pair(a, b);
    *low = ulb_field(bytes, 0, 0, 15);
    *high = ulb_field(bytes, 4, 0, 15);
}

/* The same, looked up in a table of bytes. */
static inline __attribute__((always_inline)) void
ulb_pair_entries(const uint8_t *a, const uint8_t *b, const uint8_t looked_up[16], __m256i *low, __m256i *high)
{
    __m256i entries = _mm256_broadcastsi128_si256(_mm_loadu_si128((const __m128i *)looked_up));
    ulb_pair_nibbles(a, b, low, high);
    *low = _mm256_shuffle_epi8(entries, *low);
    *high = _mm256_shuffle_epi8(entries, *high);
}

/* Nibbles and, at qh, 12 bytes before their end at least, bit 4 (kernels/five_bits.h). */
static inline __attribute__((always_inline)) void ulb_pair_fives(const uint8_t *a, const uint8_t *b,
                                                                 size_t qh, __m256i *low, __m256i *high)
{
    const __m256i spread = _mm256_setr_epi8(0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0,
                                            0, 0, 1, 1, 1, 1, 1, 1, 1, 1);
    const __m256i bit = _mm256_set1_epi64x((long long)0x8040201008040201ULL), sixteen = _mm256_set1_epi8(16);
    __m256i bits = ulb_load_pair(a + qh, b + qh);
    __m256i first = _mm256_shuffle_epi8(bits, spread);
    __m256i second = _mm256_shuffle_epi8(bits, _mm256_add_epi8(spread, _mm256_set1_epi8(2)));
    ulb_pair_nibbles(a + qh + 4, b + qh + 4, low, high);
    __m256i is_first = _mm256_cmpeq_epi8(_mm256_and_si256(first, bit), bit);
    __m256i is_second = _mm256_cmpeq_epi8(_mm256_and_si256(second, bit), bit);
    *low = _mm256_or_si256(*low, _mm256_and_si256(is_first, sixteen));
    *high = _mm256_or_si256(*high, _mm256_and_si256(is_second, sixteen));
}

/* Instruction mixes, per 32 weights: what the codes of a format take, and what the walks above do. A vector
 * of a pair is a load and an insertion from memory, a gathered half but the first a load and a shuffle.
 * powers: scales are exponents. Signed codes are values, and have no zero point, with 16-bit sums. */
#define ULB_PAIRED_ZERO(minimum, is_signed) (!(minimum) && ULB_BY_SUMS(!(is_signed), 1))
#define ULB_PAIRED_MIX(code_loads, code_logic, code_shifts, code_shuffles, code_compares, minimum,           \
                       is_signed, powers)                                                                    \
    .loads = (code_loads) + 1.0 + (minimum),                                                                 \
    .broadcasts = (3 + ((minimum) || ULB_PAIRED_ZERO(minimum, is_signed))) / 8.0,                            \
    .logic = (code_logic) + 0.5 * (code_loads), .shifts = (code_shifts) + (powers) / 8.0,                    \
    .shuffles = (code_shuffles) + 0.75 + !(powers) * (1.0 + (minimum)) * 0.875, .compares = (code_compares), \
    .adds = (3 + ULB_PAIRED_ZERO(minimum, is_signed) + 2 * (powers)) / 8.0 +                                 \
            ULB_BY_SUMS((is_signed) ? 2.5 : 0.5, 0),                                                         \
    .dot_products = ULB_BY_SUMS(0, 1), .maddubs = ULB_BY_SUMS(1, 0),                                         \
    .madds =                                                                                                 \
        ((minimum) || ULB_PAIRED_ZERO(minimum, is_signed)) / 8.0 + ULB_BY_SUMS((is_signed) ? 1 : 0.5, 0),    \
    .fmas = (1 + (minimum)) / 4.0, .conversions = (1.0 + (minimum)) / 8,                                     \
    .halves = !(powers) * (1.0 + (minimum)) / 8, .widenings = (powers) / 8.0
/* groups: of integer scales, 0, 8 or 16; minima: of formats that have them, whose d and dmin are one load and
 * one multiplication, and whose sums and minima one conversion and one FMA. */
#define ULB_K_SCALES(groups, vectors) ((groups) == 8 ? ULB_BY_SUMS(0, vectors) : 0)
#define ULB_UNIT_SHUFFLES(groups)     ((groups) == 8 ? (ULB_SCALES_IN_MEMORY ? 1 : 8) + 5 : (groups) ? 8 + 2 : 0)
#define ULB_LONG_MIX(code_loads, code_logic, code_shifts, code_adds, code_compares, groups, minima)          \
    .loads = (code_loads) + 1.375 + ULB_K_SCALES(groups, 1) / 8.0,                                           \
    .broadcasts = ULB_SCALES_IN_MEMORY && (groups) == 8 ? 1 : 0,                                             \
    .logic = (code_logic) + ULB_K_SCALES(groups, ULB_BY_LOGIC(4, 3)) / 8.0 +                                 \
             ((groups) == 16 && (minima) ? 0.25 : 0),                                                        \
    .shifts = (code_shifts) + ULB_K_SCALES(groups, 2) / 8.0 + 0.125 * !((minima) && (groups) == 8),          \
    .shuffles = ULB_UNIT_SHUFFLES(groups) / 8.0, .compares = (code_compares),                                \
    .adds = (code_adds) + 0.125 + ULB_BY_SUMS(1, 0), .dot_products = ULB_BY_SUMS(0, 1),                      \
    .maddubs = ULB_BY_SUMS(1, (groups) ? 1 : 0), .madds = 0.125 + ULB_BY_SUMS((groups) ? 1 : 0.125, 0),      \
    .fmas = 2 / 8.0, .conversions = 1 / 8.0, .halves = 1 / 8.0, .widenings = ((groups) == 16 ? 1 : 0) / 8.0

/* The row of a format's in_place_dot256.c. */
#define ULB_IN_PLACE_ROW(in_place, act, m_rows, columns, block_bytes, ...)                                   \
    {                                                                                                        \
        .abi = ULB_KERNEL_ABI, .variant = "inplace", .isa = ULB_ROW_ISA, .needs = ULB_ROW_NEEDS,             \
        .layout = &(in_place), .activation = (act), .mr = (m_rows), .nr = 1, .kr = (columns),                \
        .bytes_per_step = 32.0 * (block_bytes) / (columns), .tolerance = ULB_BLOCK_TOLERANCE,                \
        .mix = {__VA_ARGS__,                                                                                 \
                .prefetches =                                                                                \
                    ((m_rows) * (block_bytes) + ULB_LINE - 1) / ULB_LINE * 32.0 / ((columns) * (m_rows)),    \
                .vector_bits = 256},                                                                         \
        .run = run,                                                                                          \
    }

#endif
