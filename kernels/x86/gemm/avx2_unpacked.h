/* Several tokens with AVX2 alone, of rows whose K is read in pieces of so many columns of a slice: a piece
 * stays in L1, its codes as bytes, with the activations that it meets, while the register tiles of a block of
 * tokens pass over it, one after the other; what they come to waits beside them. Bytes are signed
 * (kernels/x86/gemm/tile_s16.h) or not (kernels/x86/gemm/tile_u8.h). A group with a scale of its own is a
 * piece; pieces come in the order of one token.
 *
 * Zen 4, cold, 4096x4096, 2, 4 and 16 tokens against one by one: int8 1.1, 1.4 to 1.5 and 1.4 times as fast,
 * with groups of 32 columns 1.1, 1.5 and 1.1 to 1.25; 1.0 to 1.2 where a neighbour shares the core; 4 and 16
 * tokens: int3 1.3 and 1.55, two 1.05; tern1.6 1.3 and 1.75, two .85; int4 with groups of 128, 64 and 32
 * columns 1.15, 1.05, 1.0 and 1.25, 1.1, 1.0, two 1.1 to 1.2. Groups of int2 .95 to 1.05, of 32 columns .8:
 * one by one. Signed bytes staged as words .8 to 1.0. */
#ifndef ULB_KERNELS_X86_GEMM_AVX2_UNPACKED_H
#define ULB_KERNELS_X86_GEMM_AVX2_UNPACKED_H

#include "kernels/group_sums.h"
#include "kernels/x86/gemm/tile_u8.h"
#include "kernels/x86/simd/vec_float.h"
#include "kernels/x86/gemv/k_slices.h"
#include "kernels/x86/gemm/tile_s16.h"

#include <string.h>

enum {
    ULB_PIECE_TOKENS = 4,  /* of both register tiles */
    ULB_PIECE_VECTORS = 2, /* of rows */
    ULB_PIECE_ROW_VECTORS = 8,
    ULB_PIECE_BLOCK = 64, /* tokens: with 16 of them 64 of tern1.6 take 15 % more, of others 1 to 5 (Zen 5) */
    ULB_PIECE_STEPS_MAX = 32, /* each of 4 columns */
    ULB_PIECE_FAR = 16384,    /* bytes ahead, in the slice, of what L2 is asked for */
    ULB_PIECE_ASKS = 2 /* lines in a step of signed bytes: at least a pass's part of it and of scales */
};

/* So many steps at w, and what each pass asks for of each step, from ask on. */
struct ulb_piece {
    const uint8_t *w, *ask;
    const uint8_t *bytes; /* of its steps: at w, or taken out of them */
    size_t steps, ask_bytes;
};

/* *result += a piece's sums of vector v of rows. */
typedef void ulb_take_piece_fn(const struct ulb_piece *piece, size_t v, ulb_vec sums, ulb_vec *result);

/* All constants. */
struct ulb_piece_row {
    const struct ulb_layout *layout;
    size_t slices, vectors;   /* of rows in a tile */
    size_t steps, step_bytes; /* of a piece, but for the last of a slice */
    size_t before;            /* bytes of scales before a piece's steps */
    size_t full;              /* steps that 16-bit sums of unsigned bytes hold; 0: bytes are signed */
    int32_t zero_point;       /* of the sums of pieces with scales */
    /* A step's bytes, [vectors], from w; NULL: they are such. */
    void (*stage)(const uint8_t *w, uint8_t *bytes);
    ulb_take_piece_fn *take;
    /* y of a tile from row m on, of token n. */
    void (*finish)(const struct ulb_gemm *g, size_t m, size_t n, const ulb_vec *results);
};

/* Activations of a piece, of the first token on, and for signed bytes packed as words, of each four columns
 * 0, 2, 1, 3; what sums have too much, and results so far. */
