/* GEMM of a floating format. Vectors of rows are loaded and converted to single precision once for all tokens
 * of a register tile. A K-block stays in L1, or partly in L2, while the tiles of an N-block iterate over it.
 * Sums are kept in memory in between. Sums add up in the order of the GEMV, because a token's result must not
 * depend on N. Each pass prefetches its part of the next
 * K-block into L2. */
#ifndef ULB_KERNELS_X86_GEMM_FLOAT_H
#define ULB_KERNELS_X86_GEMM_FLOAT_H

#include <string.h>

#include "kernels/gemm_blocked.h"
#include "kernels/microkernel.h"
#include "kernels/x86/simd/dot.h"
#include "kernels/x86/simd/vec_float.h"
#include "kernels/x86/gemv/k_slices.h"

enum {
    ULB_FLOAT_TILE_MAX = 4,    /* tokens */
    ULB_FLOAT_SUMS_MAX = 24,   /* of a register tile */
    ULB_FLOAT_COLUMNS_MAX = 2, /* of a step */
    ULB_FLOAT_PARTS_MAX = 2,   /* of K, each with sums of its own */
    ULB_FLOAT_RUNS_MAX = 2 * ULB_FLOAT_PARTS_MAX + 1
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
typedef float ulb_float_totals[ULB_GEMM_N_BLOCK_SUMS][ULB_TILE_ROWS_MAX];

/* Steps of the streams, the first at w, and their activations. The next stream begins a fixed number of bytes
 * and columns later. A pass prefetches ask_bytes for each step of a stream, beginning at `ask`. totals: sums
 * of the first token. */
struct ulb_float_k_block {
    const uint8_t *w, *ask;
    const float *x;
    float *totals;
    size_t steps, stream_bytes, stream_columns, ask_bytes;
    bool rest; /* multiplied by the kernel of a remaining step */
};

/* An N-block: the runs of K that its K-blocks come from, one after the other, and its sums. */
struct ulb_float_n_block {
    struct ulb_float_k_block runs[ULB_FLOAT_RUNS_MAX], k_block;
    size_t n_runs, run, done; /* the current run, and its steps that K-blocks had */
    size_t x_stride;          /* from one token's activations to the next */
    ulb_float_totals totals[ULB_FLOAT_PARTS_MAX];
};

/* Constants of a kernel of several tokens. rest: of one stream for a remaining step, or NULL. runs: the runs
 * of K of a block. */
struct ulb_float_gemm {
    const struct ulb_float_cfg *whole, *rest;
    ulb_gemm_pass_fn *pass_whole, *pass_rest;
    const struct ulb_layout *layout;
    size_t parts;
    void (*runs)(const struct ulb_float_gemm *gemm, const struct ulb_gemm_block *block,
                 struct ulb_float_n_block *n_block);
};

/* Address of sum i of a register tile in memory: `[tokens][columns][vectors]`. */
static inline __attribute__((always_inline)) float *ulb_float_total(const struct ulb_float_cfg *cfg,
                                                                    size_t vector, size_t i, float *totals)
{
    const size_t v = i % cfg->vectors, c = i / cfg->vectors % cfg->columns;
    return totals + i / cfg->vectors / cfg->columns * ULB_TILE_ROWS_MAX + c * cfg->rows +
           (vector + v) * ULB_LANES;
}

/* One step of one stream. */
static inline __attribute__((always_inline)) void ulb_float_step(const struct ulb_float_cfg *cfg,
                                                                 const uint8_t *w, const float *x,
                                                                 size_t x_stride, unsigned tokens,
                                                                 ulb_floats *sums)
{
    const size_t columns = cfg->columns;
    ulb_floats ones[ULB_FLOAT_TILE_MAX * ULB_FLOAT_COLUMNS_MAX];
    __asm__("" : "+r"(x)); /* keeps compilers from holding an offset for each stream and token */
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
               const float *x, size_t x_stride, unsigned tokens, float *totals)
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
            size_t line = 0; /* ask_bytes is not 0: a test of it would take an instruction for each step */
            do
                ulb_prefetch_l2_from(ask, i * k_block->stream_bytes, line);
            while ((line += ULB_LINE) < k_block->ask_bytes);
        }
    }
    ULB_UNROLL(24)
    for (size_t i = 0; i < all; i++)
        ulb_store_floats(ulb_float_total(cfg, vector, i, totals), sums[i]);
}

