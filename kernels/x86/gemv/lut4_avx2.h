/* Look-ups of kernels/x86/gemv/lut4.h in vectors of 256 bits: a step is one vector.
 *
 * Ports: a step takes a load, two table loads, and one or half a prefetch. It also takes an AND, a shift and
 * AND (or one gf2p8affineqb), four pshufb and four additions. Joining takes 12 operations for every eight
 * steps, and the first of eight steps needs no additions. */
#ifndef ULB_KERNELS_X86_GEMV_LUT4_AVX2_H
#define ULB_KERNELS_X86_GEMV_LUT4_AVX2_H

#include "kernels/microkernel.h"
#include "kernels/x86/simd/prefetch.h"

#include <immintrin.h>

typedef __m256i ulb_nibble_vec;

/* Instructions per 32 weights of this many bits. */
#define ULB_NIBBLE_MIX(bits)                                                                                 \
    {                                                                                                        \
        .loads = 0.125 * (bits), .broadcasts = 0.25 * (bits),                                                \
        .prefetches = 0.0625 * ULB_NIBBLE_PREFETCHES * (bits), ULB_NIBBLE_CUT_MIX(0.125 * (bits)),           \
        .shuffles = 0.5 * (bits), .transposes = 4 / 64.0 * (bits), .adds = 0.5 * (bits),                     \
        .maddubs = 4 / 64.0 * (bits), .vector_bits = 256                                                     \
    }

/* Each isolates the high nibble of every byte: the shift and mask, or the matrix alone. */
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
/* Operands of step i, in memory, with an address that the compiler chooses; and operands that all steps
 * share. */
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

/* bytes += the parts of another step. */
static inline void ulb_nibble_add(const uint8_t *w, const uint8_t *table, __m256i bytes[4])
{
    const __m256i nibble = _mm256_set1_epi8(0x0F), high_nibble = ULB_NIBBLE_MATRIX;
    __m256i packed, first, low, high, found;
    __asm__(ULB_NIBBLE_STEP_ADD("0")
            : ULB_NIBBLE_BYTES("+x"), [found] "=&x"(found)
            : ULB_NIBBLE_OPERANDS(0), ULB_NIBBLE_CONSTANTS);
}

/* bytes: the parts of the two steps of a line. */
static inline void ulb_nibble_first_line(const uint8_t *w, const uint8_t *table, __m256i bytes[4])
{
    ulb_nibble_first(w, table, bytes);
    ulb_nibble_add(w + ULB_NIBBLE_STEP, table + ULB_NIBBLE_STEP, bytes);
}

/* bytes += the parts of the two steps of a line. */
static inline __attribute__((always_inline)) void ulb_nibble_add_line(const uint8_t *w, const uint8_t *table,
                                                                      struct ulb_prefetch_setting prefetch,
                                                                      __m256i bytes[4])
{
    const __m256i nibble = _mm256_set1_epi8(0x0F), high_nibble = ULB_NIBBLE_MATRIX;
    __m256i packed, first, low, high, found;
    if (ULB_NIBBLE_INTO_L2 && !prefetch.tuned)
        ulb_prefetch_l2(w, ULB_L2_DISTANCE);
#define ADD_LINE(instruction, ...)                                                                           \
    __asm__(instruction "\n\t" ULB_NIBBLE_STEP_ADD("0") ULB_NIBBLE_STEP_ADD("1")                             \
            : ULB_NIBBLE_BYTES("+x"), [found] "=&x"(found)                                                   \
            : ULB_NIBBLE_OPERANDS(0), ULB_NIBBLE_OPERANDS(1), ULB_NIBBLE_CONSTANTS, __VA_ARGS__)
    ULB_PREFETCH_BY(ADD_LINE, w, 0, ULB_NIBBLE_PREFETCH, prefetch);
#undef ADD_LINE
}

/* 16-bit sums of 32 rows += their byte sums. words[0] is rows 0-7 and 16-23, words[1] rows 8-15 and 24-31, as
 * unpacking leaves them. It is one statement: compilers would add up the words of several bursts first and
 * spill them. */
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

static inline __m256i ulb_nibble_no_words(void)
{
    return _mm256_setzero_si256();
}

/* Words are of all steps already. */
static inline __m256i ulb_nibble_both_steps(__m256i words)
{
    return words;
}

#endif
