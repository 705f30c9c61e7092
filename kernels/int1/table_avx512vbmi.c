/* int1 by exact tables of 64 entries: vpermb looks 6 bits up at once.
 *
 * For each 6 columns a table holds v = sum of x over the set bits + 762, which is 0 to 1524, as v % 64 and v
 * / 64. Three bytes of a row hold 24 columns: vpermb ignores the high two bits of its index, so that the low
 * 6 bits of each byte are indices as they are, and the high bits of the three together are the fourth (3
 * shifts, 2 vpternlog). Bytes add safely for the 4 look-ups of a step (4 * 63 = 252), then vpmaddubsw by (1,
 * 64) joins them into 16 bits, safe for 9 steps (9 * 4 * 1524 = 54,864), then 32 bits. Registers: two blocks
 * of 64 rows share the tables' loads: 4 byte sums, 4 word sums, 8 indices; 32-bit sums wait in memory. Ports:
 * per 128 rows of 24 columns 16 vpermb (port 5 alone), 12 add, 10 for indices, 12 of joining, 2.7 of widening
 * and 14 loads: 53 operations on two ports are 0.28 cycle per 32 weights. Three slices of K at a time are
 * address streams; slices are short (288 columns), so that their tables, 21 bytes a column, stay in L1 beside
 * weights (18 KiB; with 30 of the 32 that Zen 4 has 4096x4096 was .77 times as fast from memory, gamma the
 * same). Each core builds them for itself, 17 operations for 6 columns. */
#include "kernels/int1/format.h"
#include "kernels/tables.h"
#include "kernels/x86/prefetch.h"

#include <immintrin.h>
#include <string.h>

enum {
    ROWS = 128,
    COLUMNS = 24,
    STEP_BYTES = ROWS * COLUMNS / 8,
    TABLE_BYTES = COLUMNS / 6 * 128, /* per step: 4 times 64 low parts, 64 high parts */
    BIAS = 762,
    RADIX_BITS = 6,
    RADIX = 1 << RADIX_BITS,
    BURSTS = 3, /* of 3 x 4 look-ups, that words hold */
    PREFETCH = 1536
};

/* ---- tables ---- */

/* The next two columns in every word. */
static inline __m512i two_columns(const int8_t *x)
{
    int16_t two;
    memcpy(&two, x, sizeof two);
    return _mm512_set1_epi16(two);
}

/* Entry n is the sum of x[i] over the set bits i of n, plus BIAS; vpmaddubsw adds two columns. Two vectors of
 * 16-bit sums, of entries without and with bit 3: packing them lane by lane leaves bytes in order. */
static inline void build_table(const int8_t x[6], uint8_t *table)
{
    /* Bits of entries, two to a word. */
    const __m512i bits01 = _mm512_set1_epi64(0x0101010000010000);
    const __m512i bit2 = _mm512_set4_epi64(0x0001000100010001, 0, 0x0001000100010001, 0);
    const __m512i bits23 = _mm512_or_si512(bit2, _mm512_set1_epi16(0x0100));
    const __m512i bits45 = _mm512_set_epi64(0x0101010101010101, 0x0101010101010101, 0x0100010001000100,
                                            0x0100010001000100, 0x0001000100010001, 0x0001000100010001, 0, 0);
    __m512i sum = _mm512_add_epi16(_mm512_set1_epi16(BIAS), _mm512_maddubs_epi16(bits01, two_columns(x)));
    sum = _mm512_add_epi16(sum, _mm512_maddubs_epi16(bits45, two_columns(x + 4)));
    __m512i without = _mm512_add_epi16(sum, _mm512_maddubs_epi16(bit2, two_columns(x + 2)));
    __m512i with = _mm512_add_epi16(sum, _mm512_maddubs_epi16(bits23, two_columns(x + 2)));
    const __m512i low = _mm512_set1_epi16(RADIX - 1);
    _mm512_storeu_si512(table,
                        _mm512_packus_epi16(_mm512_and_si512(without, low), _mm512_and_si512(with, low)));
    _mm512_storeu_si512(table + 64, _mm512_packus_epi16(_mm512_srli_epi16(without, RADIX_BITS),
                                                        _mm512_srli_epi16(with, RADIX_BITS)));
}

