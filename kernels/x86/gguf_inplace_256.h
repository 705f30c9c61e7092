/* Block formats of 256 columns in place: one row at a time, 32 columns a vector. Pairs of products, 16 bits
 * each, are multiplied by the integer scale of their group of 16 columns while they are added up. Conversion
 * thus comes only at the end of a block.
 * `|sum| <= 63 * 128 * 128 * 256 < 2^29`.
 *
 * Two streams: blocks of the upper and lower half of the rows alternate. A tuned setting leaves them to the
 * hardware prefetchers, which are faster there. */
#ifndef ULB_KERNELS_X86_GGUF_INPLACE_256_H
#define ULB_KERNELS_X86_GGUF_INPLACE_256_H

#include "kernels/x86/gemm/gguf_inplace.h"

enum {
    ULB_LONG_COLUMNS = 256,
    ULB_UNITS = 8,
    ULB_ROW_STREAMS = 2,
    ULB_LONG_NEAR = 1024 /* bytes ahead of the prefetch */
};

static inline __m256i ulb_from_halves(__m128i low, __m128i high)
{
    return _mm256_inserti128_si256(_mm256_castsi128_si256(low), high, 1);
}

static inline __m256i ulb_words(__m128i unsigned_bytes)
{
    return _mm256_cvtepu8_epi16(unsigned_bytes);
}

/* Every line of some bytes; at is rarely the begin of one. */
static inline __attribute__((always_inline)) void ulb_prefetch_ahead(const uint8_t *at, size_t bytes)
{
#pragma GCC unroll 8
    for (size_t i = 0; i < bytes; i += ULB_LINE)
        _mm_prefetch((const char *)at + i, _MM_HINT_T0);
}

/* Parameters of a format. 16 words of a vector belong to the groups of 16 columns. */
struct ulb_long {
    size_t bytes, d_at;
    int32_t zero_point; /* of codes, a power of two */
    /* Scales of groups. NULL: none. Without minima: 16 signed bytes. With minima, dmin follows d: scales of
     * eight groups, followed by their minima, or of 16 groups, nibbles whose low halves are scales. */
    __m128i (*scales)(const uint8_t *block);
    enum ulb_minima minima;
    /* Codes of 32 columns from 32 unit on. unit: a constant. */
    __m256i (*codes)(const uint8_t *block, size_t unit);
};

/* Scales of the two groups of a unit, one in each half. */
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

/* The words of a unit's groups, each in its half. scales: words, or with minima bytes, in both halves. */
static inline __attribute__((always_inline)) __m256i ulb_unit_words(const struct ulb_long *format,
                                                                    __m256i scales, size_t unit)
{
    if (!format->minima)
        return ulb_unit_scales(scales, unit);
    const bool is_nibble = format->minima == ULB_NIBBLE_MINIMA;
    size_t first = is_nibble ? 2 * unit : unit, second = first + is_nibble;
    return _mm256_shuffle_epi8(scales, ulb_from_halves(_mm_set1_epi16((short)(0x8000 | first)),
                                                       _mm_set1_epi16((short)(0x8000 | second))));
}

/* *sums += products of 32 columns; see ulb_dot(). x from memory, because Clang loads the activations that two
 * rows share early, and stores them. */
static inline void ulb_dot_unit(__m256i *sums, __m256i codes, const int8_t *x)
{
#if ULB_S16_SUMS
    __m256i pairs;
    __asm__("vpmaddubsw %[x], %[codes], %[pairs]\n\tvpaddw %[pairs], %[sums], %[sums]"
            : [sums] ULB_SUM(*sums), [pairs] ULB_SCRATCH(pairs)
            : [codes] "x"(codes), [x] "m"(*(const int8_t(*)[32])x));
#else
    ulb_dp(sums, codes, _mm256_loadu_si256((const __m256i *)x));
#endif
}

/* Sums that alternate for a block's dot products. A single sum would be a chain of eight latencies, and a
 * core does not look ahead over many blocks. Additions of words have a latency of one cycle. */
enum { ULB_BLOCK_SUMS = ULB_BY_SUMS(1, 2) };

static inline __attribute__((always_inline)) __m256i ulb_add_up(const __m256i sums[ULB_BLOCK_SUMS])
{
    return ULB_BLOCK_SUMS == 1 ? sums[0] : _mm256_add_epi32(sums[0], sums[ULB_BLOCK_SUMS - 1]);
}

