/* Block formats of 32 columns in place. A vector holds the same 16 columns of two rows, one in each half.
 * Four such pairs are eight rows. Three rounds of two shuffles and an addition bring their sums into one
 * vector, so that conversion and scales are one operation for eight rows.
 *
 * The eight rows are address streams, each in its own eighth of the rows. */
#ifndef ULB_KERNELS_X86_GGUF_INPLACE_32_H
#define ULB_KERNELS_X86_GGUF_INPLACE_32_H

#include "kernels/x86/gemm/gguf_inplace.h"

enum {
    ULB_PAIRED_ROWS = 8,
    ULB_PAIRED_COLUMNS = 32,
    ULB_PAIRED_NEAR = 768 /* bytes ahead of the prefetch */
};

/* 16 bytes each. */
static inline __m256i ulb_load_pair(const uint8_t *low, const uint8_t *high)
{
    __m128i lower = _mm_loadu_si128((const __m128i *)low), upper = _mm_loadu_si128((const __m128i *)high);
    return _mm256_inserti128_si256(_mm256_castsi128_si256(lower), upper, 1);
}

struct ulb_paired {
    size_t bytes;   /* of a block */
    bool powers;    /* the scale, at the block's begin, is an exponent; false: half precision */
    bool minimum;   /* half precision, after the scale */
    bool is_signed; /* codes are values, 16-bit sums hold one pair */
    bool many;      /* codes take many registers and are computed for two rows at a time; false: for all eight
                       first */
    int32_t zero_point; /* of codes */
    /* Unpacks columns 0-15 and 16-31 of two rows. */
    void (*codes)(const uint8_t *a, const uint8_t *b, __m256i *low, __m256i *high);
};

