/* A register tile for AVX2 alone: two vectors of rows, codes that are signed bytes, and four tokens. The even
 * and odd columns of a vector of bytes become words once for all tokens. vpmaddwd then needs no sign
 * operation and no widening for each token.
 *
 * `|w| <= 128`, `|x| <= 127`: `|sum| <= 128 * 127 * K < 2^31` up to `K = 65,536`.
 * Registers: eight sums, four vectors of words, two of activations, a product. Ports: each vector takes three
 * shifts. Each of its tokens takes two vpmaddwd and two additions. */
#ifndef ULB_KERNELS_X86_GEMM_TILE_S16_H
#define ULB_KERNELS_X86_GEMM_TILE_S16_H

#include "kernels/microkernel.h"
#include "kernels/x86/simd/prefetch.h"
#include "kernels/x86/simd/vec.h"

enum {
    ULB_S16_TOKENS = 4,
    ULB_S16_VECTORS = 2,
    ULB_S16_COLUMNS = 128 /* from a token's activations to the next one's */
};

/* Steps of four columns from here, and the lines that each of them prefetches into L2. */
struct ulb_s16_steps {
    const uint8_t *w;
    size_t step_bytes;
    const int16_t *x;
    const uint8_t *ask;
    size_t ask_bytes;
};

/* The even columns of 8 rows and the odd ones, as words. */
static inline __attribute__((always_inline)) void ulb_make_s16(const uint8_t *w, ulb_vec *even, ulb_vec *odd)
{
    const ulb_vec bytes = ulb_load(w);
    *even = _mm256_srai_epi16(_mm256_slli_epi16(bytes, 8), 8);
    *odd = _mm256_srai_epi16(bytes, 8);
}

/* sums[2] += two vectors of words times four activations. One statement, so that sums stay in registers. */
static inline __attribute__((always_inline)) void
ulb_add_s16_products(const ulb_vec *even, const ulb_vec *odd, const int16_t *x4, ulb_vec *sums)
{
    ulb_vec x0, x1, product;
    __asm__(
        "vpbroadcastd %[at0], %[x0]\n\tvpbroadcastd %[at1], %[x1]\n\t"
        "vpmaddwd %[x0], %[even0], %[product]\n\tvpaddd %[product], %[sum0], %[sum0]\n\t"
        "vpmaddwd %[x0], %[even1], %[x0]\n\tvpaddd %[x0], %[sum1], %[sum1]\n\t"
        "vpmaddwd %[x1], %[odd0], %[product]\n\tvpaddd %[product], %[sum0], %[sum0]\n\t"
        "vpmaddwd %[x1], %[odd1], %[x1]\n\tvpaddd %[x1], %[sum1], %[sum1]"
        : [sum0] "+x"(sums[0]), [sum1] "+x"(sums[1]), [x0] "=&x"(x0), [x1] "=&x"(x1), [product] "=&x"(product)
        : [even0] "x"(even[0]), [even1] "x"(even[1]), [odd0] "x"(odd[0]), [odd1] "x"(odd[1]),
          [at0] "m"(*(const int16_t(*)[2])x4), [at1] "m"(*(const int16_t(*)[2])(x4 + 2)));
}

/* sums[tokens][2] += products of some steps. Each step prefetches `lines` lines, a constant. */
static inline __attribute__((always_inline)) void ulb_add_s16_steps(const struct ulb_s16_steps *from,
                                                                    size_t steps, size_t lines,
                                                                    unsigned tokens, ulb_vec *sums)
{
    const uint8_t *w = from->w, *ask = from->ask;
    const int16_t *x = from->x;
    /* Keeps one pointer: Clang would keep one address register for every two activations. */
    __asm__("" : "+r"(x));
    for (size_t s = 0; s < steps; s++, w += from->step_bytes, ask += from->ask_bytes) {
        ulb_vec even[ULB_S16_VECTORS], odd[ULB_S16_VECTORS];
        ULB_UNROLL(2)
        for (size_t v = 0; v < ULB_S16_VECTORS; v++)
            ulb_make_s16(w + v * ULB_VEC_BYTES, &even[v], &odd[v]);
        ULB_UNROLL(4)
        for (unsigned t = 0; t < tokens; t++)
            ulb_add_s16_products(even, odd, x + t * ULB_S16_COLUMNS + 4 * s, sums + t * ULB_S16_VECTORS);
        ULB_UNROLL(8)
        for (size_t line = 0; line < lines; line++)
            ulb_prefetch_l2(ask, line * ULB_LINE);
    }
}

/* Packs activations x[4 * steps] as words, columns 0, 2, 1, 3 of each four. */
static inline void ulb_pack_s16(const int8_t *x, size_t steps, int16_t *words)
{
    size_t s = 0;
    for (; s + 4 <= steps; s += 4) {
        const ulb_vec four =
            _mm256_cvtepi8_epi16(_mm_loadu_si128((const __m128i *)(const void *)(x + 4 * s)));
        ulb_store(words + 4 * s, _mm256_shufflehi_epi16(_mm256_shufflelo_epi16(four, 0xD8), 0xD8));
    }
    for (size_t c = 4 * s; c < 4 * steps; c++)
        words[(c & ~(size_t)3) | (c & 1) << 1 | (c >> 1 & 1)] = x[c];
}

/* Instructions of the tile: struct ulb_mix. */
#define ULB_S16_TILE_MIX                                                                                     \
    .loads = 1, .broadcasts = 2.0 * ULB_S16_TOKENS / ULB_S16_VECTORS, .prefetches = 0.5, .shifts = 3,        \
    .madds = 2 * ULB_S16_TOKENS, .adds = 2 * ULB_S16_TOKENS, .vector_bits = ULB_VEC_BITS

#endif
