/* Codes of 4 or 8 bits with floating activations, in the order of kernels/x86/gemv/planes.h. A lane holds
 * four columns of a row. With 4-bit codes the upper nibbles hold a second row.
 *
 * A field is masked in its place in the lane and converted. A field from bit b is 2^b times too large, and
 * the activation is divided by 2^b. The uppermost field is shifted down, because its top bit would be a sign.
 * A column of all rows comes before the next column, so that the sums of a row hide the latency of FMA. Lanes
 * are read from L1 again for each field. */
#ifndef ULB_KERNELS_X86_GEMV_WEIGHT_ONLY_H
#define ULB_KERNELS_X86_GEMV_WEIGHT_ONLY_H

#include "kernels/reference/integer_ref.h"
#include "kernels/microkernel.h"
#include "kernels/x86/simd/vec_float.h"
#include "kernels/x86/gemv/k_slices.h"

/* A sum of codes is one chain over all columns, or over a group. The sum of activations, which multiplies the
 * zero point, is four chains of a quarter each. Code and zero point are counted from the smallest code, so
 * that each is at most |value| + |zero| + offset, which bounds the error (kernels/kernel.h). */
#define ULB_WEIGHT_ONLY_TOLERANCE (1.25 * ULB_ONE_CHAIN_TOLERANCE)

enum {
    ULB_WEIGHT_ONLY_VECTORS = 8 /* of rows */,
    ULB_WEIGHT_ONLY_ROWS = ULB_WEIGHT_ONLY_VECTORS * ULB_LANES
};

static inline __attribute__((always_inline)) ulb_vec ulb_shr32(ulb_vec v, unsigned bits)
{
#ifdef ULB_DP_512
    return _mm512_srli_epi32(v, bits);
#else
    return _mm256_srli_epi32(v, (int)bits);
#endif
}

/* Activation even + odd in every lane. odd: a constant, 0 or 1. It uses ulb_broadcast4(), because Clang would
 * load the floats of a step together and then separate them. */
static inline __attribute__((always_inline)) ulb_floats
ulb_load_activation(enum ulb_activation kind, const void *x, size_t even, size_t odd)
{
    const size_t byte = kind == ULB_ACT_F32 ? (even + odd) * sizeof(float) : even * sizeof(uint16_t);
    ulb_vec all = ulb_broadcast4((const uint8_t *)x + byte);
    if (kind != ULB_ACT_F32)
        all = odd ? ulb_and(all, ulb_all32((int32_t)0xFFFF0000)) : ulb_shl32(all, 16);
    return ulb_as_floats(all);
}

#ifdef ULB_DP_512
#define ULB_WEIGHT_ONLY_AND  "vpandd"
#define ULB_WEIGHT_ONLY_MOVE "vmovdqu32"
#else
#define ULB_WEIGHT_ONLY_AND  "vpand"
#define ULB_WEIGHT_ONLY_MOVE "vmovdqu"
#endif
#define ULB_WEIGHT_ONLY_FMA(n)    "vcvtdq2ps %[t], %[t]\n\tvfmadd231ps %[x], %[t], %[s" #n "]\n\t"
#define ULB_WEIGHT_ONLY_MASKED(n) ULB_WEIGHT_ONLY_AND " %[w" #n "], %[mask], %[t]\n\t" ULB_WEIGHT_ONLY_FMA(n)
#define ULB_WEIGHT_ONLY_SHIFTED(n, bits)                                                                     \
    ULB_WEIGHT_ONLY_MOVE " %[w" #n "], %[t]\n\tvpsrld $32-" #bits ", %[t], %[t]\n\t" ULB_WEIGHT_ONLY_FMA(n)
#define ULB_WEIGHT_ONLY_UPPERMOST_4(n) ULB_WEIGHT_ONLY_SHIFTED(n, 4)
#define ULB_WEIGHT_ONLY_UPPERMOST_8(n) ULB_WEIGHT_ONLY_SHIFTED(n, 8)
/* One statement for four vectors: compilers would keep all lanes of a step in registers and sums in
 * memory. */
