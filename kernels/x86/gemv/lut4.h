/* Exact sums over bits by table look-up on x86 (kernels/codes/lut4.h). One vpshufb looks up 32 rows of 4
 * bits, or at 512 bits 32 rows of 8 bits.
 *
 * vpmaddubsw by (1, 32) joins the halves of byte sums into 16 bits. Registers: four byte sums, four word
 * sums, five of a step. The 32-bit sums are kept in memory. Ports: kernels/x86/gemv/lut4_avx2.h and
 * kernels/x86/gemv/lut4_avx512.h. Near the end of a stream the prefetches reach the same stream of the next
 * tile. */
#ifndef ULB_KERNELS_X86_GEMV_LUT4_H
#define ULB_KERNELS_X86_GEMV_LUT4_H

#include "kernels/microkernel.h"
#include "kernels/x86/simd/prefetch.h"

#include <immintrin.h>

/* Entry n of a step's table is 512 plus the sum of pattern[i] * x[i] over the step's columns. A pattern has
 * entries of 0 to 2 that add up to at most 4. patterns: for each two columns the entries of all n. */
static inline __attribute__((always_inline)) int32_t
ulb_nibble_build(const uint8_t *patterns, size_t columns, const int8_t *x, size_t steps, uint8_t *tables)
{
    for (size_t s = 0; s < steps; s++) {
        __m256i sum = _mm256_set1_epi16(ULB_NIBBLE_ORIGIN);
#pragma GCC unroll 2
        for (size_t i = 0; i < columns; i += 2) {
            int16_t two;
            memcpy(&two, x + columns * s + i, sizeof two);
            __m256i of_two = _mm256_loadu_si256((const __m256i *)(patterns + 16 * i));
            sum = _mm256_add_epi16(sum, _mm256_maddubs_epi16(of_two, _mm256_set1_epi16(two)));
        }
        __m256i low = _mm256_and_si256(sum, _mm256_set1_epi16(31)), high = _mm256_srli_epi16(sum, 5);
        __m256i both = _mm256_permute4x64_epi64(_mm256_packus_epi16(low, high), 0xD8);
        _mm256_storeu_si256((__m256i *)(tables + s * ULB_NIBBLE_STEP), both);
    }
    return ULB_NIBBLE_ORIGIN * (int32_t)steps;
}

#define ULB_NIBBLE_PREFETCH_KIND ULB_PREFETCH_TUNABLE

/* Whether kernels by default also prefetch into L2, far ahead. CPUs without GFNI are slower with it. */
#ifdef __GFNI__
enum { ULB_NIBBLE_INTO_L2 = true };
#else
enum { ULB_NIBBLE_INTO_L2 = false };
#endif

/* Isolating both nibbles of n vectors per 32 weights, in the mix of instructions; and prefetches for each
 * line.
 */
#ifdef __GFNI__
#define ULB_NIBBLE_CUT_MIX(n) .logic = (n), .affines = (n)
#else
#define ULB_NIBBLE_CUT_MIX(n) .logic = 2 * (n), .shifts = (n)
#endif
#define ULB_NIBBLE_PREFETCHES (ULB_NIBBLE_INTO_L2 ? 2 : 1)

#ifdef ULB_DP_512
#include "kernels/x86/gemv/lut4_avx512.h"
#else
#include "kernels/x86/gemv/lut4_avx2.h"
#endif

/* Prefetches for the line at w. */
static inline __attribute__((always_inline)) void ulb_nibble_prefetch(const uint8_t *w,
                                                                      struct ulb_prefetch_setting prefetch)
{
    if (ULB_NIBBLE_INTO_L2 && !prefetch.tuned)
        ulb_prefetch_l2(w, ULB_L2_DISTANCE);
    ulb_prefetch_line_l1(w, 0, (struct ulb_line_prefetch){ULB_NIBBLE_PREFETCH, prefetch});
}

static inline __attribute__((always_inline)) void ulb_nibble_burst(const uint8_t *w, const uint8_t *table,
                                                                   struct ulb_prefetch_setting prefetch,
                                                                   ulb_nibble_vec words[4])
{
    ulb_nibble_vec bytes[4];
    ulb_nibble_prefetch(w, prefetch);
    ulb_nibble_first_line(w, table, bytes);
#pragma GCC unroll 4
    for (size_t at = 2 * ULB_NIBBLE_STEP; at < ULB_NIBBLE_BURST * ULB_NIBBLE_STEP; at += 2 * ULB_NIBBLE_STEP)
        ulb_nibble_add_line(w + at, table + at, prefetch, bytes);
    ulb_nibble_join(bytes[0], bytes[1], words);
    ulb_nibble_join(bytes[2], bytes[3], words + 2);
}

static inline void ulb_nibble_add_words(int32_t *sums, __m128i words)
{
    __m256i sum = _mm256_loadu_si256((const __m256i *)sums);
    _mm256_storeu_si256((__m256i *)sums, _mm256_add_epi32(sum, _mm256_cvtepu16_epi32(words)));
}

