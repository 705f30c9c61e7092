/* Look-ups of kernels/x86/gemv/lut4.h in vectors of 512 bits: a line of two steps is one vector. The four
 * lanes of weights are rows r and r + 16 of one step, then of the next. The lanes of a table are low and high
 * parts of one step, then of the next. Two orders of the lanes therefore look up everything. In the original
 * order low parts belong to rows r and high parts to rows r + 16. In the swapped order it is the other way
 * round.
 *
 * Ports: a line takes an AND, gf2p8affineqb (or a shift and an AND), the swap, four pshufb and four
 * additions. Joining takes 12 operations for every four lines, and the first of four lines needs no
 * additions. Port five alone executes six of all 13. */
#ifndef ULB_KERNELS_X86_GEMV_LUT4_AVX512_H
#define ULB_KERNELS_X86_GEMV_LUT4_AVX512_H

#include "kernels/microkernel.h"
#include "kernels/x86/simd/prefetch.h"

#include <immintrin.h>

typedef __m512i ulb_nibble_vec;

/* Instructions per 32 weights of this many bits. */
#define ULB_NIBBLE_MIX(bits)                                                                                 \
    {                                                                                                        \
        .loads = 0.125 * (bits), .prefetches = 0.0625 * ULB_NIBBLE_PREFETCHES * (bits),                      \
        ULB_NIBBLE_CUT_MIX(0.0625 * (bits)), .permutes = 0.0625 * (bits), .shuffles = 0.25 * (bits),         \
        .transposes = 4 / 64.0 * (bits), .adds = 0.25 * (bits), .maddubs = 4 / 64.0 * (bits),                \
        .vector_bits = 512                                                                                   \
    }

/* Each isolates the high nibble of every byte: the shift and mask, or the matrix alone. */
#ifdef __GFNI__
#define ULB_NIBBLE_MATRIX _mm512_set1_epi64(0x1020408000000000)
#define ULB_HIGH_NIBBLE   "vgf2p8affineqb $0, %[high_nibble], %[packed], %[packed]\n\t"
#else
#define ULB_NIBBLE_MATRIX nibble
#define ULB_HIGH_NIBBLE   "vpsrlw $4, %[packed], %[packed]\n\tvpandd %[nibble], %[packed], %[packed]\n\t"
#endif

/* Loads weights and tables of a line, or with as = "t" of one step: the rest of the vectors is zero, and so
 * are its sums. first and packed are the low and high nibbles. */
#define ULB_NIBBLE_LOAD(as)                                                                                  \
    "vmovdqu64 %[w], %" as "[packed]\n\t"                                                                    \
    "vmovdqu64 %[table], %" as "[parts]\n\t"                                                                 \
    "vshufi64x2 $0xB1, %[parts], %[parts], %[swapped]\n\t"                                                   \
    "vpandd %[nibble], %[packed], %[first]\n\t" ULB_HIGH_NIBBLE
#define ULB_NIBBLE_LOOK_UP(index, part, to) "vpshufb %[" index "], %[" part "], %[" to "]\n\t"
#define ULB_NIBBLE_ADD(index, part, sum)                                                                     \
    ULB_NIBBLE_LOOK_UP(index, part, "found") "vpaddb %[found], %[" sum "], %[" sum "]\n\t"
#define ULB_NIBBLE_LOOK_UPS                                                                                  \
    ULB_NIBBLE_LOOK_UP("first", "parts", "b0")                                                               \
    ULB_NIBBLE_LOOK_UP("first", "swapped", "b1")                                                             \
    ULB_NIBBLE_LOOK_UP("packed", "parts", "b2")                                                              \
    ULB_NIBBLE_LOOK_UP("packed", "swapped", "b3")
#define ULB_NIBBLE_ADDS                                                                                      \
    ULB_NIBBLE_ADD("first", "parts", "b0")                                                                   \
    ULB_NIBBLE_ADD("first", "swapped", "b1")                                                                 \
    ULB_NIBBLE_ADD("packed", "parts", "b2")                                                                  \
    ULB_NIBBLE_ADD("packed", "swapped", "b3")
#define ULB_NIBBLE_BYTES(constraint)                                                                         \
    [b0] constraint(bytes[0]), [b1] constraint(bytes[1]), [b2] constraint(bytes[2]),                         \
        [b3] constraint(bytes[3]), [packed] "=&v"(packed), [first] "=&v"(first), [parts] "=&v"(parts),       \
        [swapped] "=&v"(swapped)
#define ULB_NIBBLE_OPERANDS(n)                                                                               \
    [w] "m"(*(const uint8_t(*)[n])w), [table] "m"(*(const uint8_t(*)[n])table), [nibble] "v"(nibble),        \
        [high_nibble] "v"(high_nibble)

