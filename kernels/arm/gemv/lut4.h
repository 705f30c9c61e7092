/* Exact sums over bits by table look-up on AArch64 (kernels/codes/lut4.h), written once for NEON and SVE. tbl
 * looks up a vector of bytes in 16 entries, at any vector length, because no index is above 15. A tile has 32
 * bytes a step: two vectors of 128 bits, one of 256, half of one of 512.
 *
 * Registers: four byte sums. Word sums are kept in memory and updated once for eight steps. */
#ifndef ULB_KERNELS_ARM_GEMV_LUT4_H
#define ULB_KERNELS_ARM_GEMV_LUT4_H

#include "kernels/arm/simd/vec.h"

/* Entry n of a step's table is 512 plus the sum of pattern[i] * x[i] over the step's columns. pattern =
 * patterns + 4 n has entries of 0 to 2 that add up to at most 4. */
static inline __attribute__((always_inline)) int32_t
ulb_nibble_build(const uint8_t *patterns, size_t columns, const int8_t *x, size_t steps, uint8_t *tables)
{
    for (size_t s = 0; s < steps; s++, x += columns, tables += ULB_NIBBLE_STEP) {
        for (size_t n = 0; n < 16; n++) {
            int sum = ULB_NIBBLE_ORIGIN;
            for (size_t i = 0; i < columns; i++)
                sum += patterns[i / 2 * 32 + 2 * n + i % 2] * x[i];
            tables[n] = (uint8_t)(sum & 31);
            tables[16 + n] = (uint8_t)(sum >> 5);
        }
    }
    return ULB_NIBBLE_ORIGIN * (int32_t)steps;
}

#define ULB_NIBBLE_PREFETCH_KIND ULB_PREFETCH_FIXED /* PRFM is always for L1 */

/* Instructions per 32 weights of this many bits. */
#define ULB_NIBBLE_MIX(bits)                                                                                 \
    {                                                                                                        \
        .loads = (0.75 + 0.125) * (bits), .prefetches = 0.0625 * (bits), .logic = 0.25 * (bits),             \
        .shifts = 0.25 * (bits), .shuffles = 1.0 * (bits), .adds = (1 + 0.125) * (bits),                     \
        .madds = 0.125 * (bits), .vector_bits = 128                                                          \
    }

/* words += low + 32 high, of the bytes from `at`, of the 32 of a tile. */
#ifdef __ARM_FEATURE_SVE

static inline void ulb_nibble_add_words(size_t at, svuint8_t low, svuint8_t high, uint16_t *words)
{
    size_t half = svcntb() / 2;
    svbool_t first = svwhilelt_b16_u64(at, ULB_NIBBLE_STEP);
    svbool_t second = svwhilelt_b16_u64(at + half, ULB_NIBBLE_STEP);
    svuint16_t a = svadd_u16_x(first, svld1_u16(first, words + at), svunpklo_u16(low));
    svuint16_t b = svadd_u16_x(second, svld1_u16(second, words + at + half), svunpkhi_u16(low));
    svst1_u16(first, words + at, svmla_n_u16_x(first, a, svunpklo_u16(high), 32));
    svst1_u16(second, words + at + half, svmla_n_u16_x(second, b, svunpkhi_u16(high), 32));
}

#define ULB_LOOK_UP(table, index) svtbl_u8(table, index)
#define ULB_ADD_BYTES(a, b)       svadd_u8_x(svptrue_b8(), a, b)
#define ULB_HIGH_NIBBLES(bytes)   svlsr_n_u8_x(svptrue_b8(), bytes, 4)
#define ULB_LOW_NIBBLES(bytes)    svand_n_u8_x(svptrue_b8(), bytes, 15)
#define ULB_UNSIGNED(bytes)       svreinterpret_u8_s8(bytes)
typedef svuint8_t ulb_codes;

#else

static inline void ulb_nibble_add_words(size_t at, uint8x16_t low, uint8x16_t high, uint16_t *words)
{
    uint16x8_t a = vaddw_u8(vld1q_u16(words + at), vget_low_u8(low));
    uint16x8_t b = vaddw_high_u8(vld1q_u16(words + at + 8), low);
    vst1q_u16(words + at, vmlal_u8(a, vget_low_u8(high), vdup_n_u8(32)));
    vst1q_u16(words + at + 8, vmlal_high_u8(b, high, vdupq_n_u8(32)));
}