/* int32 sums of a block's products. */
static inline __attribute__((always_inline)) __m256i ulb_plain_sums(const struct ulb_long *format,
                                                                    const uint8_t *block, const int8_t *x)
{
    __m256i sums[ULB_BLOCK_SUMS] = {_mm256_setzero_si256()};
#pragma GCC unroll 8
    for (size_t unit = 0; unit < ULB_UNITS; unit++)
        ulb_dot_unit(&sums[unit % ULB_BLOCK_SUMS], format->codes(block, unit), x + 32 * unit);
    return ulb_widen_s16(ulb_add_up(sums));
}

/* Sums times integer scales: words, or bytes. */
static inline __attribute__((always_inline)) __m256i
ulb_scaled_sums(const struct ulb_long *format, const uint8_t *block, const int8_t *x, __m256i scales)
{
    __m256i sums[ULB_BLOCK_SUMS] = {_mm256_setzero_si256()};
#pragma GCC unroll 8
    for (size_t unit = 0; unit < ULB_UNITS; unit++) {
        __m256i x32 = _mm256_loadu_si256((const __m256i *)(x + 32 * unit));
        ulb_dot_s16(&sums[unit % ULB_BLOCK_SUMS], _mm256_maddubs_epi16(format->codes(block, unit), x32),
                    ulb_unit_words(format, scales, unit));
    }
    return ulb_add_up(sums);
}

/* scales: bytes, in both halves; minima: words of 16 columns. */
static inline __attribute__((always_inline)) void
ulb_scales_and_minima(const struct ulb_long *format, const uint8_t *block, __m256i *scales, __m256i *minima)
{
    const __m128i bytes = format->scales(block);
    const __m256i both = _mm256_broadcastsi128_si256(bytes), nibble = _mm256_set1_epi8(15);
    if (format->minima == ULB_NIBBLE_MINIMA) {
        *scales = _mm256_and_si256(both, nibble);
        *minima = _mm256_and_si256(_mm256_srli_epi16(ulb_words(bytes), 4), nibble);
    } else {
        *scales = both;
        *minima = _mm256_shuffle_epi8(both, _mm256_setr_epi8(8, -1, 8, -1, 9, -1, 9, -1, 10, -1, 10, -1, 11,
                                                             -1, 11, -1, 12, -1, 12, -1, 13, -1, 13, -1, 14,
                                                             -1, 14, -1, 15, -1, 15, -1));
    }
}

/* results += a block with minima, in odd lanes what these take off. d and dmin are neighbours. */
static inline __attribute__((always_inline)) void ulb_add_with_minima(const struct ulb_long *format,
                                                                      const uint8_t *block, const int8_t *x,
                                                                      __m256i x_sums, __m256 x_scale,
                                                                      __m256 *results)
{
    __m256i scales, minima;
    ulb_scales_and_minima(format, block, &scales, &minima);
    __m256i less = ulb_madd16(minima, x_sums), sums = ulb_scaled_sums(format, block, x, scales);
    /* d after the sums: Clang would keep it in memory meanwhile. */
    __asm__("" : "+r"(block), "+x"(sums));
    __m128i halves = _mm256_castsi256_si128(ulb_broadcast4(block + format->d_at));
    __m256 both = _mm256_mul_ps(_mm256_cvtph_ps(halves), x_scale);
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
    __m256 x_scale =
        ULB_BY_SUMS(_mm256_set1_ps(token->scale[b]), _mm256_castsi256_ps(ulb_broadcast4(&token->scale[b])));
    if (format->minima) {
        ulb_add_with_minima(format, block, x, x_sums, x_scale, results);
        return;
    }
    int16_t half;
    __builtin_memcpy(&half, block + format->d_at, sizeof half);
    __m256 d = _mm256_mul_ps(_mm256_cvtph_ps(_mm_set1_epi16(half)), x_scale);
    __m256i scales = format->scales ? _mm256_cvtepi8_epi16(format->scales(block)) : _mm256_set1_epi16(1);
    __m256i sums =
        format->scales ? ulb_scaled_sums(format, block, x, scales) : ulb_plain_sums(format, block, x);
    __m256i zero =
        _mm256_slli_epi32(_mm256_madd_epi16(scales, x_sums), __builtin_ctz((unsigned)format->zero_point));
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

/* A row's result. */
static inline __attribute__((always_inline)) float ulb_sum_long(const struct ulb_long *format, __m256 results)
{
    return ulb_sum_of_floats(format->minima ? _mm256_xor_ps(results, ulb_odd_signs()) : results);
}

/* Computes rows m[i]. asks: whether to prefetch, a constant. */
static inline __attribute__((always_inline)) void ulb_long_rows(const struct ulb_gemm *g, bool asks,
                                                                const struct ulb_long *format,
                                                                const size_t *m, size_t streams)
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
                if (asks)
                    ulb_prefetch_ahead(block + ULB_LONG_NEAR, format->bytes);
            }
        }
        for (size_t i = 0; i < streams; i++)
            g->y[n * g->y_stride + m[i]] = ulb_sum_long(format, results[i]);
    }
}

