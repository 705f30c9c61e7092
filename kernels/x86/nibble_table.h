/* Exact sums over bits by table look-up: no multiplication, no VNNI, good on every core with AVX2.
 *
 * For each 4 columns a table of 16 entries holds v = sum of x over the set bits + 512, which is 4 to 1020 and
 * stored as v & 31 and v >> 5, so that one byte shuffle each looks up 32 rows of 4 bits. A weight byte holds
 * two such nibbles: the low ones of 32 bytes are sums 0-31 of a tile, the high ones sums 32-63. Bytes add
 * safely for 8 look-ups (8 * 31 = 248), then vpmaddubsw by (1, 32) joins the halves into 16 bits, safe for 64
 * look-ups (64 * 1020 = 65,280 unsigned), then 32 bits. Registers: 4 byte sums, 4 word sums, 5 of a step's
 * own; the 32-bit sums wait in memory. Ports: per 256 bits 1 load, 2 table loads, half a prefetch; and, shift
 * + and (or one gf2p8affineqb), 4 pshufb, 4 add, and 12 of joining per 8: 12.5 operations (11.5) on three
 * ports are 0.52 cycle (0.48) per 32 bits. A tile's columns are read as four address streams (quarters of a
 * block of K), 8 look-ups of each in turn; near the end of a stream the lines of the same stream of the next
 * tile are prefetched. Tables take 8 bytes per column: K goes in blocks of up to 4096 columns, whose tables
 * stay in L1; partial sums of a block wait in y, whose rows are this call's. Tables are built once per call
 * and shared by all of its rows. */
#ifndef ULB_KERNELS_X86_NIBBLE_TABLE_H
#define ULB_KERNELS_X86_NIBBLE_TABLE_H

#include "kernels/row.h"

#include <immintrin.h>
#include <string.h>

enum {
    ULB_NIBBLE_PREFETCH = 1280, /* bytes ahead in each slice */
    ULB_NIBBLE_SUMS = 64,       /* of a tile */
    ULB_NIBBLE_STEP = 32,  /* bytes of a tile's 4 columns, and of their table: 16 low parts, 16 high parts */
    ULB_NIBBLE_SLICES = 4, /* of the layout that are read at once, */
    ULB_NIBBLE_SLICE_STEPS = 256 /* and their length, whose tables fit L1 */
};

/* What becomes of a tile's sums of v - 512: dots[rows] from sums[64]. */
struct ulb_nibble_row {
    const struct ulb_layout *layout;
    size_t rows; /* of a tile */
    int32_t zero_point;
    void (*combine)(const int32_t *sums, int32_t *dots);
};

/* Entry n of a step's table is the sum of x[i] over the set bits i of n, plus 512. Patterns are in the order
 * that packing leaves right. */
static inline void ulb_nibble_build(const int8_t *x, size_t steps, uint8_t *tables)
{
    int8_t bits[2][32];
    for (int n = 0; n < 16; n++) {
        for (int i = 0; i < 4; i++)
            bits[n / 4 % 2][n / 8 * 16 + n % 4 * 4 + i] = (int8_t)(n >> i & 1);
    }
    const __m256i even = _mm256_loadu_si256((const __m256i *)bits[0]);
    const __m256i odd = _mm256_loadu_si256((const __m256i *)bits[1]);
    const __m256i ones = _mm256_set1_epi16(1);
    for (size_t s = 0; s < steps; s++) {
        int32_t four;
        memcpy(&four, x + 4 * s, sizeof four);
        __m256i x4 = _mm256_set1_epi32(four);
        __m256i first = _mm256_madd_epi16(_mm256_maddubs_epi16(even, x4), ones);
        __m256i second = _mm256_madd_epi16(_mm256_maddubs_epi16(odd, x4), ones);
        __m256i sum = _mm256_add_epi16(_mm256_packs_epi32(first, second), _mm256_set1_epi16(512));
        __m256i low = _mm256_and_si256(sum, _mm256_set1_epi16(31)), high = _mm256_srli_epi16(sum, 5);
        __m256i both = _mm256_permute4x64_epi64(_mm256_packus_epi16(low, high), 0xD8);
        _mm256_storeu_si256((__m256i *)(tables + s * ULB_NIBBLE_STEP), both);
    }
}