static inline void build(const int8_t *x, size_t steps, uint8_t *tables)
{
    for (size_t i = 0; i < steps * COLUMNS / 6; i++)
        build_table(x + 6 * i, tables + 128 * i);
}

/* ---- look-up ---- */

/* The four indices of 64 rows. The empty statement keeps GCC from loading weights for each use. */
static inline void load_indices(const uint8_t *w, __m512i index[4])
{
    for (int i = 0; i < 3; i++) {
        index[i] = _mm512_loadu_si512(w + 64 * i);
        __asm__("" : "+v"(index[i]));
    }
    const __m512i bits23 = _mm512_set1_epi8(0x0C), bits45 = _mm512_set1_epi8(0x30);
    /* 0xE4: the first operand where the third has a 1, else the second; the first is lost. */
    __m512i low = _mm512_ternarylogic_epi32(_mm512_srli_epi16(index[1], 4), _mm512_srli_epi16(index[0], 6),
                                            bits23, 0xE4);
    index[3] = _mm512_ternarylogic_epi32(_mm512_srli_epi16(index[2], 2), low, bits45, 0xE4);
}

/* Asks for what lies ahead of w + line. Held at its place by a sum: six in a row take 4 % longer. */
static inline __attribute__((always_inline)) void ask_beside(__m512i *sum, const uint8_t *w, size_t line,
                                                             struct ulb_told told)
{
    if (told.l2)
        __asm__(ULB_ASM_ASK_L2 : "+v"(*sum) : ULB_ASK_L2_OPERANDS(w, line, told.ahead));
    else
        __asm__(ULB_ASM_ASK_L1 : "+v"(*sum) : ULB_ASK_L1_OPERANDS(w, line + PREFETCH));
}

/* Look-up j of a step for both blocks. The empty statements keep GCC from loading tables once for
 * each, and each sum a chain. */
static inline __attribute__((always_inline)) void look_up(struct ulb_told told, const uint8_t *w,
                                                          const uint8_t *table, size_t j, __m512i index[2][4],
                                                          __m512i bytes[2][2])
{
    __m512i low = _mm512_loadu_si512(table + 128 * j), high = _mm512_loadu_si512(table + 128 * j + 64);
    __asm__("" : "+v"(low), "+v"(high));
#pragma GCC unroll 2
    for (size_t b = 0; b < 2; b++) {
        __m512i found = _mm512_permutexvar_epi8(index[b][j], low);
        bytes[b][0] = j ? _mm512_add_epi8(bytes[b][0], found) : found;
        if (b == 0 || j % 2)
            ask_beside(&bytes[b][0], w, (3 * j / 2 + b) * 64, told);
        found = _mm512_permutexvar_epi8(index[b][j], high);
        bytes[b][1] = j ? _mm512_add_epi8(bytes[b][1], found) : found;
        __asm__("" : "+v"(bytes[b][1]));
    }
}

/* Moves byte sums to 16-bit sums; rows are stored so that widening leaves them in order. */
static inline void join(__m512i bytes[2][2], __m512i words[2][2])
{
    const __m512i weights = _mm512_set1_epi16(RADIX << 8 | 1);
#pragma GCC unroll 2
    for (int b = 0; b < 2; b++) {
        __m512i low = _mm512_unpacklo_epi8(bytes[b][0], bytes[b][1]);
        __m512i high = _mm512_unpackhi_epi8(bytes[b][0], bytes[b][1]);
        words[b][0] = _mm512_add_epi16(words[b][0], _mm512_maddubs_epi16(low, weights));
        words[b][1] = _mm512_add_epi16(words[b][1], _mm512_maddubs_epi16(high, weights));
    }
}

