/* TL2 by exact tables of signed parts, without multiplication.
 *
 * A table for three columns holds v = w0 x0 + w1 x1 + w2 x2 for the 14 indices, as v = low + 27 high.
 * `|v| <= 381`, `|low| <= 13`, `|high| <= 14`.
 * A negative index negates both parts. vpsignb uses the byte of signs, shifted so that the index's own bit
 * leads, and made odd, because a zero would clear the parts. 512 bits have no vpsignb: a mask of that bit
 * selects a subtraction from zero. Bytes hold the eight look-ups of a tile. vpmaddubsw by (1, 27) joins them
 * into 16 bits, which hold 10 tiles. Eight tiles are used, two of each address stream. Results are lossless:
 * integers up to the row's scale.
 * `8 * 14 = 112 < 2^7`; `10 * 8 * 381 = 30,480 < 2^15`.
 * Registers: four byte sums, four word sums, six for a step. */
#include "kernels/formats/tl2/format.h"
#include "kernels/lut.h"
#include "kernels/microkernel.h"
#include "kernels/x86/simd/prefetch.h"
#include "kernels/x86/simd/vec.h"

#include <immintrin.h>

#ifdef ULB_DP_512
#define LAYOUT ulb_tl2_planes_128
#else
#define LAYOUT ulb_tl2_planes_64
#endif

enum {
    ROWS = 2 * ULB_VEC_BYTES, /* of a tile */
    SIGNS = ULB_TL2_BURST * ULB_VEC_BYTES,
    STEP_BYTES = SIGNS + ROWS,
    STEP_COLUMNS = ULB_TL2_BURST * ULB_TL2_COLUMNS,
    INDEX_BYTES = 32, /* of a table */
    TABLE_BYTES = ULB_TL2_BURST * INDEX_BYTES,
    RADIX = 27,
    TILES = 2, /* tiles of a stream before the next stream */
    LANE = 16, /* bytes */
    PREFETCH = 1280
};

/* Entries of one table, low parts, then high parts. Entry n is v of n + 13 = 9 (w0 + 1) + 3 (w1 + 1) + (w2 +
 * 1). It is a sum of two pairs: columns 0 and 1, and columns 1 and 2 without 1. Entries 14 and 15, whose
 * indices do not occur, are 0. */
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
    /* v * 1214 / 2^15, rounded, is v / 27, rounded to the nearest, for all |v| <= 381. */
    __m256i high = _mm256_mulhrs_epi16(v, _mm256_set1_epi16(1214));
    __m256i low = _mm256_sub_epi16(v, _mm256_mullo_epi16(high, _mm256_set1_epi16(RADIX)));
    _mm256_storeu_si256((__m256i *)table, _mm256_permute4x64_epi64(_mm256_packs_epi16(low, high), 0xD8));
}

static inline int32_t build(const int8_t *x, size_t steps, uint8_t *tables)
{
    for (size_t i = 0; i < steps * ULB_TL2_BURST; i++)
        build_table(x + i * ULB_TL2_COLUMNS, tables + i * INDEX_BYTES);
    return 0;
}

/* found = the signed entries of an index, sum += them. One statement: see kernels/x86/gemv/lut4.h. signs:
 * of rows 0 to half, and of the others. */
#ifdef ULB_DP_512
#define REGISTER  "v"
#define BROADCAST "vbroadcasti32x4"
#define AND       "vpandd"
#define MOVE      "vmovdqu64"
#define PART(index, part, half, sum)                                                                         \
    "vpshufb %[" index "], %[" part "], %[found]\n\t"                                                        \
    "vpsubb %[found], %[zero], %[found]%{%[negative" half "]%}\n\t"                                          \
    "vpaddb %[found], %[" sum "], %[" sum "]\n\t"
#define NEGATIVE     "vptestmb %[bit], %[signs0], %[negative0]\n\tvptestmb %[bit], %[signs1], %[negative1]\n\t"
#define NEGATIVE_OUT , [negative0] "=&Yk"(negative[0]), [negative1] "=&Yk"(negative[1])
#define NEGATIVE_IN  , [bit] "v"(ulb_all8(1 << i)), [zero] "v"(ulb_zero())
#else
#define REGISTER  "x"
#define BROADCAST "vbroadcasti128"
#define AND       "vpand"
#define MOVE      "vmovdqu"
#define PART(index, part, half, sum)                                                                         \
    "vpshufb %[" index "], %[" part "], %[found]\n\tvpsignb %[signs" half "], %[found], %[found]\n\t"        \
    "vpaddb %[found], %[" sum "], %[" sum "]\n\t"
#define NEGATIVE
#define NEGATIVE_OUT
#define NEGATIVE_IN
#endif

/* bytes += the signed look-ups of index i: low and high parts of rows 0 to half, then of the others. Sums are
 * written before zero is last read: without & a compiler gives both the register of one zero. */