#define ULB_LOOK_UP(table, index) vqtbl1q_u8(table, index)
#define ULB_ADD_BYTES(a, b)       vaddq_u8(a, b)
#define ULB_HIGH_NIBBLES(bytes)   vshrq_n_u8(bytes, 4)
#define ULB_LOW_NIBBLES(bytes)    vandq_u8(bytes, vdupq_n_u8(15))
#define ULB_UNSIGNED(bytes)       vreinterpretq_u8_s8(bytes)
typedef uint8x16_t ulb_codes;

#endif

/* words[64] += up to 8 steps, less than what overflows a byte. */
static inline __attribute__((always_inline)) void ulb_nibble_burst(const uint8_t *w, const uint8_t *table,
                                                                   size_t steps, uint16_t *words)
{
    for (size_t at = 0; at < ULB_NIBBLE_STEP; at += ulb_vec_bytes()) {
        const ulb_mask mask = ulb_bytes_left(at, ULB_NIBBLE_STEP);
        const ulb_codes zero = ULB_UNSIGNED(ulb_all8(0));
        ulb_codes low0 = zero, high0 = zero, low1 = zero, high1 = zero;
#pragma GCC unroll 8
        for (size_t s = 0; s < steps; s++) {
            ulb_codes packed = ULB_UNSIGNED(ulb_load(mask, w + s * ULB_NIBBLE_STEP + at));
            ulb_codes low = ULB_UNSIGNED(ulb_load16(table + s * ULB_NIBBLE_STEP));
            ulb_codes high = ULB_UNSIGNED(ulb_load16(table + s * ULB_NIBBLE_STEP + 16));
            ulb_codes first = ULB_LOW_NIBBLES(packed), second = ULB_HIGH_NIBBLES(packed);
            low0 = ULB_ADD_BYTES(low0, ULB_LOOK_UP(low, first));
            high0 = ULB_ADD_BYTES(high0, ULB_LOOK_UP(high, first));
            low1 = ULB_ADD_BYTES(low1, ULB_LOOK_UP(low, second));
            high1 = ULB_ADD_BYTES(high1, ULB_LOOK_UP(high, second));
        }
        ulb_nibble_add_words(at, low0, high0, words);
        ulb_nibble_add_words(at, low1, high1, words + ULB_NIBBLE_STEP);
    }
}

/* Sums of v over four slices. Two alternating bursts of each fill 16 bits. tables: `[slices][steps]`. */
static inline __attribute__((always_inline)) void ulb_nibble_sum(const struct ulb_tiles *tiles,
                                                                 const uint8_t *tables, int32_t *sums)
{
    for (size_t s = 0; s < tiles->steps; s += 2 * ULB_NIBBLE_BURST) {
        uint16_t words[ULB_NIBBLE_SUMS] = {0};
        size_t end = tiles->steps - s < 2 * ULB_NIBBLE_BURST ? tiles->steps : s + 2 * ULB_NIBBLE_BURST;
        for (size_t i = 0; i < ULB_TABLE_SLICES; i++) {
            const uint8_t *w = tiles->w + i * tiles->slice_bytes;
            const uint8_t *table = tables + i * tiles->steps * ULB_NIBBLE_STEP;
            size_t at = s;
            for (; at + ULB_NIBBLE_BURST <= end; at += ULB_NIBBLE_BURST) {
                for (size_t line = 0; line < ULB_NIBBLE_BURST * ULB_NIBBLE_STEP; line += 64)
                    __builtin_prefetch(w + at * ULB_NIBBLE_STEP + line + ULB_NIBBLE_PREFETCH, 0, 3);
                ulb_nibble_burst(w + at * ULB_NIBBLE_STEP, table + at * ULB_NIBBLE_STEP, ULB_NIBBLE_BURST,
                                 words);
            }
            if (at < end)
                ulb_nibble_burst(w + at * ULB_NIBBLE_STEP, table + at * ULB_NIBBLE_STEP, end - at, words);
        }
        for (size_t i = 0; i < ULB_NIBBLE_SUMS; i++)
            sums[i] += words[i];
    }
}

#endif