/* int32 sums of codes times activations, 4 for each row. */
static inline __attribute__((always_inline)) __m256i ulb_pair_sums(bool is_signed, __m256i low, __m256i high,
                                                                   __m256i x_low, __m256i x_high)
{
#if ULB_S16_SUMS
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

/* Pointers to 8 rows, stride bytes apart. */
struct ulb_row_pointers {
    const uint8_t *first, *fourth;
    size_t stride, three; /* 3 * stride */
};

/* Row i, a constant: the sum of two registers, one of them times 1, 2 or 4. */
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

/* Gathers exponents, see ulb_load_powers(). They are joined in a general register, because vector units are
 * busy. */
static inline __attribute__((always_inline)) __m256 ulb_gather_powers(const struct ulb_row_pointers *rows)
{
    uint64_t e = 0;
#pragma GCC unroll 8
    for (size_t i = ULB_PAIRED_ROWS; i-- > 0;)
        e = e << 8 | *ulb_row_at(rows, i);
    __asm__("" : "+r"(e)); /* keeps Clang from inserting bytes into a vector */
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
        /* Separates the loads from the products: so many loads at once are faster. */
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

/* Prefetches in some of the rows, alternating, as many lines as eight blocks have. offsets: of the eight
 * rows, twice. */
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

/* Prefetches in every row with the tuned setting, each by its own instruction. The prefetchers of Zen follow
 * a stream by the instruction, and a few instructions that alternate between eight rows mislead them. */
static inline __attribute__((always_inline)) void ulb_prefetch_each_row(const struct ulb_row_pointers *rows,
                                                                        struct ulb_prefetch_setting prefetch)
{
    ULB_UNROLL(8)
    for (size_t i = 0; i < ULB_PAIRED_ROWS; i++)
        ulb_prefetch_tuned(ulb_row_at(rows, i), 0, prefetch);
}

/* The products of one token and eight rows, `part` rows apart. */
static inline __attribute__((always_inline)) __m256
ulb_sum_paired(const struct ulb_paired *format, struct ulb_prefetch_setting prefetch, const uint8_t *rows,
               const size_t *offsets, size_t blocks, const struct ulb_in_place_x *x)
{
    const size_t stride = offsets[1];
    struct ulb_row_pointers at = {rows, rows + 3 * stride, stride, 3 * stride};
    __m256 results = _mm256_setzero_ps();
    for (size_t b = 0; b < blocks; b++) {
        /* Compilers would keep eight pointers in memory. */
        __asm__("" : "+r"(at.first), "+r"(at.fourth), "+r"(at.stride), "+r"(at.three));
        ulb_add_paired(format, &at, b, x, &results);
        if (prefetch.tuned)
            ulb_prefetch_each_row(&at, prefetch);
        else
            ulb_prefetch_rows(format, rows, offsets, b);
        at.first += format->bytes;
        at.fourth += format->bytes;
    }
    return results;
}

/* Computes eight rows, `part` rows apart, m the first. part 0: one row, which is read eight times. */
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
        float y[ULB_PAIRED_ROWS];
        ULB_SPECIALISE_PREFETCH(
            g->prefetch, _mm256_storeu_ps(y, ulb_sum_paired(format, prefetch, rows, offsets, blocks, &x)));
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

/* Several tokens: a ulb_unpack_in_place_fn of the format. */
static inline __attribute__((always_inline)) void ulb_unpack_paired(const struct ulb_paired *format,
                                                                    const struct ulb_in_place_tile *tile,
                                                                    size_t b, size_t i,
                                                                    struct ulb_unpacked *unpacked)
{
    struct ulb_block_epilogue *epilogue = ulb_epilogue_of(unpacked, i);
    const size_t at = b * format->bytes, ahead = ulb_in_place_ahead(tile, at);
    uint16_t d[ULB_IN_PLACE_ROWS], least[ULB_IN_PLACE_ROWS];
    uint8_t powers[ULB_IN_PLACE_ROWS];
    for (size_t v = 0; v < ULB_IN_PLACE_VECTORS; v++) {
        uint8_t *to = unpacked->codes + 8 * i * ULB_IN_PLACE_STEP_BYTES + 32 * v;
        const uint8_t *blocks[ULB_PAIRED_ROWS];
        __m256i low[4], high[4];
#pragma GCC unroll 8
        for (size_t of = 0; of < ULB_PAIRED_ROWS; of++) {
            const size_t r = v * ULB_PAIRED_ROWS + of;
            blocks[of] = tile->rows[r] + at;
            if (format->powers)
                powers[r] = *blocks[of];
            else
                memcpy(&d[r], blocks[of], sizeof d[r]);
            if (format->minimum)
                memcpy(&least[r], blocks[of] + sizeof d[r], sizeof least[r]);
        }
#pragma GCC unroll 4
        for (size_t of = 0; of < 4; of++) {
            format->codes(blocks[of], blocks[of + 4], &low[of], &high[of]);
            ulb_prefetch_in_place(blocks[of] + ahead, format->bytes, &low[of]);
            ulb_prefetch_in_place(blocks[of + 4] + ahead, format->bytes, &high[of]);
        }
        ulb_unpack_pairs(low, to);
        ulb_unpack_pairs(high, to + 4 * ULB_IN_PLACE_STEP_BYTES);
    }
    for (size_t v = 0; v < ULB_IN_PLACE_VECTORS; v++) {
        epilogue->d[v] = format->powers ? ulb_load_powers(powers + v * ULB_PAIRED_ROWS)
                                        : ulb_load_halves(d + v * ULB_PAIRED_ROWS);
        if (format->minimum) /* which is added */
            epilogue->dmin[v] = ulb_sub(ulb_no_floats(), ulb_load_halves(least + v * ULB_PAIRED_ROWS));
    }
}

/* For kernels/x86/gguf_inplace_kernel.h. */
#define COLUMNS                              ULB_PAIRED_COLUMNS
#define ROWS                                 ULB_PAIRED_ROWS
#define GROUP                                COLUMNS
#define SCALES                               ULB_NO_GROUPS
#define RUN_ONE_BY_ONE(g, format)            ulb_run_paired(g, format)
#define UNPACK(format, tile, b, i, unpacked) ulb_unpack_paired(format, tile, b, i, unpacked)

/* ---- codes that several formats have ---- */

/* Nibbles of two rows: low nibbles are columns 0-15, high nibbles 16-31. */
static inline __attribute__((always_inline)) void ulb_pair_nibbles(const uint8_t *a, const uint8_t *b,
                                                                   __m256i *low, __m256i *high)
{
    __m256i bytes = ulb_load_pair(a, b);
    *low = ulb_field(bytes, 0, 0, 15);
    *high = ulb_field(bytes, 4, 0, 15);
}

/* The same nibbles, looked up in a table of bytes. */
static inline __attribute__((always_inline)) void
ulb_pair_entries(const uint8_t *a, const uint8_t *b, const uint8_t looked_up[16], __m256i *low, __m256i *high)
{
    __m256i entries = _mm256_broadcastsi128_si256(_mm_loadu_si128((const __m128i *)looked_up));
    ulb_pair_nibbles(a, b, low, high);
    *low = _mm256_shuffle_epi8(entries, *low);
    *high = _mm256_shuffle_epi8(entries, *high);
}

/* Nibbles and, at qh, 12 bytes before their end at least, bit 4 (kernels/codes/five_bit.h). */
static inline __attribute__((always_inline)) void ulb_pair_five_bit(const uint8_t *a, const uint8_t *b,
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

/* Instruction mixes per 32 weights: the codes of a format, and the loops above. A vector of a pair is a load
 * and an insertion from memory. A gathered half is a load and a shuffle, the first a load only. powers:
 * scales are exponents. Signed codes are values; with 16-bit sums they have no zero point. */
#define ULB_PAIRED_ZERO(minimum, is_signed) (!(minimum) && ULB_BY_SUMS(!(is_signed), 1))
#define ULB_PAIRED_MIX(code_loads, code_logic, code_shifts, code_shuffles, code_compares, minimum,           \
                       is_signed, powers)                                                                    \
    .loads = (code_loads) + 1.0 + (minimum),                                                                 \
    .broadcasts = (3 + ((minimum) || ULB_PAIRED_ZERO(minimum, is_signed))) / 8.0,                            \
    .logic = (code_logic) + 0.5 * (code_loads), .shifts = (code_shifts) + (powers) / 8.0,                    \
    .transposes = 0.75, .shuffles = (code_shuffles) + !(powers) * (1.0 + (minimum)) * 0.875,                 \
    .compares = (code_compares),                                                                             \
    .adds = (3 + ULB_PAIRED_ZERO(minimum, is_signed) + 2 * (powers)) / 8.0 +                                 \
            ULB_BY_SUMS((is_signed) ? 2.5 : 0.5, 0),                                                         \
    .dot_products = ULB_BY_SUMS(0, 1), .maddubs = ULB_BY_SUMS(1, 0),                                         \
    .madds =                                                                                                 \
        ((minimum) || ULB_PAIRED_ZERO(minimum, is_signed)) / 8.0 + ULB_BY_SUMS((is_signed) ? 1 : 0.5, 0),    \
    .fmas = (1 + (minimum)) / 4.0, .conversions = (1.0 + (minimum)) / 8,                                     \
    .halves = !(powers) * (1.0 + (minimum)) / 8, .widenings = (powers) / 8.0

#endif
