/* Several tokens of int8 without VNNI: the bytes of a vector become words, its even and its odd columns, once
 * for all tokens of a register tile; then vpmaddwd needs neither signs moved nor words widened for each. A
 * piece of columns of a slice stays in L1 with the activations that it meets, packed as words, while the
 * register tiles of a block of tokens pass over it, one after the other; what they come to waits beside them.
 * With groups of columns a piece is a group, and pieces come in the order of one token.
 *
 * |w| <= 128, |x| <= 127: |sum| <= 128 * 127 * K < 2^31 up to K = 65,536.
 * Registers: 2 vectors of rows for 4 tokens: 8 accumulators, 4 of words, 2 of activations, a product.
 * Ports: per vector 3 shifts, and for each token 2 vpmaddwd and 2 add: of 4 tokens 4.75 operations on the
 * four of Zen are 1.19 cycles per 32 weights and token, on the three of Golden Cove 1.58.
 *
 * Zen 4, cold, 4096x4096, 2, 4 and 16 tokens against one by one: 1.05, 1.5 and 1.4 times as fast, 1.25
 * with groups of 32 columns; 1.0 to 1.2 where a neighbour shares the core. */
#ifndef ULB_KERNELS_INT8_WORD_TOKENS_H
#define ULB_KERNELS_INT8_WORD_TOKENS_H

#ifdef ULB_GROUP
#include "kernels/x86/groups.h"
#else
#include "kernels/x86/streams.h"
#endif

#include <string.h>

enum {
    ULB_WORD_TOKENS = 4,  /* of a register tile */
    ULB_WORD_VECTORS = 2, /* of rows */
    ULB_WORD_ROW_VECTORS = 6,
    ULB_WORD_BLOCK = 16,
    ULB_WORD_STEP_BYTES = ULB_WORD_ROW_VECTORS * ULB_VEC_BYTES,
    ULB_WORD_FAR = 16384, /* bytes ahead, in the slice, of what L2 is asked for */
    ULB_WORD_ASKS = 2,    /* lines in a step: at least a pass's part of it, with that of scales */
#ifdef ULB_GROUP
    ULB_WORD_STEPS = ULB_GROUP / 4, /* of a piece, at most */
    ULB_WORD_SCALES_BYTES = ULB_WORD_STEP_BYTES
#else
    ULB_WORD_STEPS = 32,
    ULB_WORD_SCALES_BYTES = 0
#endif
};

#ifdef ULB_GROUP
typedef ulb_floats ulb_word_result;
#else
typedef ulb_vec ulb_word_result;
#endif

/* Activations of a piece, of each four columns 0, 2, 1, 3, and results so far. */
struct ulb_word_block {
    _Alignas(64) int16_t x[ULB_WORD_BLOCK][ULB_WORD_STEPS * 4];
    ulb_word_result results[ULB_WORD_BLOCK][ULB_WORD_ROW_VECTORS];
};

/* So many steps at w, and what each pass asks for of each step, from ask on. */
struct ulb_word_piece {
    const uint8_t *w, *ask;
    size_t steps, ask_bytes;
};

/* The even columns of 8 rows and the odd ones, as words. */
static inline __attribute__((always_inline)) void ulb_make_words(const uint8_t *w, ulb_vec *even,
                                                                 ulb_vec *odd)
{
    const ulb_vec bytes = ulb_load(w);
    *even = _mm256_srai_epi16(_mm256_slli_epi16(bytes, 8), 8);
    *odd = _mm256_srai_epi16(bytes, 8);
}

/* sums[2] += two vectors of words times four activations. One statement, so that sums stay in registers. */
static inline __attribute__((always_inline)) void
ulb_add_word_products(const ulb_vec *even, const ulb_vec *odd, const int16_t *x4, ulb_vec *sums)
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