#define ULB_WEIGHT_ONLY_STATEMENT(part)                                                                      \
    __asm__(                                                                                                 \
        part(0) part(1) part(2) part(3)                                                                      \
        : [s0] "+v"(sums[0]), [s1] "+v"(sums[stride]), [s2] "+v"(sums[2 * stride]),                          \
          [s3] "+v"(sums[3 * stride]), [t] "=&v"(t)                                                          \
        : [w0] "m"(at[0]), [w1] "m"(at[1]), [w2] "m"(at[2]), [w3] "m"(at[3]), [mask] "v"(mask), [x] "v"(x))

enum { ULB_WEIGHT_ONLY_MASKS = 8 /* masks[i]: of the field from bit 4 i on */ };

/* Hides the masks: Clang would load each from memory again at every use, and loads are the limit. */
static inline __attribute__((always_inline)) void ulb_set_weight_only_masks(unsigned bits, ulb_vec *masks)
{
    ULB_UNROLL(8)
    for (unsigned i = 0; i < ULB_WEIGHT_ONLY_MASKS; i++) {
        masks[i] = ulb_all32((int32_t)(((1u << bits) - 1) << 4 * i));
        __asm__("" : "+v"(masks[i]));
    }
}

/* Four sums, `stride` apart, += the field from bit `first` of the lanes of four vectors, times x. */
static inline __attribute__((always_inline)) void ulb_add_weight_only_field(unsigned bits, unsigned first,
                                                                            const ulb_vec *masks,
                                                                            const uint8_t *w, ulb_floats x,
                                                                            ulb_floats *sums, size_t stride)
{
    const uint8_t(*at)[ULB_VEC_BYTES] = (const uint8_t(*)[ULB_VEC_BYTES])w;
    /* The uppermost field uses no mask; it gets the one before it. */
    const ulb_vec mask = masks[(first + bits < 32 ? first : first - bits) / 4];
    ulb_vec t;
    if (first + bits == 32 && bits == 8)
        ULB_WEIGHT_ONLY_STATEMENT(ULB_WEIGHT_ONLY_UPPERMOST_8);
    else if (first + bits == 32)
        ULB_WEIGHT_ONLY_STATEMENT(ULB_WEIGHT_ONLY_UPPERMOST_4);
    else
        ULB_WEIGHT_ONLY_STATEMENT(ULB_WEIGHT_ONLY_MASKED);
}

/* sums[8] += column c of a step times x. Sums of upper nibbles are 16 times too large. */
static inline __attribute__((always_inline)) void ulb_add_weight_only_column(unsigned bits, unsigned c,
                                                                             const ulb_vec *masks,
                                                                             const uint8_t *w, ulb_floats x,
                                                                             ulb_floats *sums)
{
    /* The first or last four vectors of 8-bit codes, or the lower or upper nibbles of 4-bit codes. */
    const size_t stride = bits == 4 ? 2 : 1, next = bits == 4 ? 1 : 4;
    const uint8_t *w2 = bits == 4 ? w : w + 4 * ULB_VEC_BYTES;
    const unsigned first = 8 * c;
    ulb_floats lower = x, upper = x;
    if (first > 0 && first + bits < 32)
        lower = upper = ulb_mul(x, ulb_all_floats(1.0f / (float)(1u << first)));
    if (first + 8 == 32 && bits == 4)
        upper = ulb_mul(x, ulb_all_floats(16));
    ulb_add_weight_only_field(bits, first, masks, w, lower, sums, stride);
    ulb_add_weight_only_field(bits, bits == 4 ? first + 4 : first, masks, w2, upper, sums + next, stride);
}

/* Activations k to k + 3. */
static inline __attribute__((always_inline)) __m128 ulb_load_four(enum ulb_activation kind, const void *x,
                                                                  size_t k)
{
    if (kind == ULB_ACT_F32)
        return _mm_loadu_ps((const float *)x + k);
    __m128i words = _mm_loadl_epi64((const __m128i *)((const uint16_t *)x + k));
    return _mm_castsi128_ps(_mm_slli_epi32(_mm_cvtepu16_epi32(words), 16));
}

static inline float ulb_sum_four(__m128 v)
{
    __m128 two = _mm_add_ps(v, _mm_movehdup_ps(v));
    return _mm_cvtss_f32(_mm_add_ss(two, _mm_movehl_ps(two, two)));
}