/* Adds a run of steps. */
static inline __attribute__((always_inline)) void ulb_add_float_run(struct ulb_float_n_block *n_block,
                                                                    struct ulb_float_k_block run)
{
    if (run.steps > 0)
        n_block->runs[n_block->n_runs++] = run;
}

/* Steps of a K-block at most, of all streams. */
static inline __attribute__((always_inline)) size_t ulb_float_k_block_steps(const struct ulb_float_gemm *gemm,
                                                                            bool rest)
{
    return rest ? 1 : ULB_GEMM_L1 / gemm->whole->streams / gemm->whole->step_bytes;
}

static inline __attribute__((always_inline)) size_t
ulb_begin_float_n_block(const void *of, const struct ulb_gemm_block *block, void *state)
{
    const struct ulb_float_gemm *gemm = of;
    struct ulb_float_n_block *n_block = state;
    size_t k_blocks = 0;
    n_block->n_runs = n_block->run = n_block->done = 0;
    gemm->runs(gemm, block, n_block);
    for (size_t i = 0; i < gemm->parts; i++)
        memset(n_block->totals[i], 0, block->tokens * sizeof *n_block->totals[i]);
    for (size_t i = 0; i < n_block->n_runs; i++) {
        const size_t most = ulb_float_k_block_steps(gemm, n_block->runs[i].rest);
        k_blocks += (n_block->runs[i].steps + most - 1) / most;
    }
    return k_blocks;
}

static inline __attribute__((always_inline)) void
ulb_stage_float_k_block(const void *of, const struct ulb_gemm_block *block, void *state, size_t k)
{
    const struct ulb_float_gemm *gemm = of;
    struct ulb_float_n_block *n_block = state;
    struct ulb_float_k_block *k_block = &n_block->k_block;
    (void)k;
    if (n_block->done == n_block->runs[n_block->run].steps) {
        n_block->run++;
        n_block->done = 0;
    }
    *k_block = n_block->runs[n_block->run];
    const struct ulb_float_cfg *cfg = gemm->rest && k_block->rest ? gemm->rest : gemm->whole;
    const size_t most = ulb_float_k_block_steps(gemm, k_block->rest), left = k_block->steps - n_block->done,
                 passes = ulb_gemm_tiles(block->tokens, cfg->tokens) * (cfg->rows / ULB_LANES / cfg->vectors);
    k_block->w += n_block->done * cfg->step_bytes;
    k_block->x += n_block->done * cfg->columns;
    k_block->steps = left < most ? left : most;
    k_block->ask = k_block->w + k_block->steps * cfg->step_bytes;
    k_block->ask_bytes = ulb_gemm_share(cfg->step_bytes, passes);
    n_block->done += k_block->steps;
}

/* All vectors of rows for some tokens. Each pass prefetches its part of the next K-block. */
static inline __attribute__((always_inline)) void ulb_float_passes(const struct ulb_float_cfg *cfg,
                                                                   struct ulb_float_n_block *n_block,
                                                                   size_t t, unsigned tokens)
{
    struct ulb_float_k_block k_block = n_block->k_block;
    const size_t x_stride = n_block->x_stride;
    for (size_t v = 0; v < cfg->rows / ULB_LANES; v += cfg->vectors) {
        ulb_float_pass(cfg, &k_block, v, k_block.x + t * x_stride, x_stride, tokens,
                       k_block.totals + t * ULB_TILE_ROWS_MAX);
        k_block.ask += k_block.steps * k_block.ask_bytes;
    }
    n_block->k_block.ask = k_block.ask;
}