struct ulb_piece_block {
    _Alignas(64) uint8_t bytes[ULB_PIECE_STEPS_MAX * ULB_PIECE_ROW_VECTORS * ULB_VEC_BYTES];
    _Alignas(64) int16_t words[ULB_PIECE_BLOCK][ULB_WORD_COLUMNS];
    const int8_t *x;
    size_t x_stride;
    int32_t lacking[ULB_PIECE_BLOCK];
    ulb_vec results[ULB_PIECE_BLOCK][ULB_PIECE_ROW_VECTORS];
};

/* Those with scales are whole. */
static inline __attribute__((always_inline)) size_t ulb_piece_steps(const struct ulb_piece_row *row,
                                                                    const struct ulb_piece *piece)
{
    return row->before ? row->steps : piece->steps;
}

/* sums[tokens][2] of signed bytes of vectors of rows from vector on, for tokens of the block from t on. */
static inline __attribute__((always_inline)) void
ulb_sum_signed_piece(const struct ulb_piece_row *row, const struct ulb_piece *piece, size_t vector, size_t t,
                     unsigned tokens, const struct ulb_piece_block *block, ulb_vec *sums)
{
    const struct ulb_word_steps from = {.w = piece->bytes + vector * ULB_VEC_BYTES,
                                        .step_bytes = row->vectors * ULB_VEC_BYTES,
                                        .x = block->words[t],
                                        .ask = piece->ask,
                                        .ask_bytes = piece->ask_bytes};
    ulb_add_word_steps(&from, ulb_piece_steps(row, piece), ULB_PIECE_ASKS, tokens, sums);
}

/* sums[tokens][vectors] of unsigned ones. */
static inline __attribute__((always_inline)) void
ulb_sum_unsigned_piece(const struct ulb_piece_row *row, const struct ulb_piece *piece, size_t vector,
                       unsigned vectors, size_t t, unsigned tokens, const struct ulb_piece_block *block,
                       ulb_vec *sums)
{
    const size_t steps = ulb_piece_steps(row, piece);
    size_t s = 0;
    struct ulb_byte_steps at = {.w = piece->bytes + vector * ULB_VEC_BYTES,
                                .step_bytes = row->vectors * ULB_VEC_BYTES,
                                .x = block->x + t * block->x_stride,
                                .x_stride = block->x_stride,
                                .ask = piece->ask,
                                .ask_bytes = piece->ask_bytes};
    /* Else Clang keeps an address for each four activations. */
    __asm__("" : "+r"(at.x));
    for (; s + row->full <= steps; s += row->full)
        ulb_add_bytes(&at, vectors, tokens, row->full, NULL, sums);
    for (; s < steps; s++)
        ulb_add_bytes(&at, vectors, tokens, 1, NULL, sums);
}

/* A piece of so many vectors of rows from vector on. */
static inline __attribute__((always_inline)) void
ulb_pass_vectors(const struct ulb_piece_row *row, const struct ulb_piece *piece, size_t vector,
                 unsigned vectors, size_t t, unsigned tokens, struct ulb_piece_block *block)
{
    ulb_vec sums[ULB_PIECE_TOKENS * ULB_PIECE_VECTORS];
    ulb_zero_all(sums, tokens * vectors);
    if (row->full)
        ulb_sum_unsigned_piece(row, piece, vector, vectors, t, tokens, block, sums);
    else
        ulb_sum_signed_piece(row, piece, vector, t, tokens, block, sums);
    ULB_UNROLL(8)
    for (size_t i = 0; i < tokens * vectors; i++) {
        const size_t of = t + i / vectors, v = vector + i % vectors;
        if (row->zero_point)
            sums[i] = ulb_sub32(sums[i], ulb_all32(block->lacking[of]));
        row->take(piece, v, sums[i], &block->results[of][v]);
    }
}

/* A pass over all rows of a piece. Functions, else GCC keeps what the rest needs in registers, and sums in
 * memory. */
typedef void ulb_pass_piece_fn(struct ulb_piece *piece, size_t t, struct ulb_piece_block *block);

