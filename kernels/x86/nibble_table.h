/* Exact sums over bits by table look-up on x86 (kernels/nibble_table.h): one vpshufb looks up 32 rows of 4
 * bits.
 *
 * vpmaddubsw by (1, 32) joins the halves of byte sums into 16 bits. Registers: 4 byte sums, 4 word sums, 5 of
 * a step's own; the 32-bit sums wait in memory. Ports: per 256 bits 1 load, 2 table loads, a prefetch or half
 * of one; and, shift + and (or one gf2p8affineqb), 4 pshufb, 4 add, and 12 of joining per 8: 12.5 operations
 * (11.5) on three ports are 0.52 cycle (0.48) per 32 bits. Near the end of a stream the lines of the same
 * stream of the next tile are prefetched. */
#ifndef ULB_KERNELS_X86_NIBBLE_TABLE_H
#define ULB_KERNELS_X86_NIBBLE_TABLE_H

#include "kernels/unroll.h"
#include "kernels/x86/prefetch.h"

#include <immintrin.h>

/* Entry n of a step's table is the sum of pattern[i] x[i] over the step's columns, plus 512, for a pattern
 * with entries of 0 to 2 that add up to at most 4. patterns: for each two columns their entries of all n. */
static inline __attribute__((always_inline)) void
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
}