/* Instructions per 32 weights of so many bits. */
#ifdef __GFNI__
#define ULB_NIBBLE_MIX(bits)                                                                                 \
    {                                                                                                        \
        .loads = 0.125 * (bits), .broadcasts = 0.25 * (bits), .prefetches = 0.0625 * (bits),                 \
        .logic = 0.125 * (bits), .affines = 0.125 * (bits), .shuffles = (0.5 + 4 / 64.0) * (bits),           \
        .adds = (0.5 + 4 / 64.0) * (bits), .maddubs = 4 / 64.0 * (bits), .vector_bits = 256                  \
    }
#else
#define ULB_NIBBLE_MIX(bits)                                                                                 \
    {                                                                                                        \
        .loads = 0.125 * (bits), .broadcasts = 0.25 * (bits), .prefetches = 0.0625 * (bits),                 \
        .logic = 0.25 * (bits), .shifts = 0.125 * (bits), .shuffles = (0.5 + 4 / 64.0) * (bits),             \
        .adds = (0.5 + 4 / 64.0) * (bits), .maddubs = 4 / 64.0 * (bits), .vector_bits = 256                  \
    }
#endif

/* Both, or the matrix alone, isolate the high nibble of every byte. */
#ifdef __GFNI__
#define ULB_NIBBLE_MATRIX _mm256_set1_epi64x(0x1020408000000000)
#define ULB_HIGH_NIBBLE   "vgf2p8affineqb $0, %[high_nibble], %[packed], %[packed]\n\t"
#else
#define ULB_NIBBLE_MATRIX nibble
#define ULB_HIGH_NIBBLE   "vpsrlw $4, %[packed], %[packed]\n\tvpand %[nibble], %[packed], %[packed]\n\t"
#endif

/* Loads the weights and the table of step i of a statement: first and packed are the low and high nibbles. */
#define ULB_NIBBLE_LOAD(i)                                                                                   \
    "vmovdqu %[w" i "], %[packed]\n\t"                                                                       \
    "vbroadcasti128 %[low" i "], %[low]\n\t"                                                                 \
    "vbroadcasti128 %[high" i "], %[high]\n\t"                                                               \
    "vpand %[nibble], %[packed], %[first]\n\t" ULB_HIGH_NIBBLE
#define ULB_NIBBLE_LOOK_UP(index, part, to) "vpshufb %[" index "], %[" part "], %[" to "]\n\t"
#define ULB_NIBBLE_ADD(index, part, sum)                                                                     \
    ULB_NIBBLE_LOOK_UP(index, part, "found") "vpaddb %[found], " sum ", " sum "\n\t"
#define ULB_NIBBLE_STEP_ADD(i)                                                                               \
    ULB_NIBBLE_LOAD(i)                                                                                       \
    ULB_NIBBLE_ADD("first", "low", "%[b0]")                                                                  \
    ULB_NIBBLE_ADD("first", "high", "%[b1]")                                                                 \
    ULB_NIBBLE_ADD("packed", "low", "%[b2]")                                                                 \
    ULB_NIBBLE_ADD("packed", "high", "%[b3]")
