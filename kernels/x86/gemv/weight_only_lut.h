/* 4-bit codes of a codebook with floating activations, in the order of kernels/x86/gemv/planes.h. A lane
 * holds four columns of a row, and a second row in the upper nibbles.
 *
 * At 512 bits vpermps looks up 16 entries by the lowest 4 bits of a lane, so that a code is only shifted
 * down. At 256 bits vpermps looks up eight entries only. There vpshufb looks up the four bytes of each
 * number, 32 at once. Two rounds of unpacking join them, the four columns of a row side by side. A row then
 * has four sums, one for each column of a step, which are added up at the end of a group. */
#ifndef ULB_KERNELS_X86_GEMV_WEIGHT_ONLY_LUT_H
#define ULB_KERNELS_X86_GEMV_WEIGHT_ONLY_LUT_H

#include "kernels/x86/gemv/weight_only.h"

#include <string.h>

enum { ULB_CODEBOOK_STEP = 4 * ULB_VEC_BYTES /* bytes of 4 columns of all rows */ };

/* A table of 16 levels in registers. */
struct ulb_codebook {
#ifdef ULB_DP_512
    __m512 all;
#else
    __m256i bytes[4]; /* the lowest of each first */
#endif
};

static inline struct ulb_codebook ulb_load_codebook(const float *levels)
{
    struct ulb_codebook table;
#ifdef ULB_DP_512
    table.all = _mm512_loadu_ps(levels);
#else
    uint8_t bytes[4][16];
    for (size_t i = 0; i < 64; i++)
        bytes[i % 4][i / 4] = ((const uint8_t *)levels)[i];
    for (size_t b = 0; b < 4; b++)
        table.bytes[b] = ulb_all128(bytes[b]);
#endif
    return table;
}

#ifdef ULB_DP_512

enum { ULB_CODEBOOK_SUMS = 1 /* of a row in a group */ };

/* sums[8] = products of some steps of four columns; x at the first. */
static inline __attribute__((always_inline)) void
ulb_sum_codebook_columns(enum ulb_activation kind, const uint8_t *w, const void *x, size_t at, size_t steps,
                         struct ulb_line_prefetch hint, const struct ulb_codebook *table, ulb_floats *sums)
{
    ULB_UNROLL(8)
    for (size_t v = 0; v < ULB_WEIGHT_ONLY_VECTORS; v++)
        sums[v] = ulb_no_floats();
    for (size_t s = 0; s < steps; s++, w += ULB_CODEBOOK_STEP) {
        ulb_floats four[4];
        ULB_UNROLL(4)
        for (unsigned c = 0; c < 4; c++) {
            four[c] = ulb_all_floats(ulb_ref_float(kind, x, at + 4 * s + c));
            __asm__("" : "+v"(four[c])); /* keeps Clang from loading it for every vector */
        }
        ULB_UNROLL(32)
        for (unsigned i = 0; i < 4 * ULB_WEIGHT_ONLY_VECTORS; i++) {
            unsigned v = i / 8, f = i % 2, c = i / 2 % 4;
            ulb_floats level =
                _mm512_permutexvar_ps(ulb_shr32(ulb_load(w + v * ULB_VEC_BYTES), 8 * c + 4 * f), table->all);
            sums[2 * v + f] = ulb_fma(level, four[c], sums[2 * v + f]);
            if (i % 8 == 7)
                ULB_PREFETCH_LINE_AFTER(sums[2 * v], w, v * ULB_LINE, hint);
        }
    }
}

#else

enum {
    ULB_CODEBOOK_SUMS = 4 /* of a row in a group, one for each column of a step */,
    ULB_CODEBOOK_COLUMNS_MAX = 64
};

/* sums[4] += products of four columns of eight rows. Vector v holds rows v and v + 4. */
static inline __attribute__((always_inline)) void ulb_add_codebook(const struct ulb_codebook *table,
                                                                   __m256i codes, __m256 x, ulb_floats *sums)
{
    __m256i b0 = ulb_look_up(table->bytes[0], codes), b1 = ulb_look_up(table->bytes[1], codes);
    __m256i b2 = ulb_look_up(table->bytes[2], codes), b3 = ulb_look_up(table->bytes[3], codes);
    __m256i low = _mm256_unpacklo_epi8(b0, b1), high = _mm256_unpacklo_epi8(b2, b3);
    sums[0] = ulb_fma(ulb_as_floats(_mm256_unpacklo_epi16(low, high)), x, sums[0]);
    sums[1] = ulb_fma(ulb_as_floats(_mm256_unpackhi_epi16(low, high)), x, sums[1]);
    low = _mm256_unpackhi_epi8(b0, b1), high = _mm256_unpackhi_epi8(b2, b3);
    sums[2] = ulb_fma(ulb_as_floats(_mm256_unpacklo_epi16(low, high)), x, sums[2]);
    sums[3] = ulb_fma(ulb_as_floats(_mm256_unpackhi_epi16(low, high)), x, sums[3]);
}

