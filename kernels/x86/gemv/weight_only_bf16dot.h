/* 4-bit codes by vdpbf16ps, in the order of kernels/x86/gemv/planes.h. A lane holds four columns of a row, a
 * byte each, and a second row in the upper nibbles.
 *
 * After a shift by 8 c + 4 f the two words of a lane begin with the codes of columns c and c + 2 of row f.
 * vpermw looks them up by their lowest 5 bits, exact in bfloat16. The fifth bit belongs to the next nibble,
 * so the table holds every code twice. A shift, a look-up and a dot product thus serve 32 weights at 512
 * bits. Masks, conversions and FMA would take two of each. Activations come as pairs of columns c and c + 2.
 * vdpbf16ps is two FMA, one after the other, and flushes results below 2^-126 to 0
 * (kernels/formats/bf16/dot.c). */
#ifndef ULB_KERNELS_X86_GEMV_WEIGHT_ONLY_BF16DOT_H
#define ULB_KERNELS_X86_GEMV_WEIGHT_ONLY_BF16DOT_H

#include "kernels/x86/gemv/weight_only.h"

enum { ULB_BF16_PAIRS_OF_STEP = 2 /* of a step of 4 columns */ };

static inline ulb_vec ulb_load_pair_table(void)
{
    static const uint16_t codes[32] = {0x0000, 0x3F80, 0x4000, 0x4040, 0x4080, 0x40A0, 0x40C0, 0x40E0,
                                       0x4100, 0x4110, 0x4120, 0x4130, 0x4140, 0x4150, 0x4160, 0x4170,
                                       0x0000, 0x3F80, 0x4000, 0x4040, 0x4080, 0x40A0, 0x40C0, 0x40E0,
                                       0x4100, 0x4110, 0x4120, 0x4130, 0x4140, 0x4150, 0x4160, 0x4170};
    return ulb_load(codes);
}

/* Codes of pair c, field f, of the rows of a vector of bytes. */
static inline __attribute__((always_inline)) ulb_floats ulb_weight_only_pair(ulb_vec table, const uint8_t *w,
                                                                             unsigned c, unsigned f)
{
    ulb_vec pairs;
    __asm__("vpermw %[table], %[words], %[pairs]"
            : [pairs] "=v"(pairs)
            : [words] "v"(ulb_shr16(ulb_load(w), 8 * c + 4 * f)), [table] "v"(table));
    return ulb_as_floats(pairs);
}

/* Activations k to k + 3, two pairs, to p. */
static inline __attribute__((always_inline)) void ulb_store_pairs(const void *x, size_t k, float *p)
{
    __m128i words = _mm_loadl_epi64((const __m128i *)((const uint16_t *)x + k));
    _mm_storel_epi64((__m128i *)(void *)p, _mm_shufflelo_epi16(words, _MM_SHUFFLE(3, 1, 2, 0)));
}

/* One step of one slice. */
static inline __attribute__((always_inline)) void ulb_add_pairs_step(ulb_vec table, const uint8_t *w,
                                                                     const void *x, size_t at,
                                                                     struct ulb_line_prefetch hint,
                                                                     ulb_floats *sums)
{
    const ulb_vec four = ulb_broadcast8((const uint16_t *)x + at);
    ULB_UNROLL(2)
    for (unsigned c = 0; c < ULB_BF16_PAIRS_OF_STEP; c++) {
        const ulb_floats pair = ulb_as_floats(ulb_look_up(four, ulb_all32(c == 0 ? 0x05040100 : 0x07060302)));
        ULB_UNROLL(8)
        for (unsigned v = 0; v < ULB_WEIGHT_ONLY_VECTORS; v++) {
            ulb_add_pair(&sums[v], ulb_weight_only_pair(table, w + v / 2 * ULB_VEC_BYTES, c, v % 2), pair);
            if (v / 4 == c && v % 2 == 1)
                ULB_PREFETCH_LINE_AFTER(sums[v], w, v / 2 * ULB_LINE, hint);
        }
    }
}

/* sums[slices][8] += products of some steps of four columns, from activation at on; x_sums[slices] += these
 * activations. */
static inline __attribute__((always_inline)) void
ulb_add_weight_only_pairs(const uint8_t *w, struct ulb_interleave interleave, const void *x, size_t at,
                          size_t steps, struct ulb_line_prefetch hint, ulb_floats *sums, __m128 *x_sums)
{
    const ulb_vec table = ulb_load_pair_table();
#pragma GCC unroll 1
    for (size_t s = 0; s < steps; s++, w += 4 * ULB_VEC_BYTES, at += 4) {
        ULB_UNROLL(2)
        for (size_t i = 0; i < interleave.slices; i++) {
            const size_t k = at + i * interleave.columns;
            x_sums[i] = _mm_add_ps(x_sums[i], ulb_load_four(ULB_ACT_BF16, x, k));
            ulb_add_pairs_step(table, w + i * interleave.bytes, x, k, hint,
                               sums + i * ULB_WEIGHT_ONLY_VECTORS);
        }
    }
}

/* Instructions per 32 weights. */
#define ULB_PAIR_UNITS (512.0 / ULB_VEC_BITS) /* vectors of 32 words */
#define ULB_WEIGHT_ONLY_BF16_MIX                                                                             \
    .loads = 5 / 16.0 * ULB_PAIR_UNITS, .broadcasts = ULB_PAIR_UNITS / 16, .prefetches = 0.5,                \
    .shifts = 13 / 16.0 * ULB_PAIR_UNITS, .permutes = ULB_PAIR_UNITS, .shuffles = ULB_PAIR_UNITS / 8,        \
    .widenings = ULB_PAIR_UNITS / 16, .float_adds = ULB_PAIR_UNITS / 16, .dot_products = ULB_PAIR_UNITS,     \
    .vector_bits = ULB_VEC_BITS, .chains = ULB_WEIGHT_ONLY_VECTORS

#endif