/* bytes: parts of the sums of one step, in the order of the lanes; of low nibbles, then of high ones. */
static inline void ulb_nibble_first(const uint8_t *w, const uint8_t *table, __m512i bytes[4])
{
    const __m512i nibble = _mm512_set1_epi8(0x0F), high_nibble = ULB_NIBBLE_MATRIX;
    __m512i packed, first, parts, swapped;
    __asm__(ULB_NIBBLE_LOAD("t") ULB_NIBBLE_LOOK_UPS
            : ULB_NIBBLE_BYTES("=&v")
            : ULB_NIBBLE_OPERANDS(ULB_NIBBLE_STEP));
}

/* bytes += the parts of another step. */
static inline void ulb_nibble_add(const uint8_t *w, const uint8_t *table, __m512i bytes[4])
{
    const __m512i nibble = _mm512_set1_epi8(0x0F), high_nibble = ULB_NIBBLE_MATRIX;
    __m512i packed, first, parts, swapped, found;
    __asm__(ULB_NIBBLE_LOAD("t") ULB_NIBBLE_ADDS
            : ULB_NIBBLE_BYTES("+v"), [found] "=&v"(found)
            : ULB_NIBBLE_OPERANDS(ULB_NIBBLE_STEP));
}

/* bytes: the parts of the two steps of a line. */
static inline void ulb_nibble_first_line(const uint8_t *w, const uint8_t *table, __m512i bytes[4])
{
    const __m512i nibble = _mm512_set1_epi8(0x0F), high_nibble = ULB_NIBBLE_MATRIX;
    __m512i packed, first, parts, swapped;
    __asm__(ULB_NIBBLE_LOAD("") ULB_NIBBLE_LOOK_UPS
            : ULB_NIBBLE_BYTES("=&v")
            : ULB_NIBBLE_OPERANDS(2 * ULB_NIBBLE_STEP));
}

/* bytes += the parts of the two steps of a line. */
static inline __attribute__((always_inline)) void ulb_nibble_add_line(const uint8_t *w, const uint8_t *table,
                                                                      struct ulb_prefetch_setting prefetch,
                                                                      __m512i bytes[4])
{
    const __m512i nibble = _mm512_set1_epi8(0x0F), high_nibble = ULB_NIBBLE_MATRIX;
    __m512i packed, first, parts, swapped, found;
    if (ULB_NIBBLE_INTO_L2 && !prefetch.tuned)
        ulb_prefetch_l2(w, ULB_L2_DISTANCE);
#define ADD_LINE(instruction, ...)                                                                           \
    __asm__(instruction "\n\t" ULB_NIBBLE_LOAD("") ULB_NIBBLE_ADDS                                           \
            : ULB_NIBBLE_BYTES("+v"), [found] "=&v"(found)                                                   \
            : ULB_NIBBLE_OPERANDS(2 * ULB_NIBBLE_STEP), __VA_ARGS__)
    ULB_PREFETCH_BY(ADD_LINE, w, 0, ULB_NIBBLE_PREFETCH, prefetch);
#undef ADD_LINE
}

/* 16-bit sums of 32 rows += their byte sums. Each half holds the sums of one step. words[0] is rows 0-7 and
 * 16-23, words[1] rows 8-15 and 24-31. Unpacking leaves low parts before high parts for rows below 16, and
 * after them for the others. */
static inline void ulb_nibble_join(__m512i parts, __m512i swapped, __m512i words[2])
{
    enum { LOW_FIRST = 32 << 8 | 1, HIGH_FIRST = 1 << 8 | 32 };
    const __m512i weights = _mm512_mask_set1_epi16(_mm512_set1_epi16(LOW_FIRST), 0xFF00FF00, HIGH_FIRST);
    __m512i upper;
    __asm__("vpunpckhbw %[swapped], %[parts], %[upper]\n\t"
            "vpunpcklbw %[swapped], %[parts], %[parts]\n\t"
            "vpmaddubsw %[weights], %[parts], %[parts]\n\t"
            "vpmaddubsw %[weights], %[upper], %[upper]\n\t"
            "vpaddw %[parts], %[w0], %[w0]\n\t"
            "vpaddw %[upper], %[w1], %[w1]"
            : [w0] "+v"(words[0]), [w1] "+v"(words[1]), [parts] "+v"(parts), [upper] "=&v"(upper)
            : [swapped] "v"(swapped), [weights] "v"(weights));
}

static inline __m512i ulb_nibble_no_words(void)
{
    return _mm512_setzero_si512();
}

/* The sums of both halves. */
static inline __m256i ulb_nibble_both_steps(__m512i words)
{
    return _mm256_add_epi16(_mm512_castsi512_si256(words), _mm512_extracti64x4_epi64(words, 1));
}

#endif
