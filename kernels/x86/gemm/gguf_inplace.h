/* Several tokens of a block format in place: the codes of 32 rows are taken apart once for a block of tokens
 * and turned over, so that lanes are rows; what is staged then is what repacked rows stage
 * (kernels/x86/gemm/block_unpacked.h), and the same register tiles pass over it. Where one token's lanes are
 * rows too (kernels/x86/gguf_inplace_32.h), results are its, bit by bit; blocks of 256 columns round in
 * another order: struct ulb_kernel's tokens_round.
 *
 * Ports, per 32 weights, once for a block of tokens: what one token has for its codes, two or three shuffles
 * and a store. With lanes of columns, as one token's of 256 columns, 16 tokens were 1.5 to 1.6 cycles for .9
 * to 1.
 *
 * Zen 4, cold, 4096x4096, 3, 4 and 16 tokens against one by one, EVEX: Q4_0 1.25, 1.45 and 2.35 times as
 * fast, Q5_0 1.8, 2.2 and 4.1, Q8_0 1.25, 1.5 and 2.55, MXFP4 1.4, 1.65 and 2.8, Q4_K 1.4, 1.6 and 2.6, Q6_K
 * 1.1, 1.25 and 2.2, Q2_K 1.15, 1.35 and 2.0, TQ1_0 1.4, 1.8 and 3.6; AVX2 alone: Q4_0 1.15, 1.3 and 1.9,
 * Q5_0 1.65, 1.9 and 3.05, Q8_0 1.05, 1.2 and 1.45, Q4_K 1.5, 1.6 and 2.35, Q6_K 1.2, 1.3 and 2.0; two tokens
 * in cache 0.6 to 1.3. Without the prefetch 4 tokens are 0.4 to 0.65. */
#ifndef ULB_KERNELS_X86_GEMM_GGUF_INPLACE_H
#define ULB_KERNELS_X86_GEMM_GGUF_INPLACE_H

#include "kernels/x86/simd/dot.h"

#if ULB_WORD_SUMS
#include "kernels/x86/gemm/block_unpacked_avx2.h"
#else
#include "kernels/x86/gemm/block_tile.h"
#include "kernels/x86/gemm/block_unpacked_vnni.h"
#endif

#include "kernels/x86/gemv/gguf_inplace.h"

enum {
    ULB_IN_PLACE_VECTORS = 4, /* of rows */
    ULB_IN_PLACE_ROWS = 8 * ULB_IN_PLACE_VECTORS,
    ULB_IN_PLACE_STEP_BYTES = 32 * ULB_IN_PLACE_VECTORS,
    ULB_IN_PLACE_LEAST = 3,   /* tokens; fewer are taken one by one */
    ULB_IN_PLACE_AHEAD = 1024 /* bytes, in each row, of the prefetch into L2 */
};

/* Rows of a tile: those beyond a call's last are the last again. */
struct ulb_in_place_tile {
    const uint8_t *rows[ULB_IN_PLACE_ROWS];
    size_t row_bytes;
};

/* Stages block b of each row as the visit's block i. */
typedef void ulb_stage_in_place_fn(const struct ulb_in_place_tile *tile, size_t b, size_t i,
                                   struct ulb_staged *staged);

/* From a block at so many bytes of its row to what is asked for with it; behind a row's end it is in the
 * next tile. */
static inline size_t ulb_in_place_ahead(const struct ulb_in_place_tile *tile, size_t at)
{
    const size_t wrap = (ULB_IN_PLACE_ROWS - 1) * tile->row_bytes;
    return ULB_IN_PLACE_AHEAD + (at + ULB_IN_PLACE_AHEAD < tile->row_bytes ? 0 : wrap);
}

/* Asks for so many bytes, which are rarely whole lines. Held at its place by a vector that what follows
 * needs: compilers bring what rows ask for together, and so much at once finds no room (Zen 4, Q6_K, cold, 3
 * and 4 tokens: 0.77 and 0.82). */
static inline __attribute__((always_inline)) void ulb_ask_in_place(const uint8_t *at, size_t bytes,
                                                                   __m256i *held)
{
#pragma GCC unroll 5
    for (size_t i = 0; i < bytes; i += ULB_LINE)
        __asm__("prefetcht1 %[at]" : [held] "+" ULB_REGISTER(*held) : [at] "m"(at[i]));
}