/* Operands of step i, in memory at both compilers' choice of address, and those that all steps share. */
#define ULB_NIBBLE_OPERANDS(i)                                                                               \
    [w##i] "m"(*(const uint8_t(*)[32])(w + i * ULB_NIBBLE_STEP)),                                            \
        [low##i] "m"(*(const uint8_t(*)[16])(table + i * ULB_NIBBLE_STEP)),                                  \
        [high##i] "m"(*(const uint8_t(*)[16])(table + i * ULB_NIBBLE_STEP + 16))
#define ULB_NIBBLE_CONSTANTS [nibble] "x"(nibble), [high_nibble] "x"(high_nibble)
#define ULB_NIBBLE_BYTES(constraint)                                                                         \
    [b0] constraint(bytes[0]), [b1] constraint(bytes[1]), [b2] constraint(bytes[2]),                         \
        [b3] constraint(bytes[3]), [packed] "=&x"(packed), [first] "=&x"(first), [low] "=&x"(low),           \
        [high] "=&x"(high)

/* bytes: low and high parts of sums 0-31, then of sums 32-63, of one step. */
static inline void ulb_nibble_first(const uint8_t *w, const uint8_t *table, __m256i bytes[4])
{
    const __m256i nibble = _mm256_set1_epi8(0x0F), high_nibble = ULB_NIBBLE_MATRIX;
    __m256i packed, first, low, high;
    __asm__(ULB_NIBBLE_LOAD("0") ULB_NIBBLE_LOOK_UP("first", "low", "b0")
                ULB_NIBBLE_LOOK_UP("first", "high", "b1") ULB_NIBBLE_LOOK_UP("packed", "low", "b2")
                    ULB_NIBBLE_LOOK_UP("packed", "high", "b3")
            : ULB_NIBBLE_BYTES("=&x")
            : ULB_NIBBLE_OPERANDS(0), ULB_NIBBLE_CONSTANTS);
}

/* bytes += those of another step. */
static inline void ulb_nibble_add(const uint8_t *w, const uint8_t *table, __m256i bytes[4])
{
    const __m256i nibble = _mm256_set1_epi8(0x0F), high_nibble = ULB_NIBBLE_MATRIX;
    __m256i packed, first, low, high, found;
    __asm__(ULB_NIBBLE_STEP_ADD("0")
            : ULB_NIBBLE_BYTES("+x"), [found] "=&x"(found)
            : ULB_NIBBLE_OPERANDS(0), ULB_NIBBLE_CONSTANTS);
}

/* bytes += those of the two steps of a line. */
static inline void ulb_nibble_add_line(const uint8_t *w, const uint8_t *table, __m256i bytes[4])
{
    const __m256i nibble = _mm256_set1_epi8(0x0F), high_nibble = ULB_NIBBLE_MATRIX;
    __m256i packed, first, low, high, found;
    __asm__("prefetcht0 %[ahead]\n\t" ULB_NIBBLE_STEP_ADD("0") ULB_NIBBLE_STEP_ADD("1")
            : ULB_NIBBLE_BYTES("+x"), [found] "=&x"(found)
            : ULB_NIBBLE_OPERANDS(0), ULB_NIBBLE_OPERANDS(1),
              ULB_NIBBLE_CONSTANTS, [ahead] "m"(w[ULB_NIBBLE_PREFETCH]));
}

/* 16-bit sums of 32 rows += their byte sums: words[0] is rows 0-7 and 16-23, words[1] 8-15 and 24-31, as
 * unpacking leaves them. One statement: compilers would add up the words of several bursts first, and spill
 * them meanwhile. */
static inline void ulb_nibble_join(__m256i low, __m256i high, __m256i words[2])
{
    const __m256i weights = _mm256_set1_epi16(32 << 8 | 1);
    __m256i upper;
    __asm__("vpunpckhbw %[high], %[low], %[upper]\n\t"
            "vpunpcklbw %[high], %[low], %[low]\n\t"
            "vpmaddubsw %[weights], %[low], %[low]\n\t"
            "vpmaddubsw %[weights], %[upper], %[upper]\n\t"
            "vpaddw %[low], %[w0], %[w0]\n\t"
            "vpaddw %[upper], %[w1], %[w1]"
            : [w0] "+x"(words[0]), [w1] "+x"(words[1]), [low] "+x"(low), [upper] "=&x"(upper)
            : [high] "x"(high), [weights] "x"(weights));
}

/* Bytes hold 8 look-ups, words 8 such bursts. */
enum { ULB_NIBBLE_BURST = 8 };

static inline __attribute__((always_inline)) void ulb_nibble_burst(const uint8_t *w, const uint8_t *table,
                                                                   __m256i words[4])
{
    __m256i bytes[4];
    _mm_prefetch((const char *)w + ULB_NIBBLE_PREFETCH, _MM_HINT_T0);
    ulb_nibble_first(w, table, bytes);
    ulb_nibble_add(w + ULB_NIBBLE_STEP, table + ULB_NIBBLE_STEP, bytes);
#pragma GCC unroll 4
    for (size_t at = 2 * ULB_NIBBLE_STEP; at < ULB_NIBBLE_BURST * ULB_NIBBLE_STEP; at += 2 * ULB_NIBBLE_STEP)
        ulb_nibble_add_line(w + at, table + at, bytes);
    ulb_nibble_join(bytes[0], bytes[1], words);
    ulb_nibble_join(bytes[2], bytes[3], words + 2);
}

static inline void ulb_nibble_add_words(int32_t *sums, __m128i words)
{
    __m256i sum = _mm256_loadu_si256((const __m256i *)sums);
    _mm256_storeu_si256((__m256i *)sums, _mm256_add_epi32(sum, _mm256_cvtepu16_epi32(words)));
}

/* Unpacking leaves rows 0-7 and 16-23 in even words, 8-15 and 24-31 in odd ones. */
static inline void ulb_nibble_widen(const __m256i words[4], int32_t *sums)
{
#pragma GCC unroll 4
    for (int i = 0; i < 4; i++) {
        int32_t *at = sums + i / 2 * 32 + i % 2 * 8;
        ulb_nibble_add_words(at, _mm256_castsi256_si128(words[i]));
        ulb_nibble_add_words(at + 16, _mm256_extracti128_si256(words[i], 1));
    }
}

static inline __attribute__((always_inline)) void ulb_nibble_clear(__m256i words[4])
{
#pragma GCC unroll 4
    for (int i = 0; i < 4; i++)
        words[i] = _mm256_setzero_si256();
}

/* Adds up to 8 steps, less than a burst. */
static inline void ulb_nibble_rest(const uint8_t *w, const uint8_t *table, size_t steps, __m256i words[4])
{
    __m256i bytes[4];
    ulb_nibble_first(w, table, bytes);
    for (size_t s = 1; s < steps; s++)
        ulb_nibble_add(w + s * ULB_NIBBLE_STEP, table + s * ULB_NIBBLE_STEP, bytes);
    ulb_nibble_join(bytes[0], bytes[1], words);
    ulb_nibble_join(bytes[2], bytes[3], words + 2);
}

/* Sums of v over four slices: two bursts of each in turn fill 16 bits. tables: [slices][steps]. */
static inline __attribute__((always_inline)) void ulb_nibble_sum(const struct ulb_tiles *tiles,
                                                                 const uint8_t *tables, int32_t *sums)
{
    size_t s = 0;
    __m256i words[4];
    for (; s + 2 * ULB_NIBBLE_BURST <= tiles->steps; s += 2 * ULB_NIBBLE_BURST) {
        ulb_nibble_clear(words);
#pragma GCC unroll 8
        for (size_t i = 0; i < 2 * ULB_NIBBLE_SLICES; i++) {
            size_t slice = i % ULB_NIBBLE_SLICES, at = s + i / ULB_NIBBLE_SLICES * ULB_NIBBLE_BURST;
            ulb_nibble_burst(tiles->w + slice * tiles->slice_bytes + at * ULB_NIBBLE_STEP,
                             tables + (slice * tiles->steps + at) * ULB_NIBBLE_STEP, words);
        }
        ulb_nibble_widen(words, sums);
    }
    for (; s < tiles->steps; s += ULB_NIBBLE_BURST) {
        size_t steps = tiles->steps - s < ULB_NIBBLE_BURST ? tiles->steps - s : ULB_NIBBLE_BURST;
        ulb_nibble_clear(words);
        for (size_t i = 0; i < ULB_NIBBLE_SLICES; i++)
            ulb_nibble_rest(tiles->w + i * tiles->slice_bytes + s * ULB_NIBBLE_STEP,
                            tables + (i * tiles->steps + s) * ULB_NIBBLE_STEP, steps, words);
        ulb_nibble_widen(words, sums);
    }
}

/* Adds four slices' sums to those of the slices before, which wait in y, and finishes the rows after the
 * last.
 */
static inline __attribute__((always_inline)) void
ulb_nibble_finish(const struct ulb_gemm *g, const struct ulb_nibble_row *row, const float *w_scale, size_t m,
                  size_t n, bool first, bool last, const int32_t *sums)
{
    size_t rows = ulb_rows_left(g, m, row->rows);
    float *y = g->y + n * g->y_stride + m;
    int32_t dots[ULB_NIBBLE_SUMS];
    row->combine(sums, dots);
    if (!first) {
        int32_t before[ULB_NIBBLE_SUMS] = {0};
        memcpy(before, y, rows * sizeof *before);
        for (size_t i = 0; i < row->rows; i++)
            dots[i] += before[i];
    }
    if (last)
        ulb_finish_tile(g, w_scale, m, row->rows, n, dots, row->zero_point);
    else
        memcpy(y, dots, rows * sizeof *dots);
}

/* All rows of one token, for four slices from slice on. */
static inline __attribute__((always_inline)) void ulb_nibble_rows(const struct ulb_gemm *g,
                                                                  const struct ulb_nibble_row *row, size_t n,
                                                                  size_t slice, struct ulb_tiles *tiles,
                                                                  const uint8_t *tables)
{
    const float *w_scale = ulb_row_scales(g, row->layout);
    const uint8_t *w = (const uint8_t *)g->w + slice * tiles->slice_bytes;
    bool last = slice + ULB_NIBBLE_SLICES == ulb_layout_slices(row->layout, g->k);
    for (size_t m = g->m0; m < g->m1; m += row->rows) {
        int32_t sums[ULB_NIBBLE_SUMS];
        for (size_t i = 0; i < ULB_NIBBLE_SUMS; i++)
            sums[i] = -512 * ULB_NIBBLE_SLICES * (int32_t)tiles->steps;
        tiles->w = w + m / row->rows * tiles->steps * ULB_NIBBLE_STEP;
        ulb_nibble_sum(tiles, tables, sums);
        ulb_nibble_finish(g, row, w_scale, m, n, slice == 0, last, sums);
    }
}

/* Tables of count steps from step on; behind the last column every entry stands for a sum of nothing. */
static inline void ulb_nibble_tables(const struct ulb_gemm *g, const int8_t *x, size_t step, size_t count,
                                     uint8_t *tables)
{
    size_t all = (g->k + 3) / 4, real = all < step ? 0 : all - step < count ? all - step : count;
    ulb_nibble_build(x + 4 * step, real, tables);
    for (size_t s = real; s < count; s++) {
        memset(tables + s * ULB_NIBBLE_STEP, 512 % 32, 16);
        memset(tables + s * ULB_NIBBLE_STEP + 16, 512 / 32, 16);
    }
}

static inline __attribute__((always_inline)) void ulb_run_nibbles(const struct ulb_gemm *g,
                                                                  const struct ulb_nibble_row *row)
{
    _Alignas(64) uint8_t tables[ULB_NIBBLE_SLICES * ULB_NIBBLE_SLICE_STEPS * ULB_NIBBLE_STEP];
    struct ulb_tiles tiles = {.slice_bytes = ulb_layout_slice_bytes(row->layout, g->m, g->k),
                              .steps = ulb_layout_steps(row->layout, g->k)};
    for (size_t n = 0; n < g->n; n++) {
        const int8_t *x = (const int8_t *)g->x + n * g->x_stride;
        for (size_t slice = 0; slice < ulb_layout_slices(row->layout, g->k); slice += ULB_NIBBLE_SLICES) {
            ulb_nibble_tables(g, x, slice * tiles.steps, ULB_NIBBLE_SLICES * tiles.steps, tables);
            ulb_nibble_rows(g, row, n, slice, &tiles, tables);
        }
    }
}

#endif
