/* GEMM by tables of 64 entries (kernels/formats/int1/lut6.h). Two tokens share the indices of a tile, and its
 * rows share the loads of a token's tables. Slices of K are read one after the other. The tables of one slice
 * for four tokens then stay in L1, with a tile of weights that all four read. Sums are kept in L2. Weights
 * come from memory once for 16 tokens. With tables of only two tokens in L1 the first pass would wait for
 * memory, and memory would be idle in the second.
 *
 * Registers: eight indices, and four byte sums and four word sums for each token. */
#ifndef ULB_KERNELS_FORMATS_INT1_LUT6_GEMM_H
#define ULB_KERNELS_FORMATS_INT1_LUT6_GEMM_H

#include "kernels/formats/int1/lut6.h"
#include "kernels/gemm_blocked.h"
#include "kernels/lut.h"
#include "kernels/x86/gemv/k_slices.h"

enum {
    ULB_LUT6_IN_L1 = 4,    /* tokens: 24 KiB of tables */
    ULB_LUT6_TOKENS = 16,  /* that read weights once */
    ULB_LUT6_SUMS = 65536, /* of a panel: 256 KiB */
    ULB_LUT6_SLICE = ULB_INT1_LUT6_STEPS * ULB_LUT6_TABLES,
    ULB_LUT6_NEAR = 4608
};
_Static_assert(ULB_INT1_LUT6_STEPS <= 2 * ULB_LUT6_PAIRS, "words hold the look-ups of a slice");

/* A panel and some tokens. */
struct ulb_lut6_batch {
    size_t tiles;           /* of its rows */
    struct ulb_slice slice; /* a K-block */
    const uint8_t *w;       /* its weights */
    _Alignas(64) uint8_t tables[ULB_LUT6_IN_L1 * ULB_LUT6_SLICE];
    _Alignas(64) int32_t sums[ULB_LUT6_SUMS]; /* [tokens][tiles][ULB_LUT6_ROWS] */
    int32_t origin[ULB_LUT6_TOKENS];          /* offset that tables add to sums over the set bits */
};

/* sums[tokens][stride] += the sums of one slice of a tile. ask: prefetch weights too. */
static inline __attribute__((always_inline)) void ulb_lut6_tile(struct ulb_prefetch_setting prefetch,
                                                                bool ask, size_t tokens, size_t steps,
                                                                const uint8_t *w, const uint8_t *tables,
                                                                int32_t *sums, size_t stride)
{
    __m512i words[2][2][2];
    size_t s = 0;
    ULB_UNROLL(2)
    for (size_t t = 0; t < tokens; t++)
        ulb_lut6_clear(words[t]);
    for (; s + 2 <= steps; s += 2)
        ulb_lut6_chunk(prefetch, ask, ULB_LUT6_NEAR, tokens, 2, w + s * ULB_LUT6_STEP,
                       tables + s * ULB_LUT6_TABLES, ULB_LUT6_SLICE, words);
    if (s < steps)
        ulb_lut6_chunk(prefetch, ask, ULB_LUT6_NEAR, tokens, 1, w + s * ULB_LUT6_STEP,
                       tables + s * ULB_LUT6_TABLES, ULB_LUT6_SLICE, words);
    ULB_UNROLL(2)
    for (size_t t = 0; t < tokens; t++)
        ulb_lut6_widen(words[t], sums + t * stride);
}

/* Adds one slice of all tiles for some tokens from `first`, whose tables are built. */
static inline __attribute__((always_inline)) void ulb_lut6_tiles(struct ulb_prefetch_setting prefetch,
                                                                 bool ask, struct ulb_lut6_batch *batch,
                                                                 size_t first, size_t tokens)
{
    const size_t steps = batch->slice.steps, stride = batch->tiles * ULB_LUT6_ROWS;
    const uint8_t *w = batch->w;
    for (size_t tile = 0; tile < batch->tiles; tile++, w += steps * ULB_LUT6_STEP) {
        int32_t *sums = batch->sums + first * stride + tile * ULB_LUT6_ROWS;
        const uint8_t *tables = batch->tables;
        size_t t = 0;
        for (; t + 2 <= tokens; t += 2, tables += 2 * ULB_LUT6_SLICE)
            ulb_lut6_tile(prefetch, ask && t == 0, 2, steps, w, tables, sums + t * stride, stride);
        if (t < tokens)
            ulb_lut6_tile(prefetch, ask && t == 0, 1, steps, w, tables, sums + t * stride, stride);
    }
}