/* 4 columns in each lane of lanes[4]: those of row i of 4 in the low half of pairs[i], of row i + 4 in its
 * high half. */
static inline __attribute__((always_inline)) void ulb_turn_over(const __m256i *pairs, __m256i *lanes)
{
    const __m256i low01 = _mm256_unpacklo_epi32(pairs[0], pairs[1]),
                  low23 = _mm256_unpacklo_epi32(pairs[2], pairs[3]),
                  high01 = _mm256_unpackhi_epi32(pairs[0], pairs[1]),
                  high23 = _mm256_unpackhi_epi32(pairs[2], pairs[3]);
    lanes[0] = _mm256_unpacklo_epi64(low01, low23);
    lanes[1] = _mm256_unpackhi_epi64(low01, low23);
    lanes[2] = _mm256_unpacklo_epi64(high01, high23);
    lanes[3] = _mm256_unpackhi_epi64(high01, high23);
}

/* 16 columns of 8 rows, as 4 steps from to on. */
static inline __attribute__((always_inline)) void ulb_stage_pairs(const __m256i *pairs, uint8_t *to)
{
    __m256i lanes[4];
    ulb_turn_over(pairs, lanes);
#pragma GCC unroll 4
    for (size_t s = 0; s < 4; s++)
        ulb_store(to + s * ULB_IN_PLACE_STEP_BYTES, lanes[s]);
}

#if ULB_WORD_SUMS

enum { ULB_IN_PLACE_VISIT = 1 /* blocks of 32 columns */ };

static inline struct ulb_staged_ends *ulb_ends_of(struct ulb_staged *staged, size_t i)
{
    (void)i;
    return &staged->ends;
}

/* Scale of group g of vector v of rows, int32; zero_point: of signed ones, else 0. */
static inline __attribute__((always_inline)) void ulb_stage_scale(int32_t zero_point, ulb_vec scale, size_t g,
                                                                  size_t v, struct ulb_staged *staged)
{
    if (zero_point)
        ulb_stage_signed_scale(zero_point, scale, g, v, staged);
    else
        staged->scales[g][v] = ulb_or(scale, ulb_shl32(scale, 16));
}

static inline void ulb_start_in_place(const struct ulb_gemm *g, size_t n, struct ulb_staged *staged)
{
    (void)g;
    (void)n;
    staged->ask = staged->bytes = staged->codes;
}

/* The visit's block, for tokens from n on. */
static inline __attribute__((always_inline)) void ulb_meet_in_place(const struct ulb_block_row *row,
                                                                    const struct ulb_gemm *g, size_t n,
                                                                    size_t tokens, size_t b, size_t blocks,
                                                                    struct ulb_staged *staged)
{
    (void)blocks;
    ulb_pack_staged(row, g, n, tokens, b, staged);
}

#else

enum { ULB_IN_PLACE_VISIT = ULB_STAGED_BLOCKS };

static inline struct ulb_staged_ends *ulb_ends_of(struct ulb_staged *staged, size_t i)
{
    return &staged->ends[i];
}

static inline __attribute__((always_inline)) void ulb_stage_scale(int32_t zero_point, ulb_vec scale, size_t g,
                                                                  size_t v, struct ulb_staged *staged)
{
    (void)zero_point;
    staged->scales[g][v] = ulb_to_floats(scale);
}

static inline void ulb_start_in_place(const struct ulb_gemm *g, size_t n, struct ulb_staged *staged)
{
    staged->first = 0;
    staged->last = true;
    staged->x = (const int8_t *)g->x + n * g->x_stride;
    staged->x_stride = g->x_stride;
}