/* sums[tokens][2] of a piece, vectors of rows from vector on, tokens of the block from t on. */
static inline __attribute__((always_inline)) void ulb_sum_words(const struct ulb_word_piece *piece,
                                                                size_t vector,
                                                                const int16_t (*x)[ULB_WORD_STEPS * 4],
                                                                unsigned tokens, ulb_vec *sums)
{
    const uint8_t *w = piece->w + vector * ULB_VEC_BYTES, *ask = piece->ask;
    ulb_zero_all(sums, tokens * ULB_WORD_VECTORS);
    for (size_t s = 0; s < piece->steps; s++, w += ULB_WORD_STEP_BYTES, ask += piece->ask_bytes) {
        ulb_vec even[ULB_WORD_VECTORS], odd[ULB_WORD_VECTORS];
        ULB_UNROLL(2)
        for (size_t v = 0; v < ULB_WORD_VECTORS; v++)
            ulb_make_words(w + v * ULB_VEC_BYTES, &even[v], &odd[v]);
        ULB_UNROLL(4)
        for (size_t i = 0; i < tokens; i++)
            ulb_add_word_products(even, odd, x[i] + 4 * s, sums + i * ULB_WORD_VECTORS);
        ULB_UNROLL(2)
        for (size_t i = 0; i < ULB_WORD_ASKS; i++)
            ulb_ask_l2(ask, i * ULB_LINE);
    }
}

static inline __attribute__((always_inline)) void
ulb_take_words(const struct ulb_word_piece *piece, size_t vector, unsigned tokens, const ulb_vec *sums,
               ulb_word_result (*results)[ULB_WORD_ROW_VECTORS])
{
    ULB_UNROLL(4)
    for (size_t i = 0; i < tokens; i++) {
        ULB_UNROLL(2)
        for (size_t v = 0; v < ULB_WORD_VECTORS; v++) {
            const ulb_vec sum = sums[i * ULB_WORD_VECTORS + v];
            ulb_word_result *result = &results[i][vector + v];
#ifdef ULB_GROUP
            const uint8_t *scales = piece->w - ULB_WORD_SCALES_BYTES + (vector + v) * ULB_VEC_BYTES;
            ulb_add_scaled(result, sum, (const float *)(const void *)scales);
#else
            (void)piece;
            *result = ulb_add32(*result, sum);
#endif
        }
    }
}

/* All rows of a piece, for so many tokens of the block from t on. Functions, else GCC keeps what the rest
 * needs in registers, and sums in memory. */
#define ULB_PASS_WORDS(tokens)                                                                               \
    static __attribute__((noinline)) void ulb_pass_words_##tokens(struct ulb_word_piece *piece, size_t t,    \
                                                                  struct ulb_word_block *block)              \
    {                                                                                                        \
        for (size_t v = 0; v < ULB_WORD_ROW_VECTORS; v += ULB_WORD_VECTORS) {                                \
            ulb_vec sums[(tokens)*ULB_WORD_VECTORS];                                                         \
            ulb_sum_words(piece, v, (const int16_t(*)[ULB_WORD_STEPS * 4]) block->x + t, tokens, sums);      \
            ulb_take_words(piece, v, tokens, sums, block->results + t);                                      \
            piece->ask += piece->steps * piece->ask_bytes;                                                   \
        }                                                                                                    \
    }
ULB_PASS_WORDS(2)
ULB_PASS_WORDS(3)
ULB_PASS_WORDS(4)

static inline void ulb_pass_word_piece(struct ulb_word_piece *piece, size_t tokens,
                                       struct ulb_word_block *block)
{
    size_t some;
    for (size_t t = 0; t < tokens; t += some) {
        some = ulb_next_tokens(tokens - t, ULB_WORD_TOKENS);
        if (some == 4)
            ulb_pass_words_4(piece, t, block);
        else if (some == 3)
            ulb_pass_words_3(piece, t, block);
        else
            ulb_pass_words_2(piece, t, block);
    }
}

