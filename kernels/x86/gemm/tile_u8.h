/* A register tile for AVX2 alone: two vectors of rows, codes that are unsigned bytes, and four tokens.
 * vpmaddubsw adds products to 16-bit sums. vpmaddwd widens them to 32 bits whenever they are full
 * (ULB_S16_STEPS(), kernels/x86/simd/dot.h).
 *
 * Registers: eight sums, two vectors of codes, activations, a product. If 16-bit sums hold only one or two
 * steps, they are the products, and the eight sums are 32-bit sums. With the codes of two steps and four
 * products all 16 registers are in use. */
#ifndef ULB_KERNELS_X86_GEMM_TILE_U8_H
#define ULB_KERNELS_X86_GEMM_TILE_U8_H

#include "kernels/microkernel.h"
#include "kernels/x86/simd/dot.h"
#include "kernels/x86/simd/prefetch.h"

enum { ULB_BYTE_TOKENS = 4, ULB_BYTE_VECTORS = 2, ULB_BYTE_SUMS = ULB_BYTE_TOKENS * ULB_BYTE_VECTORS };

/* A constant vector of equal words. */
#define ULB_WORDS4(n) ((long long)(0x0001000100010001ULL * (n)))
#define ULB_WORDS(n)                                                                                         \
    {                                                                                                        \
        ULB_WORDS4(n), ULB_WORDS4(n), ULB_WORDS4(n), ULB_WORDS4(n)                                           \
    }

/* Steps of four columns. Each step prefetches the line at `ask` into L2. If near is not 0, it also prefetches
 * the line at ask - near into L1. */
struct ulb_byte_steps {
    const uint8_t *w;
    size_t step_bytes;
    const int8_t *x;
    size_t x_stride; /* from one token to the next */
    const uint8_t *ask;
    size_t ask_bytes, l1_distance;
    bool asked; /* prefetched before: not here. A constant */
};

static inline __attribute__((always_inline)) void ulb_next_byte_step(struct ulb_byte_steps *at)
{
    if (!at->asked)
        ulb_prefetch_l2(at->ask, 0);
    if (at->l1_distance)
        __builtin_prefetch(at->ask - at->l1_distance);
    at->w += at->step_bytes;
    at->x += 4;
    at->ask += at->ask_bytes;
}

#define ULB_BYTE_FOUR(x) "m"(*(const int8_t(*)[4])(x))

/* words[vectors] += products of a step's codes and a token's activations at x4; first: = products. One
 * statement, as the next: so that sums stay in registers. */
static inline __attribute__((always_inline)) void
ulb_add_byte_products(unsigned vectors, bool first, const ulb_vec *codes, const int8_t *x4, ulb_vec *words)
{
    ulb_vec x, product;
    if (vectors == 1 && first)
        __asm__("vpbroadcastd %[x4], %[x]\n\tvpmaddubsw %[x], %[code], %[sum]"
                : [sum] "=x"(words[0]), [x] "=&x"(x)
                : [code] "x"(codes[0]), [x4] ULB_BYTE_FOUR(x4));
    else if (vectors == 1)
        ulb_dot(words, codes[0], ulb_broadcast4(x4));
    else if (first)
        __asm__("vpbroadcastd %[x4], %[x]\n\t"
                "vpmaddubsw %[x], %[code0], %[sum0]\n\tvpmaddubsw %[x], %[code1], %[sum1]"
                : [sum0] "=&x"(words[0]), [sum1] "=x"(words[1]), [x] "=&x"(x)
                : [code0] "x"(codes[0]), [code1] "x"(codes[1]), [x4] ULB_BYTE_FOUR(x4));
    else
        __asm__("vpbroadcastd %[x4], %[x]\n\t"
                "vpmaddubsw %[x], %[code0], %[product]\n\tvpaddw %[product], %[sum0], %[sum0]\n\t"
                "vpmaddubsw %[x], %[code1], %[x]\n\tvpaddw %[x], %[sum1], %[sum1]"
                : [sum0] "+x"(words[0]), [sum1] "+x"(words[1]), [x] "=&x"(x), [product] "=&x"(product)
                : [code0] "x"(codes[0]), [code1] "x"(codes[1]), [x4] ULB_BYTE_FOUR(x4));
}

