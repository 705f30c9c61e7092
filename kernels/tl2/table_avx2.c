/* TL2 by exact tables of signed parts, no multiplication.
 *
 * For each 3 columns a table holds v = w0 x0 + w1 x1 + w2 x2 of the 14 indices, |v| <= 381, as v = low + 27
 * high with |low| <= 13 and |high| <= 14, so that a negative index negates both parts: vpsignb by the byte of
 * signs, shifted so that the index's own bit leads, and made odd lest it be zero. Bytes add safely for the 8
 * look-ups of a tile (112), vpmaddubsw by (1, 27) joins them into 16 bits, safe for 10 tiles (10 * 8 * 381 =
 * 30,480), of which 8 are taken: two of each address stream. Lossless: integers up to the row's scale.
 * Registers: 4 byte sums, 4 word sums, 6 of a step's own.
 * Ports: per 64 rows of 3 columns and, shift, and; 2 (shift, or) of signs; 4 look-ups, 4 signs, 4 add: 19
 * operations, and 12 of joining per 8: 20.5 on three ports are 1.14 cycles per 32 weights. */
#include "kernels/tl2/format.h"
#include "kernels/tables.h"
#include "kernels/unroll.h"
#include "kernels/x86/prefetch.h"

#include <immintrin.h>

enum {
    INDEX_BYTES = ULB_TL2_ROWS / 2, /* of one index of all rows; of a table too */
    SIGNS = ULB_TL2_BURST * INDEX_BYTES,
    STEP_BYTES = SIGNS + ULB_TL2_ROWS,
    STEP_COLUMNS = ULB_TL2_BURST * ULB_TL2_COLUMNS,
    TABLE_BYTES = ULB_TL2_BURST * INDEX_BYTES,
    RADIX = 27,
    TILES = 2, /* of a stream in turn */
    PREFETCH = 1280
};

/* Entries of one table, low parts, then high parts. Entry n is v of n + 13 = 9 (w0 + 1) + 3 (w1 + 1) + (w2 +
 * 1), a sum of two pairs: columns 0 and 1, columns 1 and 2 without 1. Entries 14 and 15, whose indices do not
 * occur, are 0. */
static inline void build_table(const int8_t *x, uint8_t *table)
{
    static const int8_t weights[2][32] = {
        {0, 0, 0, 0, 0, 1, 0, 1, 0, 1, 1, -1, 1, -1, 1, -1, 1, 0, 1, 0, 1, 0, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0},
        {0, 0, 0, 1, 0, -1, 0, 0, 0, 1, 0, -1, 0, 0, 0, 1, 0, -1, 0, 0, 0, 1, 0, -1, 0, 0, 0, 1, 0, 0, 0, 0}};
    __m256i v = _mm256_setzero_si256();
#pragma GCC unroll 2
    for (size_t i = 0; i < 2; i++) {
        int16_t two;
        memcpy(&two, x + i, sizeof two);
        __m256i of_two = _mm256_loadu_si256((const __m256i *)weights[i]);
        __m256i products = _mm256_sign_epi8(_mm256_set1_epi16(two), of_two);
        v = _mm256_add_epi16(v, _mm256_maddubs_epi16(_mm256_set1_epi8(1), products));
    }
    /* v * 1214 / 2^15, rounded, is v / 27 to the nearest for all |v| <= 381. */
    __m256i high = _mm256_mulhrs_epi16(v, _mm256_set1_epi16(1214));
    __m256i low = _mm256_sub_epi16(v, _mm256_mullo_epi16(high, _mm256_set1_epi16(RADIX)));
    _mm256_storeu_si256((__m256i *)table, _mm256_permute4x64_epi64(_mm256_packs_epi16(low, high), 0xD8));
}

static inline void build(const int8_t *x, size_t steps, uint8_t *tables)
{
    for (size_t i = 0; i < steps * ULB_TL2_BURST; i++)
        build_table(x + i * ULB_TL2_COLUMNS, tables + i * INDEX_BYTES);
}

/* bytes += signed look-ups of index i: low and high parts of rows 0-31, then of rows 32-63. One statement:
 * see kernels/x86/nibble_table.h. signs: of rows 0-31 and 32-63, their bit i leading. */
