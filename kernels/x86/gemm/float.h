/* GEMM of a floating format. Vectors of rows are loaded and converted to single precision once for all tokens
 * of a register tile. A K-block stays in L1, or partly in L2, while the tiles of an N-block iterate over it.
 * Sums are kept in memory in between. Sums add up in the order of the GEMV, because a token's result must not
 * depend on N. Tokens are shared out evenly to tiles: a tile of one token has few chains. Each pass
 * prefetches its part of the next K-block into L2. */
#ifndef ULB_KERNELS_X86_GEMM_FLOAT_H
#define ULB_KERNELS_X86_GEMM_FLOAT_H

#include <string.h>

#include "kernels/microkernel.h"
#include "kernels/x86/simd/dot.h"
#include "kernels/x86/simd/vec_float.h"
#include "kernels/x86/gemv/k_slices.h"

enum {
    ULB_FLOAT_K_BLOCK_BYTES = 32768,
    ULB_FLOAT_N_BLOCK = 32,   /* tokens, whose sums, 16 KiB at most, wait between K-blocks */
    ULB_FLOAT_TILE_MAX = 4,   /* tokens */
    ULB_FLOAT_SUMS_MAX = 24,  /* of a register tile */
    ULB_FLOAT_COLUMNS_MAX = 2 /* of a step */
};

/* Compile-time constants of a kernel. */
struct ulb_float_cfg {
    size_t rows;         /* of the layout's tile */
    size_t vector_bytes; /* from a vector of rows to the next */
    size_t step_bytes;   /* of all */
    unsigned streams;    /* read side by side, step by step; they add to the same sums */
    unsigned columns;    /* of a step, each with sums of its own */
    unsigned vectors;    /* vectors of rows in a pass; divides the vectors of the tile */
    unsigned tokens;     /* of a register tile */
    void (*load)(const uint8_t *w, ulb_floats *values); /* of a vector of rows: values[columns] */
    void (*add)(ulb_floats *sum, ulb_floats value, ulb_floats one);
};

/* Sums of an N-block: of each column of a step for the rows of a tile. */
typedef float ulb_float_totals[ULB_FLOAT_N_BLOCK][ULB_TILE_ROWS_MAX];

/* Steps of the streams, the first at w, and their activations. The next stream begins a fixed number of bytes
 * and columns later. A pass prefetches ask_bytes for each step of a stream, beginning at `ask`. */
struct ulb_float_k_block {
    const uint8_t *w, *ask;
    const float *x;
    size_t steps, stream_bytes, stream_columns, ask_bytes;
};

/* Address of sum i of a register tile in memory: `[tokens][columns][vectors]`. */
static inline __attribute__((always_inline)) float *
ulb_float_total(const struct ulb_float_cfg *cfg, size_t vector, size_t i, float (*totals)[ULB_TILE_ROWS_MAX])
{
    const size_t v = i % cfg->vectors, c = i / cfg->vectors % cfg->columns;
    return &totals[i / cfg->vectors / cfg->columns][c * cfg->rows + (vector + v) * ULB_LANES];
}

/* One step of one stream. */
static inline __attribute__((always_inline)) void ulb_float_step(const struct ulb_float_cfg *cfg,
                                                                 const uint8_t *w, const float *x,
                                                                 size_t x_stride, unsigned tokens,
                                                                 ulb_floats *sums)
{
    const size_t columns = cfg->columns;
    ulb_floats ones[ULB_FLOAT_TILE_MAX * ULB_FLOAT_COLUMNS_MAX];
    ULB_UNROLL(8)
    for (size_t i = 0; i < tokens * columns; i++)
        ones[i] = ulb_load_to_all(x + i / columns * x_stride + i % columns);
    ULB_UNROLL(8)
    for (size_t v = 0; v < cfg->vectors; v++) {
        ulb_floats values[ULB_FLOAT_COLUMNS_MAX];
        cfg->load(w + v * cfg->vector_bytes, values);
        ULB_UNROLL(8)
        for (size_t i = 0; i < tokens * columns; i++)
            cfg->add(&sums[i * cfg->vectors + v], values[i % columns], ones[i]);
    }
}

/* totals += products of a K-block for some vectors of rows and tokens. Activations are `stride` apart. */
static inline __attribute__((always_inline)) void
ulb_float_pass(const struct ulb_float_cfg *cfg, const struct ulb_float_k_block *k_block, size_t vector,
               const float *x, size_t x_stride, unsigned tokens, float (*totals)[ULB_TILE_ROWS_MAX])
{
    const size_t step_bytes = cfg->step_bytes, all = tokens * cfg->columns * cfg->vectors;
    const uint8_t *ask = k_block->ask, *w = k_block->w + vector * cfg->vector_bytes;
    ulb_floats sums[ULB_FLOAT_SUMS_MAX];
    ULB_UNROLL(24)
    for (size_t i = 0; i < all; i++)
        sums[i] = ulb_load_floats(ulb_float_total(cfg, vector, i, totals));
    for (size_t s = 0; s < k_block->steps;
         s++, w += step_bytes, x += cfg->columns, ask += k_block->ask_bytes) {
        ULB_UNROLL(4)
        for (size_t i = 0; i < cfg->streams; i++) {
            ulb_float_step(cfg, w + i * k_block->stream_bytes, x + i * k_block->stream_columns, x_stride,
                           tokens, sums);
            for (size_t line = 0; line < k_block->ask_bytes; line += ULB_LINE)
                ulb_prefetch_l2_from(ask, i * k_block->stream_bytes, line);
        }
    }
    ULB_UNROLL(24)
    for (size_t i = 0; i < all; i++)
        ulb_store_floats(ulb_float_total(cfg, vector, i, totals), sums[i]);
}

