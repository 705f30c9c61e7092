/* GEMM of a block format in place. The codes of 32 rows are unpacked once for an N-block and transposed, so
 * that lanes are rows. They are then the bytes that repacked kernels unpack
 * (kernels/x86/gemm/block_unpacked.h), and the same register tiles iterate over them. If lanes of the GEMV
 * are rows too (kernels/x86/gguf_inplace_32.h), results equal the GEMV bit by bit. Blocks of 256 columns
 * round in another order (rounds_by_batch() in harness/verify/strict.c).
 *
 * Ports, per 32 weights, once for an N-block: the GEMV's work for its codes, a few shuffles and a store.
 * Lanes of columns, as in the GEMV for 256 columns, were slower for many tokens. */
#ifndef ULB_KERNELS_X86_GEMM_GGUF_INPLACE_H
#define ULB_KERNELS_X86_GEMM_GGUF_INPLACE_H

#include "kernels/x86/simd/dot.h"

#if ULB_S16_SUMS
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
    ULB_IN_PLACE_LEAST = 3,   /* tokens; the GEMV computes fewer */
    ULB_IN_PLACE_AHEAD = 1024 /* bytes, in each row, of the prefetch into L2 */
};

/* Rows of a tile. Beyond the last row of a call the last row repeats. */
struct ulb_in_place_tile {
    const uint8_t *rows[ULB_IN_PLACE_ROWS];
    size_t row_bytes;
};

/* Unpacks block b of each row as the K-block's block i. */
typedef void ulb_unpack_in_place_fn(const struct ulb_in_place_tile *tile, size_t b, size_t i,
                                    struct ulb_unpacked *unpacked);

/* Constants of a kernel. */
struct ulb_in_place_gemm {
    const struct ulb_block_cfg *cfg;
    ulb_unpack_in_place_fn *unpack;
    size_t block_bytes;
};

/* A panel; the first member is what passes take. */
struct ulb_in_place_panel {
    struct ulb_unpacked unpacked;
    struct ulb_in_place_tile tile;
};

/* Distance of the prefetch from a block that begins `at` bytes into its row. Beyond the end of a row it
 * reaches into the next tile. */
static inline size_t ulb_in_place_ahead(const struct ulb_in_place_tile *tile, size_t at)
{
    const size_t wrap = (ULB_IN_PLACE_ROWS - 1) * tile->row_bytes;
    return ULB_IN_PLACE_AHEAD + (at + ULB_IN_PLACE_AHEAD < tile->row_bytes ? 0 : wrap);
}

/* Prefetches a number of bytes, rarely whole lines. The dependence on a vector that later code needs keeps
 * the prefetch in its place. Compilers would move the prefetches of all rows together, and the miss buffers
 * would overflow. */
static inline __attribute__((always_inline)) void ulb_prefetch_in_place(const uint8_t *at, size_t bytes,
                                                                        __m256i *held)
{
#pragma GCC unroll 5
    for (size_t i = 0; i < bytes; i += ULB_LINE)
        __asm__("prefetcht1 %[at]" : [held] "+" ULB_REGISTER(*held) : [at] "m"(at[i]));
}

/* lanes[4] = 4 columns in each lane. The low half of pairs[i] holds row i of 4, its high half row i + 4. */
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

/* Unpacks 16 columns of eight rows as four steps, beginning at `to`. */
static inline __attribute__((always_inline)) void ulb_unpack_pairs(const __m256i *pairs, uint8_t *to)
{
    __m256i lanes[4];
    ulb_turn_over(pairs, lanes);
#pragma GCC unroll 4
    for (size_t s = 0; s < 4; s++)
        ulb_store(to + s * ULB_IN_PLACE_STEP_BYTES, lanes[s]);
}

#if ULB_S16_SUMS

enum { ULB_IN_PLACE_CHUNK = 1 /* blocks of 32 columns */ };

static inline struct ulb_block_epilogue *ulb_epilogue_of(struct ulb_unpacked *unpacked, size_t i)
{
    (void)i;
    return &unpacked->epilogue;
}