/* Unpacking leaves rows 0-7 and 16-23 in even words, rows 8-15 and 24-31 in odd words. */
static inline void ulb_nibble_widen(const ulb_nibble_vec words[4], int32_t *sums)
{
#pragma GCC unroll 4
    for (int i = 0; i < 4; i++) {
        int32_t *at = sums + i / 2 * 32 + i % 2 * 8;
        __m256i both = ulb_nibble_both_steps(words[i]);
        ulb_nibble_add_words(at, _mm256_castsi256_si128(both));
        ulb_nibble_add_words(at + 16, _mm256_extracti128_si256(both, 1));
    }
}

static inline __attribute__((always_inline)) void ulb_nibble_clear(ulb_nibble_vec words[4])
{
#pragma GCC unroll 4
    for (int i = 0; i < 4; i++)
        words[i] = ulb_nibble_no_words();
}

/* Adds some steps, at most a burst. They prefetch too: without a prefetch the last lines of a row would cost
 * each tile a memory latency. */
static inline __attribute__((always_inline)) void ulb_nibble_rest(const uint8_t *w, const uint8_t *table,
                                                                  size_t steps,
                                                                  struct ulb_prefetch_setting prefetch,
                                                                  ulb_nibble_vec words[4])
{
    enum { STEP = ULB_NIBBLE_STEP };
    ulb_nibble_vec bytes[4];
    size_t s = 2;
    ulb_nibble_prefetch(w, prefetch);
    if (steps > 1)
        ulb_nibble_first_line(w, table, bytes);
    else
        ulb_nibble_first(w, table, bytes);
    for (; s + 2 <= steps; s += 2)
        ulb_nibble_add_line(w + s * STEP, table + s * STEP, prefetch, bytes);
    if (s < steps) {
        ulb_nibble_prefetch(w + s * STEP, prefetch);
        ulb_nibble_add(w + s * STEP, table + s * STEP, bytes);
    }
    ulb_nibble_join(bytes[0], bytes[1], words);
    ulb_nibble_join(bytes[2], bytes[3], words + 2);
}

/* words += a burst of each of four slices, from `step`. It is a loop, because shorter code was faster. A
 * tuned setting unrolls it: the prefetchers of Zen follow a stream by the instruction that loads it. */
static inline __attribute__((always_inline)) void ulb_nibble_bursts(struct ulb_prefetch_setting prefetch,
                                                                    const struct ulb_tiles *tiles,
                                                                    const uint8_t *tables, size_t step,
                                                                    ulb_nibble_vec words[4])
{
    const uint8_t *w = tiles->w + step * ULB_NIBBLE_STEP, *table = tables + step * ULB_NIBBLE_STEP;
    const size_t next = tiles->steps * ULB_NIBBLE_STEP;
    if (prefetch.tuned) {
        ULB_UNROLL(4)
        for (size_t i = 0; i < ULB_TABLE_SLICES; i++)
            ulb_nibble_burst(w + i * tiles->slice_bytes, table + i * next, prefetch, words);
        return;
    }
#pragma GCC unroll 1
    for (size_t i = 0; i < ULB_TABLE_SLICES; i++) {
        ulb_nibble_burst(w, table, prefetch, words);
        w += tiles->slice_bytes;
        table += next;
    }
}

/* Sums of v over four slices. Two alternating bursts of each fill 16 bits. tables: `[slices][steps]`. */
static inline __attribute__((always_inline)) void ulb_nibble_sum_as(struct ulb_prefetch_setting prefetch,
                                                                    const struct ulb_tiles *tiles,
                                                                    const uint8_t *tables, int32_t *sums)
{
    size_t s = 0;
    ulb_nibble_vec words[4];
    for (; s + 2 * ULB_NIBBLE_BURST <= tiles->steps; s += 2 * ULB_NIBBLE_BURST) {
        ulb_nibble_clear(words);
        for (size_t at = s; at < s + 2 * ULB_NIBBLE_BURST; at += ULB_NIBBLE_BURST)
            ulb_nibble_bursts(prefetch, tiles, tables, at, words);
        ulb_nibble_widen(words, sums);
    }
    for (; s < tiles->steps; s += ULB_NIBBLE_BURST) {
        size_t steps = tiles->steps - s < ULB_NIBBLE_BURST ? tiles->steps - s : ULB_NIBBLE_BURST;
        ulb_nibble_clear(words);
        for (size_t i = 0; i < ULB_TABLE_SLICES; i++)
            ulb_nibble_rest(tiles->w + i * tiles->slice_bytes + s * ULB_NIBBLE_STEP,
                            tables + (i * tiles->steps + s) * ULB_NIBBLE_STEP, steps, prefetch, words);
        ulb_nibble_widen(words, sums);
    }
}

/* Three code variants: see kernels/x86/gemv/k_slices.h. */
static inline __attribute__((always_inline)) void ulb_nibble_sum(const struct ulb_tiles *tiles,
                                                                 const uint8_t *tables, int32_t *sums)
{
    ULB_SPECIALISE_PREFETCH(*tiles->prefetch, ulb_nibble_sum_as(prefetch, tiles, tables, sums));
}

#endif
