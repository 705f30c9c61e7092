/* Codes of 4 or 8 bits with floating activations, in the order of kernels/x86/planes.h: a lane holds 4
 * columns of a row, and of 4-bit codes those of a second row in the upper nibbles.
 *
 * A code is masked where it lies in the lane and converted: 2^(8 c) times too large for column c, which the
 * activation makes good. Upper nibbles are shifted down first, and the highest byte, whose top bit would be a
 * sign. */
#ifndef ULB_KERNELS_X86_CODE_COLUMNS_H
#define ULB_KERNELS_X86_CODE_COLUMNS_H

#include "kernels/ref.h"
#include "kernels/unroll.h"
#include "kernels/x86/floats.h"
#include "kernels/x86/streams.h"

enum { ULB_CODE_VECTORS = 8 /* of rows */, ULB_CODE_ROWS = ULB_CODE_VECTORS * ULB_LANES };

static inline __attribute__((always_inline)) ulb_vec ulb_shr32(ulb_vec v, unsigned bits)
{
#ifdef ULB_DP_512
    return _mm512_srli_epi32(v, bits);
#else
    return _mm256_srli_epi32(v, (int)bits);
#endif
}

/* The code of column c as a float, times 1 or 2^(8 c). */
static inline __attribute__((always_inline)) ulb_floats ulb_code_column(unsigned bits, ulb_vec packed,
                                                                        unsigned c)
{
    if (bits == 8 && c == 3)
        return ulb_to_floats(ulb_shr32(packed, 24));
    return ulb_to_floats(ulb_and(packed, ulb_all32((int32_t)(((1u << bits) - 1) << 8 * c))));
}

/* What the activation of column c is multiplied by. */
static inline float ulb_column_factor(unsigned bits, unsigned c)
{
    return bits == 8 && c == 3 ? 1.0f : 1.0f / (float)(1u << 8 * c);
}

/* sums[8] += products of so many steps of 4 columns; x at the first. */
static inline __attribute__((always_inline)) void
ulb_add_code_columns(unsigned bits, enum ulb_activation kind, const uint8_t *w, const void *x, size_t at,
                     size_t steps, size_t near, ulb_floats *sums)
{
    const size_t step = (size_t)bits * ULB_VEC_BYTES;
    const unsigned fields = 8 / bits;
    for (size_t s = 0; s < steps; s++) {
        ulb_floats x4[4];
        ULB_UNROLL(4)
        for (unsigned c = 0; c < 4; c++)
            x4[c] = ulb_all_floats(ulb_ref_float(kind, x, at + 4 * s + c) * ulb_column_factor(bits, c));
        ULB_UNROLL(8)
        for (unsigned v = 0; v < bits; v++) {
            ulb_vec packed = ulb_load(w + s * step + v * ULB_VEC_BYTES);
            ULB_UNROLL(2)
            for (unsigned f = 0; f < fields; f++) {
                ulb_vec moved = f > 0 ? ulb_shr32(packed, 4) : packed;
                ULB_UNROLL(4)
                for (unsigned c = 0; c < 4; c++)
                    sums[v * fields + f] =
                        ulb_fma(ulb_code_column(bits, moved, c), x4[c], sums[v * fields + f]);
            }
        }
        ULB_UNROLL(8)
        for (size_t line = 0; line < step; line += ULB_LINE)
            _mm_prefetch((const char *)w + s * step + line + near, _MM_HINT_T0);
    }
}

/* Sum of n activations, a multiple of 4. */
static inline __attribute__((always_inline)) float ulb_sum_floats(enum ulb_activation kind, const void *x,
                                                                  size_t at, size_t n)
{
    float sums[4] = {0, 0, 0, 0};
    for (size_t i = 0; i < n; i += 4) {
        ULB_UNROLL(4)
        for (size_t j = 0; j < 4; j++)
            sums[j] += ulb_ref_float(kind, x, at + i + j);
    }
    return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

/* Instructions per 32 weights. */
#define ULB_CODE_UNITS (1024.0 / ULB_VEC_BITS) /* vectors of 32 floats */
#define ULB_CODE_COLUMNS_MIX(bits)                                                                           \
    .loads = (bits) / 32.0 * ULB_CODE_UNITS, .broadcasts = ULB_CODE_UNITS / 8, .prefetches = (bits) / 16.0,  \
    .logic = ((bits) == 8 ? 0.75 : 1) * ULB_CODE_UNITS,                                                      \
    .shifts = ((bits) == 8 ? 0.25 : 0.125) * ULB_CODE_UNITS, .conversions = ULB_CODE_UNITS,                  \
    .fmas = ULB_CODE_UNITS, .chains = ULB_CODE_VECTORS

#endif