/* Unpacks the scale of group g of vector v of rows, int32. zero_point: of signed scales, else 0. */
static inline __attribute__((always_inline)) void
ulb_unpack_scale(int32_t zero_point, ulb_vec scale, size_t g, size_t v, struct ulb_unpacked *unpacked)
{
    if (zero_point)
        ulb_unpack_signed_scale(zero_point, scale, g, v, unpacked);
    else
        unpacked->scales[g][v] = ulb_or(scale, ulb_shl32(scale, 16));
}

static inline void ulb_start_in_place(const struct ulb_gemm *g, size_t n, struct ulb_unpacked *unpacked)
{
    (void)g;
    (void)n;
    unpacked->ask_bytes = 0;
    unpacked->ask = unpacked->bytes = unpacked->codes;
}

/* The K-block, for tokens from n. */
static inline __attribute__((always_inline)) void ulb_meet_in_place(const struct ulb_block_cfg *cfg,
                                                                    const struct ulb_gemm *g, size_t n,
                                                                    size_t tokens, size_t b, size_t blocks,
                                                                    struct ulb_unpacked *unpacked)
{
    (void)blocks;
    ulb_pack_block(cfg, g, n, tokens, b, unpacked);
}

#else

enum { ULB_IN_PLACE_CHUNK = ULB_UNPACKED_BLOCKS };

static inline struct ulb_block_epilogue *ulb_epilogue_of(struct ulb_unpacked *unpacked, size_t i)
{
    return &unpacked->epilogue[i];
}

static inline __attribute__((always_inline)) void
ulb_unpack_scale(int32_t zero_point, ulb_vec scale, size_t g, size_t v, struct ulb_unpacked *unpacked)
{
    (void)zero_point;
    unpacked->scales[g][v] = ulb_to_floats(scale);
}

static inline void ulb_start_in_place(const struct ulb_gemm *g, size_t n, struct ulb_unpacked *unpacked)
{
    unpacked->first = 0;
    unpacked->last = true;
    unpacked->ask_lines = 0;
    unpacked->x = (const int8_t *)g->x + n * g->x_stride;
    unpacked->x_stride = g->x_stride;
}