/* Function `name`, which passes over K-blocks of a struct ulb_float_cfg with so many tokens in a tile. */
#define ULB_FLOAT_PASSES(name, cfg, tile)                                                                    \
    static inline __attribute__((always_inline)) void all_##name(struct ulb_float_n_block *n_block,          \
                                                                 size_t t, unsigned tokens)                  \
    {                                                                                                        \
        ulb_float_passes(&(cfg), n_block, t, tokens);                                                        \
    }                                                                                                        \
    ULB_GEMM_PASSES(name, struct ulb_float_n_block, tile, all_##name)

static inline __attribute__((always_inline)) void ulb_pass_float_k_block(const void *of,
                                                                         const struct ulb_gemm_block *block,
                                                                         void *state, size_t t,
                                                                         unsigned tokens)
{
    const struct ulb_float_gemm *gemm = of;
    const struct ulb_float_n_block *n_block = state;
    if (gemm->rest && n_block->k_block.rest)
        gemm->pass_rest(of, block, state, t, tokens);
    else
        gemm->pass_whole(of, block, state, t, tokens);
}

/* The sum of a row's columns. */
static inline float ulb_add_float_columns(const struct ulb_float_cfg *cfg, const float *totals, size_t row)
{
    return cfg->columns == 1 ? totals[row] : totals[row] + totals[cfg->rows + row];
}

static inline __attribute__((always_inline)) void
ulb_finish_float_n_block(const void *of, const struct ulb_gemm_block *block, void *state)
{
    const struct ulb_float_gemm *gemm = of;
    const struct ulb_float_n_block *n_block = state;
    const size_t left = ulb_rows_left(block->g, block->m, gemm->whole->rows);
    for (size_t t = 0; t < block->tokens; t++) {
        float *y = block->g->y + (block->n + t) * block->g->y_stride + block->m;
        for (size_t i = 0; i < left; i++) {
            y[i] = ulb_add_float_columns(gemm->whole, n_block->totals[0][t], i);
            if (gemm->parts > 1)
                y[i] += ulb_add_float_columns(gemm->whole, n_block->totals[1][t], i);
        }
    }
}

static inline __attribute__((always_inline)) void
ulb_run_float_gemm(const struct ulb_float_gemm *gemm, const struct ulb_gemm *g, size_t x_stride)
{
    const struct ulb_gemm_nest nest = {.cfg = gemm,
                                       .layout = gemm->layout,
                                       .rows = gemm->whole->rows,
                                       .n_block = ULB_GEMM_N_BLOCK_SUMS,
                                       .least = gemm->whole->tokens > 2 ? 2 : 1,
                                       .tile = gemm->whole->tokens,
                                       .begin = ulb_begin_float_n_block,
                                       .stage = ulb_stage_float_k_block,
                                       .pass = ulb_pass_float_k_block,
                                       .finish = ulb_finish_float_n_block};
    struct ulb_float_n_block n_block;
    n_block.x_stride = x_stride;
    ulb_gemm_blocked(&nest, g, &n_block);
}

/* The weights of a panel. */
static inline const uint8_t *ulb_float_panel(const struct ulb_float_gemm *gemm,
                                             const struct ulb_gemm_block *block)
{
    return (const uint8_t *)block->g->w +
           block->m / gemm->whole->rows * block->steps * ulb_layout_tile_bytes(gemm->layout);
}

/* The runs of K whose streams add to the same sums. Streams are the slices of the layout; without slices,
 * where steps may remain, they are equal parts of K. */
static inline __attribute__((always_inline)) void ulb_stream_runs(const struct ulb_float_gemm *gemm,
                                                                  const struct ulb_gemm_block *block,
                                                                  struct ulb_float_n_block *n_block)
{
    const struct ulb_float_cfg *whole = gemm->whole;
    const struct ulb_gemm *g = block->g;
    const size_t tiles = block->steps, step_bytes = whole->step_bytes;
    const size_t steps = gemm->rest ? tiles / whole->streams : tiles;
    struct ulb_float_k_block run = {.w = ulb_float_panel(gemm, block),
                                    .x = (const float *)g->x + block->n * g->x_stride,
                                    .totals = n_block->totals[0][0],
                                    .steps = steps,
                                    .stream_bytes = gemm->rest ? steps * step_bytes : block->slice_bytes,
                                    .stream_columns = steps * whole->columns};
    ulb_add_float_run(n_block, run);
    if (!gemm->rest)
        return;
    run.w += whole->streams * steps * step_bytes;
    run.x += whole->streams * steps * whole->columns;
    run.steps = tiles % whole->streams;
    run.rest = true;
    ulb_add_float_run(n_block, run);
}

#endif