/* sums[2] += products of one step, or of two, [steps][2] codes, times scales. */
static inline __attribute__((always_inline)) void ulb_add_wide_products(unsigned steps, const ulb_vec *codes,
                                                                        const int8_t *x,
                                                                        const ulb_vec *scales, ulb_vec *sums)
{
    ulb_vec x0, x1, first, second;
    if (steps == 1)
        __asm__("vpbroadcastd %[at0], %[x0]\n\t"
                "vpmaddubsw %[x0], %[code0], %[first]\n\tvpmaddubsw %[x0], %[code1], %[x0]\n\t"
                "vpmaddwd %[scale0], %[first], %[first]\n\tvpaddd %[first], %[sum0], %[sum0]\n\t"
                "vpmaddwd %[scale1], %[x0], %[x0]\n\tvpaddd %[x0], %[sum1], %[sum1]"
                : [sum0] "+x"(sums[0]), [sum1] "+x"(sums[1]), [x0] "=&x"(x0), [first] "=&x"(first)
                : [code0] "x"(codes[0]), [code1] "x"(codes[1]), [at0] ULB_BYTE_FOUR(x),
                  [scale0] "m"(scales[0]), [scale1] "m"(scales[1]));
    else
        __asm__("vpbroadcastd %[at0], %[x0]\n\tvpbroadcastd %[at1], %[x1]\n\t"
                "vpmaddubsw %[x0], %[code0], %[first]\n\tvpmaddubsw %[x0], %[code1], %[x0]\n\t"
                "vpmaddubsw %[x1], %[code2], %[second]\n\tvpmaddubsw %[x1], %[code3], %[x1]\n\t"
                "vpaddw %[second], %[first], %[first]\n\tvpaddw %[x1], %[x0], %[x0]\n\t"
                "vpmaddwd %[scale0], %[first], %[first]\n\tvpaddd %[first], %[sum0], %[sum0]\n\t"
                "vpmaddwd %[scale1], %[x0], %[x0]\n\tvpaddd %[x0], %[sum1], %[sum1]"
                : [sum0] "+x"(sums[0]), [sum1] "+x"(sums[1]), [x0] "=&x"(x0), [x1] "=&x"(x1),
                  [first] "=&x"(first), [second] "=&x"(second)
                : [code0] "x"(codes[0]), [code1] "x"(codes[1]), [code2] "x"(codes[2]), [code3] "x"(codes[3]),
                  [at0] ULB_BYTE_FOUR(x), [at1] ULB_BYTE_FOUR(x + 4), [scale0] "m"(scales[0]),
                  [scale1] "m"(scales[1]));
}

/* sums[tokens][2] += one step or two, times scales. */
static inline __attribute__((always_inline)) void ulb_add_wide_steps(struct ulb_byte_steps *at,
                                                                     unsigned tokens, unsigned steps,
                                                                     const ulb_vec *scales, ulb_vec *sums)
{
    ulb_vec codes[2 * ULB_BYTE_VECTORS];
    const int8_t *x = at->x;
    ULB_UNROLL(2)
    for (unsigned s = 0; s < steps; s++) {
        codes[2 * s] = ulb_load(at->w);
        codes[2 * s + 1] = ulb_load(at->w + ULB_VEC_BYTES);
        ulb_next_byte_step(at);
    }
    ULB_UNROLL(4)
    for (unsigned t = 0; t < tokens; t++)
        ulb_add_wide_products(steps, codes, x + t * at->x_stride, scales, sums + 2 * t);
}

/* words[tokens][vectors] += a step; first: = one. */
static inline __attribute__((always_inline)) void
ulb_add_byte_step(struct ulb_byte_steps *at, bool first, unsigned vectors, unsigned tokens, ulb_vec *words)
{
    ulb_vec codes[ULB_BYTE_VECTORS];
    ULB_UNROLL(2)
    for (unsigned v = 0; v < vectors; v++)
        codes[v] = ulb_load(at->w + v * ULB_VEC_BYTES);
    ULB_UNROLL(4)
    for (unsigned t = 0; t < tokens; t++)
        ulb_add_byte_products(vectors, first, codes, at->x + t * at->x_stride, words + t * vectors);
    ulb_next_byte_step(at);
}

/* *sum += words as 32 bits, in memory. Compilers would store a sum that they treat as a register twice. */
static inline __attribute__((always_inline)) void ulb_widen_s16_in_memory(ulb_vec *sum, ulb_vec words,
                                                                          const ulb_vec *scale)
{
    __asm__("vpmaddwd %[scale], %[words], %[words]\n\t"
            "vpaddd %[sum], %[words], %[words]\n\tvmovdqa %[words], %[sum]"
            : [sum] "+m"(*sum), [words] "+x"(words)
            : [scale] "m"(*scale));
}

/* sums[tokens][vectors] += the products of as many steps as 16-bit sums hold, a constant, times scales, one
 * for each vector; NULL: there are none. */
static inline __attribute__((always_inline)) void ulb_add_bytes(struct ulb_byte_steps *at, unsigned vectors,
                                                                unsigned tokens, size_t steps,
                                                                const ulb_vec *scales, ulb_vec *sums)
{
    static const ulb_vec ones[2] = {ULB_WORDS(1), ULB_WORDS(1)};
    ulb_vec words[ULB_BYTE_SUMS];
    if (vectors == 2 && steps <= 2) {
        ulb_add_wide_steps(at, tokens, (unsigned)steps, scales ? scales : ones, sums);
        return;
    }
    ulb_add_byte_step(at, true, vectors, tokens, words);
    for (size_t s = 1; s < steps; s++)
        ulb_add_byte_step(at, false, vectors, tokens, words);
    ULB_UNROLL(8)
    for (unsigned i = 0; i < tokens * vectors; i++) {
        if (scales)
            ulb_widen_s16_in_memory(&sums[i], words[i], &scales[i % vectors]);
        else
            sums[i] = ulb_add32(sums[i], ulb_widen_s16(words[i]));
    }
}

/* Instructions of the tile: struct ulb_mix. steps: that its 16-bit sums hold. */
#define ULB_BYTE_TILE_MIX(steps)                                                                             \
    .loads = 1, .broadcasts = (double)ULB_BYTE_TOKENS / ULB_BYTE_VECTORS, .prefetches = 0.5,                 \
    .maddubs = ULB_BYTE_TOKENS, .adds = ULB_BYTE_TOKENS, .madds = (double)ULB_BYTE_TOKENS / (steps),         \
    .vector_bits = ULB_VEC_BITS

#endif