/* A token of blocks without groups. */
static inline __attribute__((always_inline)) void ulb_meet_blocks_token(const struct ulb_block_cfg *cfg,
                                                                        const int16_t *x_sums,
                                                                        const float *x_scale, size_t blocks,
                                                                        struct ulb_unpacked_token *token)
{
    const __m256i there =
        _mm256_cmpgt_epi32(_mm256_set1_epi32((int)blocks), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
    __m256i sums;
    if (cfg->columns == 2 * ULB_SUM_COLUMNS)
        sums = _mm256_madd_epi16(_mm256_maskload_epi32((const int *)(const void *)x_sums, there),
                                 _mm256_set1_epi16(1));
    else
        sums = _mm256_set1_epi32(ulb_sum_of_x(x_sums, cfg->columns));
    ulb_unpack_blocks_token(cfg, _mm256_maskload_ps(x_scale, there), sums, token);
}

/* Computes some blocks from block b for the tokens from n. */
static inline __attribute__((always_inline)) void ulb_meet_in_place(const struct ulb_block_cfg *cfg,
                                                                    const struct ulb_gemm *g, size_t n,
                                                                    size_t tokens, size_t b, size_t blocks,
                                                                    struct ulb_unpacked *unpacked)
{
    const size_t units = blocks * (cfg->columns / cfg->group);
    for (size_t u = 0; u < units; u++)
        unpacked->units[u] =
            (struct ulb_unpacked_unit){.ask = unpacked->codes, .column = b * cfg->columns + u * cfg->group};
    unpacked->end = units;
    for (size_t t = 0; t < tokens; t++) {
        const int16_t *x_sums = g->x_sums + (n + t) * g->x_sums_stride + b * cfg->columns / ULB_SUM_COLUMNS;
        const float *x_scale = g->x_scale + (n + t) * g->x_scale_stride + b;
        if (cfg->scales)
            ulb_unpack_groups_token(cfg, x_sums, *x_scale, &unpacked->tokens[t]);
        else
            ulb_meet_blocks_token(cfg, x_sums, x_scale, blocks, &unpacked->tokens[t]);
    }
}

#endif

/* Blocks of a K-block. */
static inline __attribute__((always_inline)) size_t ulb_in_place_chunk(const struct ulb_block_cfg *cfg)
{
    return cfg->columns == 2 * ULB_SUM_COLUMNS ? ULB_IN_PLACE_CHUNK : 1;
}

static inline __attribute__((always_inline)) size_t
ulb_begin_in_place(const void *of, const struct ulb_gemm_block *block, void *state)
{
    const struct ulb_in_place_gemm *gemm = of;
    struct ulb_in_place_panel *panel = state;
    const struct ulb_gemm *g = block->g;
    const size_t last = ulb_rows_left(g, block->m, ULB_IN_PLACE_ROWS) - 1, blocks = g->k / gemm->cfg->columns,
                 chunk = ulb_in_place_chunk(gemm->cfg);
    panel->tile.row_bytes = blocks * gemm->block_bytes;
    for (size_t r = 0; r < ULB_IN_PLACE_ROWS; r++)
        panel->tile.rows[r] =
            (const uint8_t *)g->w + (block->m + (r < last ? r : last)) * panel->tile.row_bytes;
    ulb_start_in_place(g, block->n, &panel->unpacked);
    memset(panel->unpacked.results, 0, block->tokens * sizeof *panel->unpacked.results);
    return (blocks + chunk - 1) / chunk;
}

/* Blocks of K-block k, which begins with block b of a row. */
static inline __attribute__((always_inline)) size_t ulb_in_place_blocks(const struct ulb_block_cfg *cfg,
                                                                        const struct ulb_gemm *g, size_t b)
{
    const size_t left = g->k / cfg->columns - b, chunk = ulb_in_place_chunk(cfg);
    return left < chunk ? left : chunk;
}

static inline __attribute__((always_inline)) void
ulb_stage_in_place(const void *of, const struct ulb_gemm_block *block, void *state, size_t k)
{
    const struct ulb_in_place_gemm *gemm = of;
    struct ulb_in_place_panel *panel = state;
    const size_t b = k * ulb_in_place_chunk(gemm->cfg), blocks = ulb_in_place_blocks(gemm->cfg, block->g, b);
    for (size_t i = 0; i < blocks; i++)
        gemm->unpack(&panel->tile, b + i, i, &panel->unpacked);
}

static inline __attribute__((always_inline)) void
ulb_pack_in_place(const void *of, const struct ulb_gemm_block *block, void *state, size_t k)
{
    const struct ulb_in_place_gemm *gemm = of;
    struct ulb_in_place_panel *panel = state;
    const size_t b = k * ulb_in_place_chunk(gemm->cfg);
    ulb_meet_in_place(gemm->cfg, block->g, block->n, block->tokens, b,
                      ulb_in_place_blocks(gemm->cfg, block->g, b), &panel->unpacked);
}

static inline __attribute__((always_inline)) void
ulb_finish_in_place(const void *of, const struct ulb_gemm_block *block, void *state)
{
    const struct ulb_in_place_panel *panel = state;
    const struct ulb_gemm *g = block->g;
    const size_t left = ulb_rows_left(g, block->m, ULB_IN_PLACE_ROWS);
    (void)of;
    for (size_t t = 0; t < block->tokens; t++)
        memcpy(g->y + (block->n + t) * g->y_stride + block->m, panel->unpacked.results[t],
               left * sizeof *g->y);
}

/* All rows and tokens; tile: of a register tile. */
static inline __attribute__((always_inline)) void
ulb_run_in_place_tokens(const struct ulb_in_place_gemm *gemm, ulb_gemm_pass_fn *pass, size_t tile,
                        const struct ulb_gemm *g)
{
    const struct ulb_gemm_nest nest = {.cfg = gemm,
                                       .rows = ULB_IN_PLACE_ROWS,
                                       .n_block = ULB_UNPACKED_N_BLOCK,
                                       .least = 2,
                                       .tile = tile,
                                       .begin = ulb_begin_in_place,
                                       .stage = ulb_stage_in_place,
                                       .pack_x = ulb_pack_in_place,
                                       .pass = pass,
                                       .finish = ulb_finish_in_place};
    struct ulb_in_place_panel panel;
    ulb_gemm_blocked(&nest, g, &panel);
}

#endif