/* The sums of rows 0 to 7, from one nibble of a vector of bytes. shift: 0 or 4. */
static inline __attribute__((always_inline)) ulb_floats ulb_sum_rows(const struct ulb_codebook *table,
                                                                     const uint8_t *w, const float *x,
                                                                     size_t steps, unsigned shift, bool asks,
                                                                     struct ulb_line_prefetch hint)
{
    ulb_floats sums[4];
    ULB_UNROLL(4)
    for (size_t v = 0; v < 4; v++)
        sums[v] = ulb_no_floats();
    for (size_t s = 0; s < steps; s++, w += ULB_CODEBOOK_STEP) {
        __m256i packed = ulb_load(w);
        ulb_add_codebook(table, ulb_and(shift ? ulb_shr16(packed, shift) : packed, ulb_all8(15)),
                         _mm256_broadcast_ps((const __m128 *)(x + 4 * s)), sums);
        if (asks)
            ulb_prefetch_line(w, 0, hint);
    }
    return _mm256_hadd_ps(_mm256_hadd_ps(sums[0], sums[1]), _mm256_hadd_ps(sums[2], sums[3]));
}

/* sums[8] = products of some steps of four columns; x at the first. */
static inline __attribute__((always_inline)) void
ulb_sum_codebook_columns(enum ulb_activation kind, const uint8_t *w, const void *x, size_t at, size_t steps,
                         struct ulb_line_prefetch hint, const struct ulb_codebook *table, ulb_floats *sums)
{
    float singles[ULB_CODEBOOK_COLUMNS_MAX];
    const float *all = kind == ULB_ACT_F32 ? (const float *)x + at : singles;
    for (size_t k = 0; k < 4 * steps && kind != ULB_ACT_F32; k++)
        singles[k] = ulb_ref_float(kind, x, at + k);
    for (size_t v = 0; v < 4; v++) {
        sums[2 * v] = ulb_sum_rows(table, w + v * ULB_VEC_BYTES, all, steps, 0, v % 2 == 0, hint);
        sums[2 * v + 1] = ulb_sum_rows(table, w + v * ULB_VEC_BYTES, all, steps, 4, false, hint);
    }
}

#endif

/* Levels, 16 in memory, of a code in each lane. */
static inline __attribute__((always_inline)) ulb_floats ulb_look_up_codebook(const float *levels,
                                                                             ulb_vec codes)
{
#ifdef ULB_DP_512
    return _mm512_permutexvar_ps(codes, _mm512_loadu_ps(levels));
#else
    __m256 low = _mm256_permutevar8x32_ps(_mm256_loadu_ps(levels), codes);
    __m256 high = _mm256_permutevar8x32_ps(_mm256_loadu_ps(levels + 8), codes);
    return _mm256_blendv_ps(low, high, ulb_as_floats(ulb_shl32(codes, 28)));
#endif
}

/* Instructions per 32 weights, without the epilogue of a group. */
#ifdef ULB_DP_512
#define ULB_CODEBOOK_COLUMNS_MIX                                                                             \
    .loads = ULB_WEIGHT_ONLY_UNITS / 8, .broadcasts = ULB_WEIGHT_ONLY_UNITS / 8, .prefetches = 0.5,          \
    .shifts = ULB_WEIGHT_ONLY_UNITS, .permutes = ULB_WEIGHT_ONLY_UNITS, .fmas = ULB_WEIGHT_ONLY_UNITS,       \
    .chains = ULB_WEIGHT_ONLY_VECTORS
#else
#define ULB_CODEBOOK_COLUMNS_MIX                                                                             \
    .loads = 1, .broadcasts = 1, .prefetches = 0.5, .shifts = 0.5, .logic = 1, .shuffles = 4,                \
    .transposes = 8, .fmas = 4, .chains = 4
#endif

#endif