static inline __attribute__((always_inline)) void add_index(int i, const uint8_t *w, const uint8_t *table,
                                                            const ulb_vec signs[2], ulb_vec bytes[4])
{
    ulb_vec packed, first, low, high, found, at[2];
#ifdef ULB_DP_512
    __mmask64 negative[2];
    at[0] = signs[0];
    at[1] = signs[1];
#else
    for (int j = 0; j < 2; j++)
        at[j] = _mm256_or_si256(_mm256_slli_epi16(signs[j], ULB_TL2_BURST - 1 - i), ulb_all8(1));
#endif
    __asm__(MOVE " %[w], %[packed]\n\t" BROADCAST " %[t0], %[low]\n\t" BROADCAST " %[t1], %[high]\n\t" AND
                 " %[nibble], %[packed], %[first]\n\tvpsrlw $4, %[packed], %[packed]\n\t" AND
                 " %[nibble], %[packed], %[packed]\n\t" NEGATIVE PART("first", "low", "0", "b0")
                     PART("first", "high", "0", "b1") PART("packed", "low", "1", "b2")
                         PART("packed", "high", "1", "b3")
            : [b0] "+&" REGISTER(bytes[0]), [b1] "+&" REGISTER(bytes[1]), [b2] "+&" REGISTER(bytes[2]),
              [b3] "+&" REGISTER(bytes[3]), [packed] "=&" REGISTER(packed), [first] "=&" REGISTER(first),
              [low] "=&" REGISTER(low), [high] "=&" REGISTER(high), [found] "=&" REGISTER(found) NEGATIVE_OUT
            : [w] "m"(*(const uint8_t(*)[ULB_VEC_BYTES])w), [t0] "m"(*(const uint8_t(*)[LANE])table),
              [t1] "m"(*(const uint8_t(*)[LANE])(table + LANE)), [signs0] REGISTER(at[0]),
              [signs1] REGISTER(at[1]), [nibble] REGISTER(ulb_all8(0x0F)) NEGATIVE_IN);
}

/* 16-bit sums of half of the rows += their byte sums, in the order of unpacking: of every 16 rows the first 8
 * and the last 8. */
static inline void join(ulb_vec low, ulb_vec high, ulb_vec words[2])
{
#ifdef ULB_DP_512
    const ulb_vec radix = _mm512_set1_epi16(RADIX << 8 | 1);
    words[0] = _mm512_add_epi16(words[0], _mm512_maddubs_epi16(radix, _mm512_unpacklo_epi8(low, high)));
    words[1] = _mm512_add_epi16(words[1], _mm512_maddubs_epi16(radix, _mm512_unpackhi_epi8(low, high)));
#else
    const ulb_vec radix = _mm256_set1_epi16(RADIX << 8 | 1);
    words[0] = _mm256_add_epi16(words[0], _mm256_maddubs_epi16(radix, _mm256_unpacklo_epi8(low, high)));
    words[1] = _mm256_add_epi16(words[1], _mm256_maddubs_epi16(radix, _mm256_unpackhi_epi8(low, high)));
#endif
}

static inline __attribute__((always_inline)) void
add_tile(const uint8_t *w, const uint8_t *tables, struct ulb_prefetch_setting prefetch, ulb_vec words[4])
{
    const struct ulb_line_prefetch hint = {PREFETCH, prefetch};
    ulb_vec bytes[4], signs[2];
    for (int i = 0; i < 2; i++)
        signs[i] = ulb_load(w + SIGNS + i * ULB_VEC_BYTES);
    ulb_zero_all(bytes, 4);
    ULB_UNROLL(8)
    for (int i = 0; i < ULB_TL2_BURST; i++) {
        add_index(i, w + i * ULB_VEC_BYTES, tables + i * INDEX_BYTES, signs, bytes);
        if (i * ULB_VEC_BYTES % 64 == 0)
            ULB_PREFETCH_LINE_AFTER(bytes[0], w, (size_t)i * ULB_VEC_BYTES, hint);
    }
    for (size_t line = 0; line < ROWS; line += 64)
        ULB_PREFETCH_LINE_AFTER(bytes[0], w, SIGNS + line, hint);
    join(bytes[0], bytes[1], words);
    join(bytes[2], bytes[3], words + 2);
}

/* sums += words, in their order. */
static inline void add_words(int32_t *sums, ulb_vec words)
{
#ifdef ULB_DP_512
    const ulb_vec low = _mm512_cvtepi16_epi32(_mm512_castsi512_si256(words));
    const ulb_vec high = _mm512_cvtepi16_epi32(_mm512_extracti64x4_epi64(words, 1));
#else
    const ulb_vec low = _mm256_cvtepi16_epi32(_mm256_castsi256_si128(words));
    const ulb_vec high = _mm256_cvtepi16_epi32(_mm256_extracti128_si256(words, 1));
#endif
    ulb_store(sums, ulb_add32(ulb_load(sums), low));
    ulb_store(sums + ULB_LANES, ulb_add32(ulb_load(sums + ULB_LANES), high));
}