/* A token of blocks without groups. */
static inline __attribute__((always_inline)) void ulb_meet_blocks_token(const struct ulb_block_row *row,
                                                                        const int16_t *x_sums,
                                                                        const float *x_scale, size_t blocks,
                                                                        struct ulb_staged_token *token)
{
    const __m256i there =
        _mm256_cmpgt_epi32(_mm256_set1_epi32((int)blocks), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
    __m256i sums;
    if (row->columns == 2 * ULB_SUM_COLUMNS)
        sums = _mm256_madd_epi16(_mm256_maskload_epi32((const int *)(const void *)x_sums, there),
                                 _mm256_set1_epi16(1));
    else
        sums = _mm256_set1_epi32(ulb_sum_of_x(x_sums, row->columns));
    ulb_stage_blocks_token(row, _mm256_maskload_ps(x_scale, there), sums, token);
}

/* So many blocks from block b on, for tokens from n on. */
static inline __attribute__((always_inline)) void ulb_meet_in_place(const struct ulb_block_row *row,
                                                                    const struct ulb_gemm *g, size_t n,
                                                                    size_t tokens, size_t b, size_t blocks,
                                                                    struct ulb_staged *staged)
{
    const size_t units = blocks * (row->columns / row->group);
    for (size_t u = 0; u < units; u++)
        staged->units[u] =
            (struct ulb_staged_unit){.ask = staged->codes, .column = b * row->columns + u * row->group};
    staged->end = units;
    for (size_t t = 0; t < tokens; t++) {
        const int16_t *x_sums = g->x_sums + (n + t) * g->x_sums_stride + b * row->columns / ULB_SUM_COLUMNS;
        const float *x_scale = g->x_scale + (n + t) * g->x_scale_stride + b;
        if (row->scales)
            ulb_stage_groups_token(row, x_sums, *x_scale, &staged->tokens[t]);
        else
            ulb_meet_blocks_token(row, x_sums, x_scale, blocks, &staged->tokens[t]);
    }
}

#endif

/* Rows of a tile from row m on, of tokens [n, n + tokens). */
static inline __attribute__((always_inline)) void
ulb_run_in_place_block(const struct ulb_block_row *row, ulb_stage_in_place_fn *stage,
                       ulb_pass_staged_fn *const passes[], const struct ulb_in_place_tile *tile,
                       const struct ulb_gemm *g, size_t m, size_t n, size_t tokens)
{
    const size_t blocks = g->k / row->columns,
                 visit = row->columns == 2 * ULB_SUM_COLUMNS ? ULB_IN_PLACE_VISIT : 1;
    struct ulb_staged staged;
    ulb_start_in_place(g, n, &staged);
    staged.ask_bytes = 0;
    memset(staged.results, 0, tokens * sizeof *staged.results);
    for (size_t b = 0, some; b < blocks; b += some) {
        some = blocks - b < visit ? blocks - b : visit;
        for (size_t i = 0; i < some; i++)
            stage(tile, b + i, i, &staged);
        ulb_meet_in_place(row, g, n, tokens, b, some, &staged);
        ulb_pass_tokens(passes, ULB_STAGED_TOKENS(ulb_block_vectors(row)), tokens, &staged);
    }
    for (size_t t = 0; t < tokens; t++)
        memcpy(g->y + (n + t) * g->y_stride + m, staged.results[t],
               ulb_rows_left(g, m, ULB_IN_PLACE_ROWS) * sizeof *g->y);
}

/* All rows and tokens. */
static inline __attribute__((always_inline)) void
ulb_run_in_place_tokens(const struct ulb_block_row *row, ulb_stage_in_place_fn *stage,
                        ulb_pass_staged_fn *const passes[], size_t block_bytes, const struct ulb_gemm *g)
{
    struct ulb_in_place_tile tile = {.row_bytes = g->k / row->columns * block_bytes};
    for (size_t m = g->m0; m < g->m1; m += ULB_IN_PLACE_ROWS) {
        const size_t last = ulb_rows_left(g, m, ULB_IN_PLACE_ROWS) - 1;
        for (size_t r = 0; r < ULB_IN_PLACE_ROWS; r++)
            tile.rows[r] = (const uint8_t *)g->w + (m + (r < last ? r : last)) * tile.row_bytes;
        size_t some;
        for (size_t n = 0; n < g->n; n += some) {
            some = ulb_next_block(g->n - n, ULB_STAGED_BLOCK);
            ulb_run_in_place_block(row, stage, passes, &tile, g, m, n, some);
        }
    }
}

#endif