#define PART(index, part, sign, sum)                                                                         \
    "vpshufb %[" index "], %[" part "], %[found]\n\tvpsignb %[" sign "], %[found], %[found]\n\t"             \
    "vpaddb %[found], %[" sum "], %[" sum "]\n\t"

static inline __attribute__((always_inline)) void add_index(const uint8_t *w, const uint8_t *table,
                                                            const __m256i signs[2], __m256i bytes[4])
{
    __m256i packed, first, low, high, found;
    __asm__("vmovdqu %[w], %[packed]\n\t"
            "vbroadcasti128 %[t0], %[low]\n\t"
            "vbroadcasti128 %[t1], %[high]\n\t"
            "vpand %[nibble], %[packed], %[first]\n\t"
            "vpsrlw $4, %[packed], %[packed]\n\t"
            "vpand %[nibble], %[packed], %[packed]\n\t" PART("first", "low", "s0", "b0")
                PART("first", "high", "s0", "b1") PART("packed", "low", "s1", "b2")
                    PART("packed", "high", "s1", "b3")
            : [b0] "+x"(bytes[0]), [b1] "+x"(bytes[1]), [b2] "+x"(bytes[2]), [b3] "+x"(bytes[3]),
              [packed] "=&x"(packed), [first] "=&x"(first), [low] "=&x"(low), [high] "=&x"(high),
              [found] "=&x"(found)
            : [w] "m"(*(const uint8_t(*)[32])w), [t0] "m"(*(const uint8_t(*)[16])table),
              [t1] "m"(*(const uint8_t(*)[16])(table + 16)), [s0] "x"(signs[0]), [s1] "x"(signs[1]),
              [nibble] "x"(_mm256_set1_epi8(0x0F)));
}

/* 16-bit sums of 32 rows += their byte sums, as unpacking leaves them: rows 0-7 and 16-23, 8-15 and 24-31. */
static inline void join(__m256i low, __m256i high, __m256i words[2])
{
    const __m256i radix = _mm256_set1_epi16(RADIX << 8 | 1);
    words[0] = _mm256_add_epi16(words[0], _mm256_maddubs_epi16(radix, _mm256_unpacklo_epi8(low, high)));
    words[1] = _mm256_add_epi16(words[1], _mm256_maddubs_epi16(radix, _mm256_unpackhi_epi8(low, high)));
}

static inline __attribute__((always_inline)) void add_tile(const uint8_t *w, const uint8_t *tables,
                                                           bool into_l2, __m256i words[4])
{
    const struct ulb_ahead ahead = {PREFETCH, into_l2};
    __m256i bytes[4], signs[2];
    const __m256i odd = _mm256_set1_epi8(1);
    for (int i = 0; i < 2; i++)
        signs[i] = _mm256_loadu_si256((const __m256i *)(w + SIGNS + i * 32));
#pragma GCC unroll 4
    for (int i = 0; i < 4; i++)
        bytes[i] = _mm256_setzero_si256();
#pragma GCC unroll 8
    for (int i = 0; i < ULB_TL2_BURST; i++) {
        __m256i leading[2];
        for (int j = 0; j < 2; j++)
            leading[j] = _mm256_or_si256(_mm256_slli_epi16(signs[j], ULB_TL2_BURST - 1 - i), odd);
        add_index(w + i * INDEX_BYTES, tables + i * INDEX_BYTES, leading, bytes);
        if (i * INDEX_BYTES % 64 == 0)
            ULB_ASK_BEHIND(bytes[0], w, (size_t)i * INDEX_BYTES, ahead);
    }
    ULB_ASK_BEHIND(bytes[0], w, SIGNS, ahead);
    join(bytes[0], bytes[1], words);
    join(bytes[2], bytes[3], words + 2);
}

static inline void add_words(int32_t *sums, __m128i words)
{
    __m256i sum = _mm256_loadu_si256((const __m256i *)sums);
    _mm256_storeu_si256((__m256i *)sums, _mm256_add_epi32(sum, _mm256_cvtepi16_epi32(words)));
}