/* Computes a register tile of 1 to cfg->tokens tokens. */
static inline __attribute__((always_inline)) void
ulb_float_tile(const struct ulb_float_cfg *cfg, const struct ulb_float_k_block *k_block, size_t vector,
               const float *x, size_t x_stride, size_t tokens, float (*totals)[ULB_TILE_ROWS_MAX])
{
    if (cfg->tokens >= 4 && tokens == 4)
        ulb_float_pass(cfg, k_block, vector, x, x_stride, 4, totals);
    else if (cfg->tokens >= 3 && tokens == 3)
        ulb_float_pass(cfg, k_block, vector, x, x_stride, 3, totals);
    else if (tokens == 2)
        ulb_float_pass(cfg, k_block, vector, x, x_stride, 2, totals);
    else
        ulb_float_pass(cfg, k_block, vector, x, x_stride, 1, totals);
}

/* Computes all tiles of an N-block and all vectors of rows for a K-block. Each tile prefetches its part of
 * the next K-block. */
static inline __attribute__((always_inline)) void ulb_float_passes(const struct ulb_float_cfg *cfg,
                                                                   const struct ulb_float_k_block *whole,
                                                                   size_t x_stride, size_t tokens,
                                                                   ulb_float_totals totals)
{
    struct ulb_float_k_block k_block = *whole;
    const size_t vectors = cfg->rows / ULB_LANES, step_bytes = cfg->step_bytes;
    const size_t tiles = (tokens + cfg->tokens - 1) / cfg->tokens, passes = tiles * (vectors / cfg->vectors);
    k_block.ask = k_block.w + k_block.steps * step_bytes;
    k_block.ask_bytes = (step_bytes + passes - 1) / passes;
    for (size_t tile = 0, t = 0; tile < tiles; tile++) {
        const size_t some = (tokens - t) / (tiles - tile);
        for (size_t v = 0; v < vectors; v += cfg->vectors, k_block.ask += k_block.steps * k_block.ask_bytes)
            ulb_float_tile(cfg, &k_block, v, k_block.x + t * x_stride, x_stride, some, totals + t);
        t += some;
    }
}

/* One row of tiles whose streams have some steps, all for tokens from x: totals += products. */
static inline __attribute__((always_inline)) void ulb_float_k_blocks(const struct ulb_float_cfg *cfg,
                                                                     const struct ulb_float_k_block *all,
                                                                     size_t x_stride, size_t tokens,
                                                                     ulb_float_totals totals)
{
    const size_t step_bytes = cfg->step_bytes;
    const size_t most = ULB_FLOAT_K_BLOCK_BYTES / cfg->streams / step_bytes;
    struct ulb_float_k_block k_block = *all;
    for (size_t s = 0; s < all->steps; s += most) {
        k_block.w = all->w + s * step_bytes;
        k_block.x = all->x + s * cfg->columns;
        k_block.steps = all->steps - s < most ? all->steps - s : most;
        ulb_float_passes(cfg, &k_block, x_stride, tokens, totals);
    }
}

/* Computes one row of tiles from row m for tokens [n, n + tokens). Streams are the slices of the layout;
 * without slices they are equal parts of K. rest: kernel of one stream for a remaining step, or NULL. */
static inline __attribute__((always_inline)) void
ulb_float_rows(const struct ulb_float_cfg *cfg, const struct ulb_float_cfg *rest,
               const struct ulb_layout *layout, const struct ulb_gemm *g, size_t m, size_t n, size_t tokens)
{
    const size_t tiles = ulb_layout_steps(layout, g->k), step_bytes = cfg->step_bytes;
    const size_t steps = rest ? tiles / cfg->streams : tiles, taken = cfg->streams * steps;
    struct ulb_float_k_block all = {.w = (const uint8_t *)g->w + m / cfg->rows * tiles * step_bytes,
                                    .x = (const float *)g->x + n * g->x_stride,
                                    .steps = steps,
                                    .stream_bytes = rest ? steps * step_bytes
                                                         : ulb_layout_slice_bytes(layout, g->m, g->k),
                                    .stream_columns = steps * cfg->columns};
    ulb_float_totals totals;
    memset(totals, 0, tokens * sizeof *totals);
    ulb_float_k_blocks(cfg, &all, g->x_stride, tokens, totals);
    if (rest && taken < tiles) {
        all.w += taken * step_bytes;
        all.x += taken * cfg->columns;
        all.steps = 1;
        ulb_float_k_blocks(rest, &all, g->x_stride, tokens, totals);
    }
    const size_t left = ulb_rows_left(g, m, cfg->rows);
    for (size_t t = 0; t < tokens; t++) {
        float *y = g->y + (n + t) * g->y_stride + m;
        for (size_t i = 0; i < left; i++)
            y[i] = cfg->columns == 1 ? totals[t][i] : totals[t][i] + totals[t][cfg->rows + i];
    }
}

static inline __attribute__((always_inline)) void ulb_run_float_tokens(const struct ulb_float_cfg *cfg,
                                                                       const struct ulb_float_cfg *rest,
                                                                       const struct ulb_layout *layout,
                                                                       const struct ulb_gemm *g)
{
    for (size_t m = g->m0; m < g->m1; m += cfg->rows) {
        for (size_t n = 0; n < g->n; n += ULB_FLOAT_N_BLOCK)
            ulb_float_rows(cfg, rest, layout, g, m, n,
                           g->n - n < ULB_FLOAT_N_BLOCK ? g->n - n : ULB_FLOAT_N_BLOCK);
    }
}

#endif