#define ULB_PIECE_PASS(name, row, tokens)                                                                    \
    static __attribute__((noinline)) void name(struct ulb_piece *piece, size_t t,                            \
                                               struct ulb_piece_block *block)                                \
    {                                                                                                        \
        size_t v = 0;                                                                                        \
        for (; v + ULB_PIECE_VECTORS <= (row).vectors; v += ULB_PIECE_VECTORS) {                             \
            ulb_pass_vectors(&(row), piece, v, ULB_PIECE_VECTORS, t, tokens, block);                         \
            piece->ask += piece->steps * piece->ask_bytes;                                                   \
        }                                                                                                    \
        if ((row).vectors % ULB_PIECE_VECTORS)                                                               \
            ulb_pass_vectors(&(row), piece, v, 1, t, tokens, block);                                         \
    }

/* take of groups in tiles of so many vectors of rows, whose scales lie before their steps. */
static inline __attribute__((always_inline)) void
ulb_take_group(size_t vectors, const struct ulb_piece *piece, size_t v, ulb_vec sums, ulb_vec *result)
{
    ulb_add_scaled((ulb_floats *)(void *)result, sums,
                   (const float *)(const void *)(piece->w - (vectors - v) * ULB_VEC_BYTES));
}

/* finish of tiles of so many rows, whose results have their weights' scales. */
static inline __attribute__((always_inline)) void
ulb_finish_scaled(const struct ulb_gemm *g, size_t m, size_t rows, size_t n, const ulb_vec *results)
{
    ulb_scale_rows(g->y + n * g->y_stride + m, (const float *)(const void *)results,
                   ulb_rows_left(g, m, rows), g->x_scale[n]);
}

/* take and finish of rows with one scale. */
static inline __attribute__((always_inline)) void ulb_take_sums(const struct ulb_piece *piece, size_t v,
                                                                ulb_vec sums, ulb_vec *result)
{
    (void)piece, (void)v;
    *result = ulb_add32(*result, sums);
}

static inline __attribute__((always_inline)) void ulb_finish_sums(const struct ulb_gemm *g,
                                                                  const struct ulb_layout *layout, size_t m,
                                                                  size_t rows, size_t n,
                                                                  const ulb_vec *results, int32_t zero_point)
{
    ulb_finish_tile(g, ulb_row_scales(g, layout), m, rows, n, (const int32_t *)(const void *)results,
                    zero_point);
}

/* stage of so many vectors of bytes with so many fields each, of neighbouring vectors of rows. */
static inline __attribute__((always_inline)) void ulb_stage_fields(size_t vectors, size_t fields,
                                                                   const uint8_t *w, uint8_t *bytes)
{
    const unsigned bits = (unsigned)(8 / fields);
    ULB_UNROLL(8)
    for (size_t i = 0; i < vectors * fields; i++) {
        const ulb_vec packed = ulb_load(w + i / fields * ULB_VEC_BYTES);
        const ulb_vec field = ulb_shr16(packed, (unsigned)(i % fields) * bits);
        ulb_store(bytes + i * ULB_VEC_BYTES, ulb_and(field, ulb_all8((1 << bits) - 1)));
    }
}

/* So many steps, which begin at column k, of tokens from n on. */
static inline __attribute__((always_inline)) void ulb_pack_piece(const struct ulb_piece_row *row,
                                                                 const struct ulb_gemm *g, size_t n,
                                                                 size_t tokens, size_t k, size_t steps,
                                                                 struct ulb_piece_block *block)
{
    block->x = (const int8_t *)g->x + n * g->x_stride + k;
    block->x_stride = g->x_stride;
    for (size_t t = 0; t < tokens; t++) {
        if (!row->full)
            ulb_pack_words(block->x + t * g->x_stride, steps, block->words[t]);
        if (row->zero_point)
            block->lacking[t] =
                row->zero_point *
                ulb_sum_of_x(g->x_sums + (n + t) * g->x_sums_stride + k / ULB_SUM_COLUMNS, 4 * row->steps);
    }
}