/* words += the tiles [s, end) of one slice. */
static inline __attribute__((always_inline)) void add_tiles(const struct ulb_tiles *tiles, bool l2,
                                                            const uint8_t *tables, size_t slice, size_t s,
                                                            size_t end, __m256i words[4])
{
    for (size_t at = s; at < end; at++)
        add_tile(tiles->w + slice * tiles->slice_bytes + at * STEP_BYTES,
                 tables + (slice * tiles->steps + at) * TABLE_BYTES, l2, words);
}

/* Told L2, slices are laid out one after the other: see ulb_visit_slices in kernels/x86/streams.h. */
static inline __attribute__((always_inline)) void add_slices(const struct ulb_tiles *tiles, bool l2,
                                                             const uint8_t *tables, size_t s, size_t end,
                                                             __m256i words[4])
{
    if (l2) {
        ULB_UNROLL(4)
        for (size_t slice = 0; slice < ULB_TABLE_SLICES; slice++)
            add_tiles(tiles, l2, tables, slice, s, end, words);
        return;
    }
#pragma GCC unroll 1
    for (size_t slice = 0; slice < ULB_TABLE_SLICES; slice++)
        add_tiles(tiles, l2, tables, slice, s, end, words);
}

static inline __attribute__((always_inline)) void sum_as(bool l2, const struct ulb_tiles *tiles,
                                                         const uint8_t *tables, int32_t *sums)
{
    for (size_t s = 0; s < tiles->steps; s += TILES) {
        __m256i words[4];
        size_t end = tiles->steps - s < TILES ? tiles->steps : s + TILES;
#pragma GCC unroll 4
        for (int i = 0; i < 4; i++)
            words[i] = _mm256_setzero_si256();
        add_slices(tiles, l2, tables, s, end, words);
#pragma GCC unroll 4
        for (int i = 0; i < 4; i++) {
            int32_t *at = sums + i / 2 * 32 + i % 2 * 8;
            add_words(at, _mm256_castsi256_si128(words[i]));
            add_words(at + 16, _mm256_extracti128_si256(words[i], 1));
        }
    }
}

static inline void sum(const struct ulb_tiles *tiles, const uint8_t *tables, int32_t *sums)
{
    if (tiles->prefetch_l2)
        sum_as(true, tiles, tables, sums);
    else
        sum_as(false, tiles, tables, sums);
}

static inline void combine(const int32_t *sums, int32_t *dots)
{
    memcpy(dots, sums, ULB_TL2_ROWS * sizeof *dots);
}

static const struct ulb_table_row row = {.layout = &ulb_tl2_planes,
                                         .rows = ULB_TL2_ROWS,
                                         .sums = ULB_TL2_ROWS,
                                         .columns = STEP_COLUMNS,
                                         .slices = ULB_TABLE_SLICES,
                                         .step_bytes = STEP_BYTES,
                                         .table_bytes = TABLE_BYTES,
                                         .build = build,
                                         .sum = sum,
                                         .combine = combine};

static void run(const struct ulb_gemm *g)
{
    ulb_run_tables(g, &row);
}

const struct ulb_kernel ULB_ROW = {
    .abi = ULB_KERNEL_ABI,
    .variant = "table",
    .isa = ULB_ROW_ISA,
    .needs = ULB_ROW_NEEDS,
    .layout = &ulb_tl2_planes,
    .activation = ULB_ACT_A8,
    .mr = ULB_TL2_ROWS,
    .nr = 1,
    .kr = STEP_COLUMNS * ULB_TABLE_SLICES,
    .bytes_per_step = 20.0 / 3,
    .mix = {.loads = (1 + 2 / 8.0) / 6,
            .broadcasts = 2 / 6.0,
            .prefetches = 5 / 24.0,
            .logic = 4 / 6.0,
            .shifts = 3 / 6.0,
            .shuffles = (4 + 4 / 8.0) / 6,
            .adds = (8 + 4 / 8.0) / 6,
            .maddubs = 4 / 8.0 / 6,
            .vector_bits = 256},
    .tables = true,
    .prefetch_choice = true,
    .run = run,
};