/* Rows of a panel, so that the sums of an N-block fit. */
static inline size_t ulb_lut6_panel(const struct ulb_gemm *g)
{
    const size_t blocks = ulb_gemm_tiles(g->n, ULB_LUT6_TOKENS), tokens = ulb_gemm_tiles(g->n, blocks);
    return ULB_LUT6_SUMS / tokens / ULB_LUT6_ROWS * ULB_LUT6_ROWS;
}

static inline __attribute__((always_inline)) size_t
ulb_lut6_begin(const void *of, const struct ulb_gemm_block *block, void *state)
{
    const struct ulb_lut_cfg *cfg = of;
    struct ulb_lut6_batch *batch = state;
    const size_t end = ulb_batch_end(block->g, block->m, ulb_lut6_panel(block->g));
    batch->tiles = (end - block->m + ULB_LUT6_ROWS - 1) / ULB_LUT6_ROWS;
    memset(batch->sums, 0, block->tokens * batch->tiles * ULB_LUT6_ROWS * sizeof *batch->sums);
    memset(batch->origin, 0, sizeof batch->origin);
    return ulb_layout_slices(cfg->layout, block->g->k);
}

static inline __attribute__((always_inline)) void
ulb_lut6_stage(const void *of, const struct ulb_gemm_block *block, void *state, size_t k)
{
    const struct ulb_lut_cfg *cfg = of;
    struct ulb_lut6_batch *batch = state;
    batch->slice = ulb_layout_slice(cfg->layout, block->g->m, block->g->k, k);
    batch->w = (const uint8_t *)block->g->w + batch->slice.offset +
               block->m / ULB_LUT6_ROWS * batch->slice.steps * ULB_LUT6_STEP;
}

/* Builds the tables of some tokens, and adds the slice. */
static __attribute__((noinline)) void ulb_lut6_add(const struct ulb_lut_cfg *cfg,
                                                   const struct ulb_gemm_block *block,
                                                   struct ulb_lut6_batch *batch, size_t t, size_t tokens)
{
    enum { ALL = ULB_INT1_LUT6_SLICES /* streams of a call of one token */ };
    const struct ulb_gemm *g = block->g;
    const struct ulb_prefetch prefetched = {g->prefetch.target, ALL * g->prefetch.distance};
    for (size_t i = 0; i < tokens; i++)
        batch->origin[t + i] += ulb_build_slice(
            g, cfg, (const int8_t *)g->x + (block->n + t + i) * g->x_stride, batch->slice.first,
            batch->slice.steps, t + i == 0 ? batch->w : NULL, batch->tables + i * ULB_LUT6_SLICE);
    if (t > 0)
        ulb_lut6_tiles(ULB_OWN_PREFETCH, false, batch, t, tokens);
    else
        ULB_SPECIALISE_PREFETCH(prefetched, ulb_lut6_tiles(prefetch, true, batch, t, tokens));
}

static inline __attribute__((always_inline)) void
ulb_lut6_pass(const void *of, const struct ulb_gemm_block *block, void *state, size_t t, unsigned tokens)
{
    ulb_lut6_add(of, block, state, t, tokens);
}

static inline __attribute__((always_inline)) void
ulb_lut6_finish(const void *of, const struct ulb_gemm_block *block, void *state)
{
    const struct ulb_lut_cfg *cfg = of;
    struct ulb_lut6_batch *batch = state;
    const struct ulb_gemm *g = block->g;
    const size_t rows = ulb_batch_end(g, block->m, ulb_lut6_panel(g)) - block->m;
    for (size_t t = 0; t < block->tokens; t++) {
        const size_t n = block->n + t;
        int32_t *sums = batch->sums + t * batch->tiles * ULB_LUT6_ROWS;
        for (size_t i = 0; i < rows; i++)
            sums[i] = ulb_lut6_dot(sums[i] - batch->origin[t]);
        ulb_epilogue_rows(g->y + n * g->y_stride + block->m, sums, block->scales + block->m, rows,
                          (uint32_t)cfg->zero_point * (uint32_t)g->x_sum[n], g->x_scale[n]);
    }
}

static inline void ulb_lut6_run_tokens(const struct ulb_gemm *g, const struct ulb_lut_cfg *cfg)
{
    const struct ulb_gemm_nest nest = {.cfg = cfg,
                                       .layout = cfg->layout,
                                       .rows = ulb_lut6_panel(g),
                                       .n_block = ULB_LUT6_TOKENS,
                                       .least = 2,
                                       .tile = ULB_LUT6_IN_L1,
                                       .begin = ulb_lut6_begin,
                                       .stage = ulb_lut6_stage,
                                       .pass = ulb_lut6_pass,
                                       .finish = ulb_lut6_finish};
    struct ulb_lut6_batch batch;
    ulb_gemm_blocked(&nest, g, &batch);
}

#endif
