/* int1 by exact tables: no multiplication, no VNNI, good on every core with AVX2.
 *
 * For each 4 columns a table of 16 entries holds v = sum of x over the set bits + 512, which is 4 to 1020 and
 * stored as v & 31 and v >> 5, so that one byte shuffle each looks up 32 rows. Bytes add safely for 8
 * look-ups (8 * 31 = 248), then vpmaddubsw by (1, 32) joins the halves into 16 bits, safe for 64 look-ups (64
 * * 1020 = 65,280 unsigned), then 32 bits. A weight byte holds the 4 bits of row r (low) and of row 32 + r
 * (high): nothing is expanded. Per 256 weights: 1 load, 2 and, 1 shift, 4 pshufb, 4 add: 11 operations, of
 * which the 4 shuffles need 4 cycles on a core with one shuffle port (0.5 cycle per 32 weights) and 2 on one
 * with two. One prefetch a line,
 * 1280 bytes ahead. Tables take 8 bytes per column: K goes in blocks of 2048, 16 KiB, and partial sums of a
 * block wait in y, whose rows are this call's. They are built once per call and shared by all of its rows. */
#include "kernels/int1/format.h"
#include "kernels/row.h"

#include <immintrin.h>
#include <string.h>

enum {
    TILE_ROWS = 64,
    STEP_BYTES = 32,
    TABLE_BYTES = 32, /* per step: 16 low parts, 16 high parts */
    BLOCK_STEPS = 512,
    BYTE_STEPS = 8,
    WORD_STEPS = 64,
    BIAS = 512,
    PREFETCH = 1280
};