/* So many steps from column k on, of tokens from n on. */
static inline void ulb_pack_words(const struct ulb_gemm *g, size_t n, size_t tokens, size_t k, size_t steps,
                                  struct ulb_word_block *block)
{
    for (size_t t = 0; t < tokens; t++) {
        const int8_t *x = (const int8_t *)g->x + (n + t) * g->x_stride + k;
        size_t s = 0;
        for (; s + 4 <= steps; s += 4) {
            const ulb_vec words =
                _mm256_cvtepi8_epi16(_mm_loadu_si128((const __m128i *)(const void *)(x + 4 * s)));
            ulb_store(block->x[t] + 4 * s, _mm256_shufflehi_epi16(_mm256_shufflelo_epi16(words, 0xD8), 0xD8));
        }
        for (size_t i = 4 * s; i < 4 * steps; i++)
            block->x[t][(i & ~(size_t)3) | (i & 1) << 1 | (i >> 1 & 1)] = x[i];
    }
}

/* Rows of a tile from row m on, of tokens [n, n + tokens). */
static inline __attribute__((always_inline)) void ulb_run_word_block(const struct ulb_gemm *g,
                                                                     const struct ulb_layout *layout,
                                                                     size_t slices, size_t m, size_t n,
                                                                     size_t tokens)
{
    const size_t rows = ULB_WORD_ROW_VECTORS * ULB_LANES, all = ulb_layout_steps(layout, g->k);
    const size_t slice_bytes = ulb_layout_slice_bytes(layout, g->m, g->k);
    const size_t passes =
        (tokens + ULB_WORD_TOKENS - 1) / ULB_WORD_TOKENS * (ULB_WORD_ROW_VECTORS / ULB_WORD_VECTORS);
    const size_t piece_bytes = ULB_WORD_STEPS * ULB_WORD_STEP_BYTES + ULB_WORD_SCALES_BYTES;
    const uint8_t *w = (const uint8_t *)g->w + m / rows * ulb_layout_row_bytes(layout, g->k);
    struct ulb_word_block block;
    struct ulb_word_piece piece = {.ask_bytes = (piece_bytes / ULB_WORD_STEPS + passes - 1) / passes};
    memset(block.results, 0, tokens * sizeof *block.results);
    for (size_t s = 0; s < all; s += ULB_WORD_STEPS, w += piece_bytes) {
        piece.steps = all - s < ULB_WORD_STEPS ? all - s : ULB_WORD_STEPS;
        for (size_t i = 0; i < slices; i++) {
            piece.w = w + i * slice_bytes + ULB_WORD_SCALES_BYTES;
            piece.ask = piece.w + ULB_WORD_FAR;
            ulb_pack_words(g, n, tokens, (i * all + s) * 4, piece.steps, &block);
            ulb_pass_word_piece(&piece, tokens, &block);
        }
    }
    for (size_t t = 0; t < tokens; t++) {
#ifdef ULB_GROUP
        const float *results = (const float *)(const void *)block.results[t];
        for (size_t i = 0; i < ulb_rows_left(g, m, rows); i++)
            g->y[(n + t) * g->y_stride + m + i] = results[i] * g->x_scale[n + t];
#else
        ulb_finish_tile(g, ulb_row_scales(g, layout), m, rows, n + t,
                        (const int32_t *)(const void *)block.results[t], 0);
#endif
    }
}

/* All rows, of tokens in blocks that differ by one at most. */
static __attribute__((noinline)) void ulb_run_word_tokens(const struct ulb_gemm *g,
                                                          const struct ulb_layout *layout, size_t slices)
{
    const size_t blocks = (g->n + ULB_WORD_BLOCK - 1) / ULB_WORD_BLOCK;
    for (size_t m = g->m0; m < g->m1; m += (size_t)ULB_WORD_ROW_VECTORS * ULB_LANES) {
        for (size_t i = 0; i < blocks; i++)
            ulb_run_word_block(g, layout, slices, m, i * g->n / blocks,
                               (i + 1) * g->n / blocks - i * g->n / blocks);
    }
}

#endif