/* A piece, which begins at column k, for tokens from n on. */
static inline __attribute__((always_inline)) void
ulb_run_piece(const struct ulb_piece_row *row, ulb_pass_piece_fn *const passes[], const struct ulb_gemm *g,
              struct ulb_piece *piece, size_t k, size_t n, size_t tokens, struct ulb_piece_block *block)
{
    size_t some;
    piece->ask = piece->w + ULB_PIECE_FAR;
    piece->bytes = row->stage ? block->bytes : piece->w;
    for (size_t s = 0; row->stage && s < piece->steps; s++)
        row->stage(piece->w + s * row->step_bytes, block->bytes + s * row->vectors * ULB_VEC_BYTES);
    ulb_pack_piece(row, g, n, tokens, k, piece->steps, block);
    for (size_t t = 0; t < tokens; t += some) {
        some = ulb_next_tokens(tokens - t, ULB_PIECE_TOKENS);
        passes[some - 2](piece, t, block);
    }
}

/* Rows of a tile from row m on, of tokens [n, n + tokens); passes: of 2, 3 and 4. */
static inline __attribute__((always_inline)) void ulb_run_pieces(const struct ulb_piece_row *row,
                                                                 ulb_pass_piece_fn *const passes[],
                                                                 const struct ulb_gemm *g, size_t m, size_t n,
                                                                 size_t tokens)
{
    const size_t rows = row->vectors * ULB_LANES,
                 all = ulb_layout_steps(row->layout, g->k) * (row->layout->tile_k / 4);
    const size_t slice_bytes = ulb_layout_slice_bytes(row->layout, g->m, g->k);
    const size_t piece_bytes = row->steps * row->step_bytes + row->before;
    const size_t parts = (tokens + ULB_PIECE_TOKENS - 1) / ULB_PIECE_TOKENS *
                         ((row->vectors + ULB_PIECE_VECTORS - 1) / ULB_PIECE_VECTORS);
    const uint8_t *w = (const uint8_t *)g->w + m / rows * ulb_layout_row_bytes(row->layout, g->k);
    struct ulb_piece_block block;
    struct ulb_piece piece = {.ask_bytes = (piece_bytes / row->steps + parts - 1) / parts};
    memset(block.results, 0, tokens * sizeof *block.results);
    for (size_t s = 0; s < all; s += row->steps, w += piece_bytes) {
        piece.steps = all - s < row->steps ? all - s : row->steps;
        for (size_t i = 0; i < row->slices; i++) {
            piece.w = w + i * slice_bytes + row->before;
            ulb_run_piece(row, passes, g, &piece, (i * all + s) * 4, n, tokens, &block);
        }
    }
    for (size_t t = 0; t < tokens; t++)
        row->finish(g, m, n + t, block.results[t]);
}

/* All rows and tokens. */
static inline __attribute__((always_inline)) void ulb_run_piece_tokens(const struct ulb_piece_row *row,
                                                                       ulb_pass_piece_fn *const passes[],
                                                                       const struct ulb_gemm *g)
{
    for (size_t m = g->m0; m < g->m1; m += row->vectors * ULB_LANES) {
        size_t some;
        for (size_t n = 0; n < g->n; n += some) {
            some = ulb_next_block(g->n - n, ULB_PIECE_BLOCK);
            ulb_run_pieces(row, passes, g, m, n, some);
        }
    }
}

/* A function run_tokens() of a row, for at least two. */
#define ULB_PIECE_RUN(row)                                                                                   \
    ULB_PIECE_PASS(pass_2, row, 2)                                                                           \
    ULB_PIECE_PASS(pass_3, row, 3)                                                                           \
    ULB_PIECE_PASS(pass_4, row, 4)                                                                           \
    static __attribute__((noinline)) void run_tokens(const struct ulb_gemm *g)                               \
    {                                                                                                        \
        static ulb_pass_piece_fn *const passes[] = {pass_2, pass_3, pass_4};                                 \
        ulb_run_piece_tokens(&(row), passes, g);                                                             \
    }

#endif