static inline __attribute__((always_inline)) void ulb_run_long_as(bool asks, const struct ulb_gemm *g,
                                                                  const struct ulb_long *format)
{
    size_t part = (g->m1 - g->m0) / ULB_ROW_STREAMS, m = g->m0;
    for (; m < g->m0 + part; m++)
        ulb_long_rows(g, asks, format, (const size_t[]){m, m + part}, ULB_ROW_STREAMS);
    for (m += part; m < g->m1; m++)
        ulb_long_rows(g, asks, format, &m, 1);
}

static inline __attribute__((always_inline)) void ulb_run_long(const struct ulb_gemm *g,
                                                               const struct ulb_long *format)
{
    if (g->prefetch.target == ULB_PREFETCH_NONE)
        ulb_run_long_as(false, g, format);
    else
        ulb_run_long_as(true, g, format);
}

/* For several tokens: unpacks codes of blocks of eight rows into vector `to` of the steps. Each unit
 * prefetches ahead in one of the rows. */
static inline __attribute__((always_inline)) void ulb_unpack_long_codes(const struct ulb_long *format,
                                                                        const uint8_t *const blocks[8],
                                                                        size_t ahead, uint8_t *to)
{
#pragma GCC unroll 8
    for (size_t unit = 0; unit < ULB_UNITS; unit++) {
        __m256i low[4], high[4];
#pragma GCC unroll 4
        for (size_t i = 0; i < 4; i++) {
            const __m256i a = format->codes(blocks[i], unit), b = format->codes(blocks[i + 4], unit);
            low[i] = _mm256_permute2x128_si256(a, b, 0x20);
            high[i] = _mm256_permute2x128_si256(a, b, 0x31);
        }
        ulb_prefetch_in_place(blocks[unit] + ahead, format->bytes, &high[0]);
        ulb_unpack_pairs(low, to + 8 * unit * ULB_IN_PLACE_STEP_BYTES);
        ulb_unpack_pairs(high, to + (8 * unit + 4) * ULB_IN_PLACE_STEP_BYTES);
    }
}

/* Scales and minima of these rows, vector v of the tile's. */
static inline __attribute__((always_inline)) void ulb_unpack_long_scales(const struct ulb_long *format,
                                                                         const uint8_t *const blocks[8],
                                                                         size_t v,
                                                                         struct ulb_unpacked *unpacked)
{
    const bool is_nibble = format->minima == ULB_NIBBLE_MINIMA;
    const size_t quads = format->minima == ULB_BYTE_MINIMA ? 2 : 4;
    __m256i pairs[4], lanes[4]; /* of which each has the scales of 4 groups, or minima */
#pragma GCC unroll 4
    for (size_t i = 0; i < 4; i++)
        pairs[i] = ulb_from_halves(format->scales(blocks[i]), format->scales(blocks[i + 4]));
    ulb_turn_over(pairs, lanes);
#pragma GCC unroll 4
    for (size_t q = 0; q < quads; q++) {
        const __m256i four = is_nibble ? _mm256_and_si256(lanes[q], _mm256_set1_epi8(15)) : lanes[q];
#pragma GCC unroll 4
        for (int i = 0; i < 4; i++)
            ulb_unpack_scale(format->minima ? 0 : format->zero_point,
                             format->minima
                                 ? _mm256_and_si256(_mm256_srli_epi32(four, 8 * i), _mm256_set1_epi32(255))
                                 : _mm256_srai_epi32(_mm256_slli_epi32(four, 24 - 8 * i), 24),
                             4 * q + (size_t)i, v, unpacked);
        if (format->minima)
            ulb_split_minima(is_nibble ? ulb_and(ulb_shr16(lanes[q], 4), ulb_all8(15))
                                       : lanes[(q + quads) % 4],
                             q, v, ulb_epilogue_of(unpacked, 0));
    }
}

