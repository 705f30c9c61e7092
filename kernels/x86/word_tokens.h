/* Several tokens of weights that are bytes, without VNNI: bytes of a vector become words, its even and its
 * odd columns, once for all tokens of a register tile; then vpmaddwd needs neither signs moved nor words
 * widened for each. A piece of columns of a slice stays in L1 with the activations that it meets, packed as
 * words, while the register tiles of a block of tokens pass over it, one after the other; what they come to
 * waits beside them. A group or block with a scale of its own is a piece; pieces come in the order of one
 * token.
 *
 * |w| <= 128, |x| <= 127: |sum| <= 128 * 127 * K < 2^31 up to K = 65,536.
 * Registers: 2 vectors of rows for 4 tokens: 8 accumulators, 4 of words, 2 of activations, a product.
 * Ports: per vector 3 shifts, and for each token 2 vpmaddwd and 2 add: of 4 tokens 4.75 operations on the
 * four of Zen are 1.19 cycles per 32 weights and token, on the three of Golden Cove 1.58.
 *
 * Zen 4, cold, 4096x4096, 2, 4 and 16 tokens against one by one: int8 1.1, 1.4 to 1.5 and 1.4 times as fast,
 * with groups of 32 columns 1.1, 1.5 and 1.1 to 1.25, Q8_0 1.15, 1.4 and 1.25; 1.0 to 1.2 where a neighbour
 * shares the core. IQ4_NL, whose bytes are looked up once for a block of tokens, 4 and 16: 1.05 and 1.2,
 * fewer .8 to 1.0. */
#ifndef ULB_KERNELS_X86_WORD_TOKENS_H
#define ULB_KERNELS_X86_WORD_TOKENS_H

#include "kernels/x86/floats.h"
#include "kernels/x86/streams.h"

#include <string.h>

enum {
    ULB_WORD_TOKENS = 4,  /* of a register tile */
    ULB_WORD_VECTORS = 2, /* of rows */
    ULB_WORD_ROW_VECTORS = 6,
    ULB_WORD_BLOCK = 16,
    ULB_WORD_STEPS_MAX = 32, /* of a piece, each of 4 columns */
    ULB_WORD_STAGED_STEPS = 8,
    ULB_WORD_STEP_BYTES = ULB_WORD_ROW_VECTORS * ULB_VEC_BYTES,
    ULB_WORD_FAR = 16384, /* bytes ahead, in the slice, of what L2 is asked for */
    ULB_WORD_ASKS = 2     /* lines in a step: at least a pass's part of it, with that of scales */
};

/* So many steps at w, and what each pass asks for of each step, from ask on. */
struct ulb_word_piece {
    const uint8_t *w, *ask;
    const uint8_t *bytes; /* of its steps: at w, or taken out of them */
    size_t steps, ask_bytes;
};

/* *result += a piece's sums of vector v of rows, of a token whose activations have the scale. */
typedef void ulb_take_words_fn(const struct ulb_word_piece *piece, size_t v, float x_scale, ulb_vec sums,
                               ulb_vec *result);

/* All constants. */
struct ulb_word_row {
    const struct ulb_layout *layout;
    size_t slices;
    size_t steps, step_bytes; /* of a piece, but for the last of a slice */
    size_t before, behind;    /* bytes of scales before a piece's steps, or behind */
    bool block_scales;        /* of activations, one for each piece; else one for each token, at the end */
    /* Steps of bytes from a piece's at w; NULL: they are such. */
    void (*stage)(const uint8_t *w, uint8_t *bytes);
    ulb_take_words_fn *take;
    /* y of a tile from row m on, of token n. */
    void (*finish)(const struct ulb_gemm *g, size_t m, size_t n, const ulb_vec *results);
};

/* Activations of a piece, of each four columns 0, 2, 1, 3, with their scales, and results so far. */
struct ulb_word_block {
    _Alignas(64) uint8_t bytes[ULB_WORD_STAGED_STEPS * ULB_WORD_STEP_BYTES];
    _Alignas(64) int16_t x[ULB_WORD_BLOCK][ULB_WORD_STEPS_MAX * 4];
    float x_scale[ULB_WORD_BLOCK];
    ulb_vec results[ULB_WORD_BLOCK][ULB_WORD_ROW_VECTORS];
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

/* A piece of vectors of rows from vector on, for so many tokens of the block from t on. */
static inline __attribute__((always_inline)) void ulb_pass_vectors(const struct ulb_word_row *row,
                                                                   const struct ulb_word_piece *piece,
                                                                   size_t vector, size_t t, unsigned tokens,
                                                                   struct ulb_word_block *block)
{
    const uint8_t *w = piece->bytes + vector * ULB_VEC_BYTES, *ask = piece->ask;
    ulb_vec sums[ULB_WORD_TOKENS * ULB_WORD_VECTORS];
    ulb_zero_all(sums, tokens * ULB_WORD_VECTORS);
    for (size_t s = 0; s < piece->steps; s++, w += ULB_WORD_STEP_BYTES, ask += piece->ask_bytes) {
        ulb_vec even[ULB_WORD_VECTORS], odd[ULB_WORD_VECTORS];
        ULB_UNROLL(2)
        for (size_t v = 0; v < ULB_WORD_VECTORS; v++)
            ulb_make_words(w + v * ULB_VEC_BYTES, &even[v], &odd[v]);
        ULB_UNROLL(4)
        for (size_t i = 0; i < tokens; i++)
            ulb_add_word_products(even, odd, block->x[t + i] + 4 * s, sums + i * ULB_WORD_VECTORS);
        ULB_UNROLL(2)
        for (size_t i = 0; i < ULB_WORD_ASKS; i++)
            ulb_ask_l2(ask, i * ULB_LINE);
    }
    ULB_UNROLL(8)
    for (size_t i = 0; i < tokens * ULB_WORD_VECTORS; i++) {
        const size_t of = t + i / ULB_WORD_VECTORS, v = vector + i % ULB_WORD_VECTORS;
        row->take(piece, v, block->x_scale[of], sums[i], &block->results[of][v]);
    }
}

/* A pass over all rows of a piece. Functions, else GCC keeps what the rest needs in registers, and sums in
 * memory. */
typedef void ulb_pass_words_fn(struct ulb_word_piece *piece, size_t t, struct ulb_word_block *block);

#define ULB_WORD_PASS(name, row, tokens)                                                                     \
    static __attribute__((noinline)) void name(struct ulb_word_piece *piece, size_t t,                       \
                                               struct ulb_word_block *block)                                 \
    {                                                                                                        \
        for (size_t v = 0; v < ULB_WORD_ROW_VECTORS; v += ULB_WORD_VECTORS) {                                \
            ulb_pass_vectors(&(row), piece, v, t, tokens, block);                                            \
            piece->ask += piece->steps * piece->ask_bytes;                                                   \
        }                                                                                                    \
    }

/* So many steps of piece i, which begin at column k, of tokens from n on. */
static inline void ulb_pack_words(const struct ulb_word_row *row, const struct ulb_gemm *g, size_t n,
                                  size_t tokens, size_t i, size_t k, size_t steps,
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
        for (size_t c = 4 * s; c < 4 * steps; c++)
            block->x[t][(c & ~(size_t)3) | (c & 1) << 1 | (c >> 1 & 1)] = x[c];
        block->x_scale[t] = g->x_scale[(n + t) * g->x_scale_stride + (row->block_scales ? i : 0)];
    }
}