/* Entry n of a step's table is the sum of x[i] over the set bits i of n, plus BIAS. */
static void build_tables(const int8_t *x, size_t steps, uint8_t *tables)
{
    const __m256i bit = _mm256_setr_epi16(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    __m256i has[4];
    for (int i = 0; i < 4; i++)
        has[i] = _mm256_cmpeq_epi16(_mm256_and_si256(bit, _mm256_set1_epi16((short)(1 << i))),
                                    _mm256_set1_epi16((short)(1 << i)));
    for (size_t s = 0; s < steps; s++, x += 4, tables += TABLE_BYTES) {
        __m256i sum = _mm256_set1_epi16(BIAS);
        for (int i = 0; i < 4; i++)
            sum = _mm256_add_epi16(sum, _mm256_and_si256(has[i], _mm256_set1_epi16(x[i])));
        __m256i low = _mm256_and_si256(sum, _mm256_set1_epi16(31)), high = _mm256_srli_epi16(sum, 5);
        __m256i both = _mm256_permute4x64_epi64(_mm256_packus_epi16(low, high), 0xD8);
        _mm256_storeu_si256((__m256i *)tables, both);
    }
}

/* sum += bytes. The empty statement keeps each sum a chain: GCC would turn the additions of eight steps into
 * a tree, whose leaves do not fit the registers. */
static inline void add_bytes(__m256i *sum, __m256i bytes)
{
    *sum = _mm256_add_epi8(*sum, bytes);
    __asm__("" : "+x"(*sum));
}

/* bytes: low and high parts of rows 0-31, then of rows 32-63. */
static inline void look_up(const uint8_t *w, __m256i low, __m256i high, __m256i bytes[4])
{
    __m256i nibble = _mm256_set1_epi8(0x0F);
    __m256i packed = _mm256_loadu_si256((const __m256i *)w);
    __m256i first = _mm256_and_si256(packed, nibble);
    __m256i second = _mm256_and_si256(_mm256_srli_epi16(packed, 4), nibble);
    add_bytes(&bytes[0], _mm256_shuffle_epi8(low, first));
    add_bytes(&bytes[1], _mm256_shuffle_epi8(high, first));
    add_bytes(&bytes[2], _mm256_shuffle_epi8(low, second));
    add_bytes(&bytes[3], _mm256_shuffle_epi8(high, second));
}

/* Adds up to BYTE_STEPS steps to 16-bit sums: words 0 and 1 are rows 0-31, 2 and 3 rows 32-63, in the order
 * that unpacking leaves. */
static inline __attribute__((always_inline)) void add_steps(const uint8_t *w, const uint8_t *tables,
                                                            size_t steps, __m256i words[4])
{
    __m256i bytes[4], weights = _mm256_set1_epi16(32 << 8 | 1);
    for (int i = 0; i < 4; i++)
        bytes[i] = _mm256_setzero_si256();
    for (size_t s = 0; s < steps; s++) {
        const __m128i *table = (const __m128i *)(tables + s * TABLE_BYTES);
        __m256i low = _mm256_broadcastsi128_si256(_mm_loadu_si128(table));
        __m256i high = _mm256_broadcastsi128_si256(_mm_loadu_si128(table + 1));
        look_up(w + s * STEP_BYTES, low, high, bytes);
        if (s % 2 == 0)
            _mm_prefetch((const char *)w + s * STEP_BYTES + PREFETCH, _MM_HINT_T0);
    }
    for (int i = 0; i < 4; i += 2) {
        __m256i pairs = _mm256_unpacklo_epi8(bytes[i], bytes[i + 1]);
        words[i] = _mm256_add_epi16(words[i], _mm256_maddubs_epi16(pairs, weights));
        pairs = _mm256_unpackhi_epi8(bytes[i], bytes[i + 1]);
        words[i + 1] = _mm256_add_epi16(words[i + 1], _mm256_maddubs_epi16(pairs, weights));
    }
}

static inline void add_words(int32_t *sums, __m128i words)
{
    __m256i sum = _mm256_loadu_si256((const __m256i *)sums);
    _mm256_storeu_si256((__m256i *)sums, _mm256_add_epi32(sum, _mm256_cvtepu16_epi32(words)));
}

/* Unpacking leaves rows 0-7 and 16-23 in even words, 8-15 and 24-31 in odd ones. */
static inline void widen(const __m256i words[4], int32_t sums[TILE_ROWS])
{
    for (int i = 0; i < 4; i++) {
        int32_t *at = sums + i / 2 * 32 + i % 2 * 8;
        add_words(at, _mm256_castsi256_si128(words[i]));
        add_words(at + 16, _mm256_extracti128_si256(words[i], 1));
    }
}

/* Sums of v over one block of steps, for one tile. */
static inline void sum_block(const uint8_t *w, const uint8_t *tables, size_t steps, int32_t sums[TILE_ROWS])
{
    for (size_t begin = 0; begin < steps; begin += WORD_STEPS) {
        size_t end = steps - begin < WORD_STEPS ? steps : begin + WORD_STEPS;
        __m256i words[4];
        for (int i = 0; i < 4; i++)
            words[i] = _mm256_setzero_si256();
        size_t s = begin;
        for (; s + BYTE_STEPS <= end; s += BYTE_STEPS)
            add_steps(w + s * STEP_BYTES, tables + s * TABLE_BYTES, BYTE_STEPS, words);
        if (s < end)
            add_steps(w + s * STEP_BYTES, tables + s * TABLE_BYTES, end - s, words);
        widen(words, sums);
    }
}

/* Adds one block's sums to a tile's partial sums in y, or makes the result of them after the last block: the
 * sums of x over set bits, T, give -2 T (a set bit is -1) plus sum(x). */
static void finish_block(const struct ulb_gemm *g, const float *w_scale, size_t row, size_t n, size_t block,
                         size_t steps, int32_t sums[TILE_ROWS])
{
    size_t rows = ulb_rows_left(g, row, TILE_ROWS);
    float *y = g->y + n * g->y_stride + row;
    int32_t partial[TILE_ROWS] = {0};
    if (block > 0)
        memcpy(partial, y, rows * sizeof *partial);
    for (size_t i = 0; i < rows; i++)
        partial[i] += sums[i];
    if (block + BLOCK_STEPS < steps) {
        memcpy(y, partial, rows * sizeof *partial);
        return;
    }
    for (size_t i = 0; i < rows; i++)
        partial[i] = -2 * (partial[i] - BIAS * (int32_t)steps);
    ulb_finish_tile(g, w_scale, row, rows, n, partial, -1);
}

static void run_block(const struct ulb_gemm *g, const float *w_scale, size_t n, size_t block, size_t steps,
                      const uint8_t *tables)
{
    size_t count = steps - block < BLOCK_STEPS ? steps - block : BLOCK_STEPS;
    for (size_t row = g->m0; row < g->m1; row += TILE_ROWS) {
        const uint8_t *w = (const uint8_t *)g->w + (row / TILE_ROWS * steps + block) * STEP_BYTES;
        int32_t sums[TILE_ROWS] = {0};
        sum_block(w, tables, count, sums);
        finish_block(g, w_scale, row, n, block, steps, sums);
    }
}

static void run(const struct ulb_gemm *g)
{
    _Alignas(64) uint8_t tables[BLOCK_STEPS * TABLE_BYTES];
    const float *w_scale = ulb_row_scales(g, &ulb_int1_nibbles);
    size_t steps = (g->k + 3) / 4;
    for (size_t n = 0; n < g->n; n++) {
        const int8_t *x = (const int8_t *)g->x + n * g->x_stride;
        for (size_t block = 0; block < steps; block += BLOCK_STEPS) {
            size_t count = steps - block < BLOCK_STEPS ? steps - block : BLOCK_STEPS;
            build_tables(x + 4 * block, count, tables);
            run_block(g, w_scale, n, block, steps, tables);
        }
    }
}

const struct ulb_kernel ULB_ROW = {
    .abi = ULB_KERNEL_ABI,
    .variant = "table",
    .isa = ULB_ROW_ISA,
    .needs = ULB_ROW_NEEDS,
    .layout = &ulb_int1_nibbles,
    .activation = ULB_ACT_A8,
    .mr = TILE_ROWS,
    .nr = 1,
    .kr = 4,
    .bytes_per_step = 4,
    .mix = {.loads = 0.125,
            .broadcasts = 0.25,
            .prefetches = 0.0625,
            .logic = 0.25,
            .shifts = 0.125,
            .shuffles = 0.5,
            .adds = 0.5,
            .vector_bits = 256},
    .tables = true,
    .run = run,
};