/* words += the tiles [s, end) of one slice. */
static inline __attribute__((always_inline)) void add_tiles(const struct ulb_tiles *tiles,
                                                            struct ulb_prefetch_setting prefetch,
                                                            const uint8_t *tables, size_t slice, size_t s,
                                                            size_t end, ulb_vec words[4])
{
    for (size_t at = s; at < end; at++)
        add_tile(tiles->w + slice * tiles->slice_bytes + at * STEP_BYTES,
                 tables + (slice * tiles->steps + at) * TABLE_BYTES, prefetch, words);
}

/* With a tuned setting slices are unrolled: see ulb_k_chunk_slices() in kernels/x86/gemv/k_slices.h. */
static inline __attribute__((always_inline)) void add_slices(const struct ulb_tiles *tiles,
                                                             struct ulb_prefetch_setting prefetch,
                                                             const uint8_t *tables, size_t s, size_t end,
                                                             ulb_vec words[4])
{
    if (prefetch.tuned) {
        ULB_UNROLL(4)
        for (size_t slice = 0; slice < ULB_TABLE_SLICES; slice++)
            add_tiles(tiles, prefetch, tables, slice, s, end, words);
        return;
    }
#pragma GCC unroll 1
    for (size_t slice = 0; slice < ULB_TABLE_SLICES; slice++)
        add_tiles(tiles, prefetch, tables, slice, s, end, words);
}

static inline __attribute__((always_inline)) void sum_as(struct ulb_prefetch_setting prefetch,
                                                         const struct ulb_tiles *tiles, const uint8_t *tables,
                                                         int32_t *sums)
{
    for (size_t s = 0; s < tiles->steps; s += TILES) {
        ulb_vec words[4];
        size_t end = tiles->steps - s < TILES ? tiles->steps : s + TILES;
        ulb_zero_all(words, 4);
        add_slices(tiles, prefetch, tables, s, end, words);
        ULB_UNROLL(4)
        for (int i = 0; i < 4; i++)
            add_words(sums + 2 * ULB_LANES * i, words[i]);
    }
}

static inline void sum(const struct ulb_tiles *tiles, const uint8_t *tables, int32_t *sums)
{
    ULB_SPECIALISE_PREFETCH(*tiles->prefetch, sum_as(prefetch, tiles, tables, sums));
}

/* Rows from the order of words. Half of the rows are two vectors: one has the first eight of every 16 rows,
 * the other the last 8. */
static inline void dots_of_sums(const int32_t *sums, int32_t *dots)
{
    enum { EIGHTS = ROWS / 8, OF_VECTOR = EIGHTS / 4 };
    for (size_t i = 0; i < EIGHTS; i++) {
        size_t vector = i / OF_VECTOR, row = vector / 2 * (ROWS / 2) + i % OF_VECTOR * 16 + vector % 2 * 8;
        memcpy(dots + row, sums + 8 * i, 8 * sizeof *dots);
    }
}

/* Steps of 32 weights in one index of all rows. */
#define PER_STEP (ROWS * ULB_TL2_COLUMNS / 32)

static const struct ulb_lut_cfg cfg = {.layout = &LAYOUT,
                                       .rows = ROWS,
                                       .sums = ROWS,
                                       .columns = STEP_COLUMNS,
                                       .slices = ULB_TABLE_SLICES,
                                       .step_bytes = STEP_BYTES,
                                       .table_bytes = TABLE_BYTES,
                                       .build = build,
                                       .sum = sum,
                                       .dots_of_sums = dots_of_sums};

static void run(const struct ulb_gemm *g)
{
    ulb_run_tables(g, &cfg);
}

const struct ulb_kernel ULB_KERNEL = {
    .abi = ULB_KERNEL_ABI,
    .variant = "table",
    .isa = ULB_KERNEL_ISA,
    .needs = ULB_KERNEL_NEEDS,
    .layout = &LAYOUT,
    .activation = ULB_ACT_A8,
    .mr = ROWS,
    .nr = 1,
    .kr = STEP_COLUMNS * ULB_TABLE_SLICES,
    .bytes_per_step = 20.0 / 3,
    .mix = {.loads = (1 + 2 / 8.0) / PER_STEP,
            .broadcasts = 2.0 / PER_STEP,
            .prefetches = 5 / 24.0,
#ifdef ULB_DP_512
            .logic = 2.0 / PER_STEP,
            .shifts = 1.0 / PER_STEP,
            .compares = 2.0 / PER_STEP,
#else
            .logic = 4.0 / PER_STEP,
            .shifts = 3.0 / PER_STEP,
#endif
            .shuffles = 4.0 / PER_STEP,
            .transposes = 4 / 8.0 / PER_STEP,
            .adds = (8 + 4 / 8.0) / PER_STEP,
            .maddubs = 4 / 8.0 / PER_STEP,
            .vector_bits = ULB_VEC_BITS},
    .uses_lut = true,
    .prefetch = {.kind = ULB_PREFETCH_TUNABLE},
    .run = run,
};