/* Slices whose steps alternate. Each slice adds to its own eight sums and its own sum of activations. */
struct ulb_interleave {
    size_t slices;  /* 1 or 2, a constant */
    size_t bytes;   /* from one to the next */
    size_t columns; /* of the activations */
};

#define ULB_ONE_SLICE ((struct ulb_interleave){1, 0, 0})

/* One step of one slice, of upper nibbles 16 times as much. */
static inline __attribute__((always_inline)) void
ulb_add_columns_step(unsigned bits, enum ulb_activation kind, const ulb_vec *masks, const uint8_t *w,
                     const void *x, size_t at, struct ulb_line_prefetch hint, ulb_floats *sums)
{
    ULB_UNROLL(4)
    for (unsigned c = 0; c < 4; c++) {
        ulb_floats one = ulb_load_activation(kind, x, at + c / 2 * 2, c % 2);
        ulb_add_weight_only_column(bits, c, masks, w, one, sums);
        ULB_UNROLL(2)
        for (size_t line = c * ULB_LINE; line < bits * ULB_VEC_BYTES; line += 4 * ULB_LINE)
            ULB_PREFETCH_LINE_AFTER(sums[c], w, line, hint);
    }
}

/* sums[slices][8] += products of some steps of four columns, from activation `at`. Sums of upper nibbles are
 * 16 times too large. x_sums[slices] += these activations. */
static inline __attribute__((always_inline)) void
ulb_add_weight_only_columns(unsigned bits, enum ulb_activation kind, const uint8_t *w,
                            struct ulb_interleave interleave, const void *x, size_t at, size_t steps,
                            struct ulb_line_prefetch hint, ulb_floats *sums, __m128 *x_sums)
{
    ulb_vec masks[ULB_WEIGHT_ONLY_MASKS];
    ulb_set_weight_only_masks(bits, masks);
#pragma GCC unroll 1
    for (size_t s = 0; s < steps; s++, w += bits * ULB_VEC_BYTES, at += 4) {
        ULB_UNROLL(2)
        for (size_t i = 0; i < interleave.slices; i++) {
            const size_t k = at + i * interleave.columns;
            x_sums[i] = _mm_add_ps(x_sums[i], ulb_load_four(kind, x, k));
            ulb_add_columns_step(bits, kind, masks, w + i * interleave.bytes, x, k, hint,
                                 sums + i * ULB_WEIGHT_ONLY_VECTORS);
        }
    }
}

/* Instructions per 32 weights; a step of ULB_WEIGHT_ONLY_VECTORS vectors of rows has 32 vectors of floats. */
#define ULB_WEIGHT_ONLY_UNITS (1024.0 / ULB_VEC_BITS) /* vectors of 32 floats */
#define ULB_WEIGHT_ONLY_COLUMNS_MIX(bits, kind)                                                              \
    .loads = 33 / 32.0 * ULB_WEIGHT_ONLY_UNITS, .broadcasts = ULB_WEIGHT_ONLY_UNITS / 8,                     \
    .prefetches = (bits) / 8.0,                                                                              \
    .logic = (((bits) == 8 ? 24 : 28) + ((kind) == ULB_ACT_F32 ? 0 : 2)) / 32.0 * ULB_WEIGHT_ONLY_UNITS,     \
    .shifts = (((bits) == 8 ? 8 : 4) + ((kind) == ULB_ACT_F32 ? 0 : 3)) / 32.0 * ULB_WEIGHT_ONLY_UNITS,      \
    .widenings = ((kind) == ULB_ACT_F32 ? 0 : 1) / 32.0 * ULB_WEIGHT_ONLY_UNITS,                             \
    .conversions = ULB_WEIGHT_ONLY_UNITS,                                                                    \
    .fmas = (32 + ((bits) == 8 ? 2 : 4)) / 32.0 * ULB_WEIGHT_ONLY_UNITS,                                     \
    .float_adds = ULB_WEIGHT_ONLY_UNITS / 32, .chains = ULB_WEIGHT_ONLY_VECTORS

#endif