/* Instructions per 32 weights of so many bits. */
#ifdef __GFNI__
#define ULB_NIBBLE_MIX(bits)                                                                                 \
    {                                                                                                        \
        .loads = 0.125 * (bits), .broadcasts = 0.25 * (bits), .prefetches = 0.125 * (bits),                  \
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

enum { ULB_NIBBLE_CHOICE = true }; /* prefetch_choice of the rows */

/* Whether rows told L1 ask L2, too, far ahead: CPUs without GFNI are slower with it (Zen 3, 4096x4096,
 * samples in turn: int1 0.87 of the best reader with it, 0.94 without, int2 0.87 and 0.965). */
#ifdef __GFNI__
enum { ULB_NIBBLE_FAR = true };
#else
enum { ULB_NIBBLE_FAR = false };
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

/* Asks for what lies ahead of a line; l2: ulb_gemm.prefetch_l2, a constant. */
static inline __attribute__((always_inline)) void ulb_nibble_ask(const uint8_t *w, bool l2)
{
    if (ULB_NIBBLE_FAR && !l2)
        ulb_ask_l2(w, ULB_FAR);
    ulb_ask_from(w, 0, (struct ulb_ahead){ULB_NIBBLE_PREFETCH, l2});
}

/* bytes += those of the two steps of a line. */
static inline __attribute__((always_inline)) void ulb_nibble_add_line(const uint8_t *w, const uint8_t *table,
                                                                      bool l2, __m256i bytes[4])
{
    const __m256i nibble = _mm256_set1_epi8(0x0F), high_nibble = ULB_NIBBLE_MATRIX;
    __m256i packed, first, low, high, found;
    if (ULB_NIBBLE_FAR && !l2)
        ulb_ask_l2(w, ULB_FAR);
    __asm__(ULB_ASM_ASK_KNOWN "\n\t" ULB_NIBBLE_STEP_ADD("0") ULB_NIBBLE_STEP_ADD("1")
            : ULB_NIBBLE_BYTES("+x"), [found] "=&x"(found)
            : ULB_NIBBLE_OPERANDS(0), ULB_NIBBLE_OPERANDS(1), ULB_NIBBLE_CONSTANTS,
              ULB_ASK_KNOWN_OPERANDS(w, 0, ULB_NIBBLE_PREFETCH, l2));
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

static inline __attribute__((always_inline)) void ulb_nibble_burst(const uint8_t *w, const uint8_t *table,
                                                                   bool l2, __m256i words[4])
{
    __m256i bytes[4];
    ulb_nibble_ask(w, l2);
    ulb_nibble_first(w, table, bytes);
    ulb_nibble_add(w + ULB_NIBBLE_STEP, table + ULB_NIBBLE_STEP, bytes);
#pragma GCC unroll 4
    for (size_t at = 2 * ULB_NIBBLE_STEP; at < ULB_NIBBLE_BURST * ULB_NIBBLE_STEP; at += 2 * ULB_NIBBLE_STEP)
        ulb_nibble_add_line(w + at, table + at, l2, bytes);
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

/* Adds up to 8 steps, less than a burst. They ask too: where rows end in such a rest, lines that nobody asked
 * for cost each tile a memory latency. */
static inline __attribute__((always_inline)) void ulb_nibble_rest(const uint8_t *w, const uint8_t *table,
                                                                  size_t steps, bool l2, __m256i words[4])
{
    enum { STEP = ULB_NIBBLE_STEP };
    __m256i bytes[4];
    size_t s = 2;
    ulb_nibble_ask(w, l2);
    ulb_nibble_first(w, table, bytes);
    if (steps > 1)
        ulb_nibble_add(w + STEP, table + STEP, bytes);
    for (; s + 2 <= steps; s += 2)
        ulb_nibble_add_line(w + s * STEP, table + s * STEP, l2, bytes);
    if (s < steps) {
        ulb_nibble_ask(w + s * STEP, l2);
        ulb_nibble_add(w + s * STEP, table + s * STEP, bytes);
    }
    ulb_nibble_join(bytes[0], bytes[1], words);
    ulb_nibble_join(bytes[2], bytes[3], words + 2);
}

/* words += a burst of each of four slices, from step on. A loop, which is shorter code: laid out one after
 * the other, bursts took 15 % longer on Zen 3, by how much more with which compiler was luck. Told L2 they
 * are laid out all the same: prefetchers of Zen follow a stream by the instruction that loads it (Zen 5:
 * int1, int2 and TL1 at 0.63 to 0.78 of the best reader as a loop, 0.91 laid out, in L1 alike). */
static inline __attribute__((always_inline)) void ulb_nibble_bursts(bool l2, const struct ulb_tiles *tiles,
                                                                    const uint8_t *tables, size_t step,
                                                                    __m256i words[4])
{
    const uint8_t *w = tiles->w + step * ULB_NIBBLE_STEP, *table = tables + step * ULB_NIBBLE_STEP;
    const size_t next = tiles->steps * ULB_NIBBLE_STEP;
    if (l2) {
        ULB_UNROLL(4)
        for (size_t i = 0; i < ULB_TABLE_SLICES; i++)
            ulb_nibble_burst(w + i * tiles->slice_bytes, table + i * next, l2, words);
        return;
    }
#pragma GCC unroll 1
    for (size_t i = 0; i < ULB_TABLE_SLICES; i++) {
        ulb_nibble_burst(w, table, l2, words);
        w += tiles->slice_bytes;
        table += next;
    }
}

/* Sums of v over four slices: two bursts of each in turn fill 16 bits. tables: [slices][steps]. */
static inline __attribute__((always_inline)) void ulb_nibble_sum_as(bool l2, const struct ulb_tiles *tiles,
                                                                    const uint8_t *tables, int32_t *sums)
{
    size_t s = 0;
    __m256i words[4];
    for (; s + 2 * ULB_NIBBLE_BURST <= tiles->steps; s += 2 * ULB_NIBBLE_BURST) {
        ulb_nibble_clear(words);
        for (size_t at = s; at < s + 2 * ULB_NIBBLE_BURST; at += ULB_NIBBLE_BURST)
            ulb_nibble_bursts(l2, tiles, tables, at, words);
        ulb_nibble_widen(words, sums);
    }
    for (; s < tiles->steps; s += ULB_NIBBLE_BURST) {
        size_t steps = tiles->steps - s < ULB_NIBBLE_BURST ? tiles->steps - s : ULB_NIBBLE_BURST;
        ulb_nibble_clear(words);
        for (size_t i = 0; i < ULB_TABLE_SLICES; i++)
            ulb_nibble_rest(tiles->w + i * tiles->slice_bytes + s * ULB_NIBBLE_STEP,
                            tables + (i * tiles->steps + s) * ULB_NIBBLE_STEP, steps, l2, words);
        ulb_nibble_widen(words, sums);
    }
}

/* Two pieces of code: see kernels/x86/streams.h. */
static inline __attribute__((always_inline)) void ulb_nibble_sum(const struct ulb_tiles *tiles,
                                                                 const uint8_t *tables, int32_t *sums)
{
    if (tiles->prefetch_l2)
        ulb_nibble_sum_as(true, tiles, tables, sums);
    else
        ulb_nibble_sum_as(false, tiles, tables, sums);
}

#endif