static inline void widen(__m512i words[2][2], int32_t *sums)
{
#pragma GCC unroll 4
    for (int i = 0; i < 4; i++) {
        __m512i *at = (__m512i *)(void *)(sums + 32 * i);
        __m512i word = words[i / 2][i % 2];
        at[0] = _mm512_add_epi32(at[0], _mm512_cvtepu16_epi32(_mm512_castsi512_si256(word)));
        at[1] = _mm512_add_epi32(at[1], _mm512_cvtepu16_epi32(_mm512_extracti64x4_epi64(word, 1)));
        words[i / 2][i % 2] = _mm512_setzero_si512();
    }
}

/* One step of each of the three slices: twelve look-ups, joined by fours. */
static inline __attribute__((always_inline)) void burst(struct ulb_told told, const uint8_t *w,
                                                        const uint8_t *table, const struct ulb_tiles *tiles,
                                                        __m512i words[2][2])
{
#pragma GCC unroll 3
    for (int i = 0; i < 3; i++, w += tiles->slice_bytes, table += tiles->steps * TABLE_BYTES) {
        __m512i index[2][4], bytes[2][2];
        load_indices(w, index[0]);
        load_indices(w + STEP_BYTES / 2, index[1]);
#pragma GCC unroll 4
        for (size_t j = 0; j < 4; j++)
            look_up(told, w, table, j, index, bytes);
        join(bytes, words);
    }
}

/* Sums of v over three slices, for one row of tiles. */
static inline __attribute__((always_inline)) void
sum_tiles_as(struct ulb_told told, const struct ulb_tiles *tiles, const uint8_t *tables, int32_t *sums)
{
    __m512i words[2][2] = {{_mm512_setzero_si512(), _mm512_setzero_si512()},
                           {_mm512_setzero_si512(), _mm512_setzero_si512()}};
    for (size_t s = 0; s < tiles->steps;) {
        size_t full = tiles->steps - s < BURSTS ? tiles->steps : s + BURSTS;
        for (; s < full; s++)
            burst(told, tiles->w + s * STEP_BYTES, tables + s * TABLE_BYTES, tiles, words);
        widen(words, sums);
    }
}

/* Two pieces of code: see kernels/x86/streams.h. */
static inline void sum_tiles(const struct ulb_tiles *tiles, const uint8_t *tables, int32_t *sums)
{
    if (tiles->l2_ahead)
        sum_tiles_as(ulb_told_l2(tiles->l2_ahead), tiles, tables, sums);
    else
        sum_tiles_as(ULB_TOLD_L1, tiles, tables, sums);
}

/* A set bit is -1: the row's sum is sum(x) - 2 T. */
static inline void combine(const int32_t *sums, int32_t *dots)
{
    for (int i = 0; i < ROWS; i++)
        dots[i] = -2 * sums[i];
}

static const struct ulb_table_row row = {.layout = &ulb_int1_sixes,
                                         .rows = ROWS,
                                         .sums = ROWS,
                                         .columns = COLUMNS,
                                         .slices = ULB_INT1_SIXES_SLICES,
                                         .step_bytes = STEP_BYTES,
                                         .table_bytes = TABLE_BYTES,
                                         .origin = COLUMNS / 6 * BIAS,
                                         .zero_point = -1,
                                         .build = build,
                                         .sum = sum_tiles,
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
    .layout = &ulb_int1_sixes,
    .activation = ULB_ACT_A8,
    .mr = ROWS,
    .nr = 1,
    .kr = COLUMNS,
    .bytes_per_step = 4,
    .mix = {.loads = 14 / 96.0,
            .prefetches = 6 / 96.0,
            .logic = 4 / 96.0,
            .shifts = 6 / 96.0,
            .adds = (12 + 4 + 8 / 9.0) / 96,
            .shuffles = 4 / 9.0 / 96,
            .transposes = 4 / 96.0,
            .permutes = (16 + 8 / 9.0) / 96,
            .maddubs = 4 / 96.0,
            .vector_bits = 512},
    .tables = true,
    .prefetch_choice = true,
    .run = run,
};