/* A ulb_unpack_in_place_fn of the format. */
static inline __attribute__((always_inline)) void ulb_unpack_long(const struct ulb_long *format,
                                                                  const struct ulb_in_place_tile *tile,
                                                                  size_t b, struct ulb_unpacked *unpacked)
{
    struct ulb_block_epilogue *epilogue = ulb_epilogue_of(unpacked, 0);
    const size_t at = b * format->bytes, ahead = ulb_in_place_ahead(tile, at);
    uint16_t d[ULB_IN_PLACE_ROWS], dmin[ULB_IN_PLACE_ROWS];
    for (size_t v = 0; v < ULB_IN_PLACE_VECTORS; v++) {
        const uint8_t *blocks[8];
#pragma GCC unroll 8
        for (size_t i = 0; i < 8; i++) {
            const size_t r = 8 * v + i;
            blocks[i] = tile->rows[r] + at;
            memcpy(&d[r], blocks[i] + format->d_at, sizeof d[r]);
            if (format->minima)
                memcpy(&dmin[r], blocks[i] + format->d_at + sizeof d[r], sizeof dmin[r]);
        }
        ulb_unpack_long_codes(format, blocks, ahead, unpacked->codes + 32 * v);
        if (format->scales)
            ulb_unpack_long_scales(format, blocks, v, unpacked);
    }
    for (size_t v = 0; v < ULB_IN_PLACE_VECTORS; v++) {
        epilogue->d[v] = ulb_load_halves(d + 8 * v);
        if (format->minima)
            epilogue->dmin[v] = ulb_load_halves(dmin + 8 * v);
    }
}

/* For kernels/x86/gguf_inplace_kernel.h. */
#define COLUMNS                              ULB_LONG_COLUMNS
#define ROWS                                 1
#define POWERS                               0
#define RUN_ONE_BY_ONE(g, format)            ulb_run_long(g, format)
#define UNPACK(format, tile, b, i, unpacked) ((void)(i), ulb_unpack_long(format, tile, b, unpacked))

/* ---- codes and scales that several formats have ---- */

/* Two-bit fields of kernels/codes/two_bit.h, at bit at. */
static inline __attribute__((always_inline)) __m256i ulb_unit_two_bit(const uint8_t *qs, size_t unit,
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

/* Scales and minima of kernels/codes/kquant_scales.h, for struct ulb_long. */
static inline __attribute__((always_inline)) __m128i ulb_k_scales(const uint8_t bytes[12])
{
    /* General registers: vectors have enough to do. */
    uint64_t first;
    uint32_t last;
    __builtin_memcpy(&first, bytes, sizeof first);
    __builtin_memcpy(&last, bytes + 8, sizeof last);
    uint64_t lower = (uint64_t)(last >> 4 & 0x0F0F0F0F) << 32 | (last & 0x0F0F0F0F);
    uint64_t upper = lower | (first >> 2 & 0x3030303030303030);
    __m128i first4 = _mm_cvtsi64_si128((long long)(first & 0x3F3F3F3F3F3F3F3F)),
            last4 = _mm_cvtsi64_si128((long long)upper);
    /* Dwords 0 and 1: of scales and of minima. */
    return _mm_unpacklo_epi32(first4, last4);
}

/* Instruction mix per 32 weights: the codes of a format, and the loop above. code_loads: vectors of codes,
 * each loaded once for all units with codes in it, without constants in memory. groups: of integer scales, 0,
 * 8 or 16. minima: the format has minima. Its d and dmin share one load and one multiplication; sums and
 * minima share one conversion and one FMA. */
#define ULB_UNIT_SHUFFLES(groups) ((groups) == 8 ? 8 + 5 : (groups) ? 8 + 2 : 0)
#define ULB_LONG_MIX(code_loads, code_logic, code_shifts, code_adds, code_compares, groups, minima)          \
    .loads = (code_loads) + 1.375, .logic = (code_logic) + ((groups) == 16 && (minima) ? 0.25 : 0),          \
    .shifts = (code_shifts) + 0.125 * !((minima) && (groups) == 8),                                          \
    .shuffles = ULB_UNIT_SHUFFLES(groups) / 8.0, .compares = (code_compares),                                \
    .adds = (code_adds) + 0.125 * ULB_BLOCK_SUMS + ULB_BY_SUMS(1, 0), .dot_products = ULB_BY_SUMS(0, 1),     \
    .maddubs = ULB_BY_SUMS(1, (groups) ? 1 : 0), .madds = 0.125 + ULB_BY_SUMS((groups) ? 1 : 0.125, 0),      \
    .fmas = 2 / 8.0, .conversions = 1 / 8.0, .halves = 1 / 8.0, .widenings = ((groups) == 16 ? 1 : 0) / 8.0

#endif