/* Rows of a tile from row m on, of tokens [n, n + tokens); passes: of 2, 3 and 4. */
static inline __attribute__((always_inline)) void
ulb_run_word_block(const struct ulb_word_row *row, ulb_pass_words_fn *const passes[ULB_WORD_TOKENS - 1],
                   const struct ulb_gemm *g, size_t m, size_t n, size_t tokens)
{
    const size_t rows = ULB_WORD_ROW_VECTORS * ULB_LANES,
                 all = ulb_layout_steps(row->layout, g->k) * (row->layout->tile_k / 4);
    const size_t slice_bytes = ulb_layout_slice_bytes(row->layout, g->m, g->k);
    const size_t piece_bytes = row->steps * row->step_bytes + row->before + row->behind;
    const size_t parts =
        (tokens + ULB_WORD_TOKENS - 1) / ULB_WORD_TOKENS * (ULB_WORD_ROW_VECTORS / ULB_WORD_VECTORS);
    const uint8_t *w = (const uint8_t *)g->w + m / rows * ulb_layout_row_bytes(row->layout, g->k);
    struct ulb_word_block block;
    struct ulb_word_piece piece = {.ask_bytes = (piece_bytes / row->steps + parts - 1) / parts};
    memset(block.results, 0, tokens * sizeof *block.results);
    for (size_t s = 0; s < all; s += row->steps, w += piece_bytes) {
        piece.steps = all - s < row->steps ? all - s : row->steps;
        for (size_t i = 0; i < row->slices; i++) {
            size_t some;
            piece.w = w + i * slice_bytes + row->before;
            piece.ask = piece.w + ULB_WORD_FAR;
            piece.bytes = row->stage ? block.bytes : piece.w;
            if (row->stage)
                row->stage(piece.w, block.bytes);
            ulb_pack_words(row, g, n, tokens, (i * all + s) / row->steps, (i * all + s) * 4, piece.steps,
                           &block);
            for (size_t t = 0; t < tokens; t += some) {
                some = ulb_next_tokens(tokens - t, ULB_WORD_TOKENS);
                passes[some - 2](&piece, t, &block);
            }
        }
    }
    for (size_t t = 0; t < tokens; t++)
        row->finish(g, m, n + t, block.results[t]);
}

/* All rows and tokens. */
static inline __attribute__((always_inline)) void
ulb_run_word_tokens(const struct ulb_word_row *row, ulb_pass_words_fn *const passes[ULB_WORD_TOKENS - 1],
                    const struct ulb_gemm *g)
{
    for (size_t m = g->m0; m < g->m1; m += (size_t)ULB_WORD_ROW_VECTORS * ULB_LANES) {
        size_t some;
        for (size_t n = 0; n < g->n; n += some) {
            some = ulb_next_block(g->n - n, ULB_WORD_BLOCK);
            ulb_run_word_block(row, passes, g, m, n, some);
        }
    }
}

/* A function run_tokens() of a row, for at least two. */
#define ULB_WORD_RUN(row)                                                                                    \
    ULB_WORD_PASS(pass_2, row, 2)                                                                            \
    ULB_WORD_PASS(pass_3, row, 3)                                                                            \
    ULB_WORD_PASS(pass_4, row, 4)                                                                            \
    static __attribute__((noinline)) void run_tokens(const struct ulb_gemm *g)                               \
    {                                                                                                        \
        static ulb_pass_words_fn *const passes[] = {pass_2, pass_3, pass_4};                                 \
        ulb_run_word_tokens(&(row), passes, g);                                                              \
    }

/* Of a register tile: struct ulb_mix. */
#define ULB_WORD_TILE_MIX                                                                                    \
    .loads = 1, .broadcasts = 2.0 * ULB_WORD_TOKENS / ULB_WORD_VECTORS, .prefetches = 0.5, .shifts = 3,      \
    .madds = 2 * ULB_WORD_TOKENS, .adds = 2 * ULB_WORD_TOKENS, .vector_bits = ULB_VEC_BITS

#endif
