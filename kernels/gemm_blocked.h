/* The loop nest of every GEMM whose weights stay in a cache while register tiles of tokens share them:
 *
 *   panels of rows
 *     N-blocks                  begin()
 *       K-blocks                stage(), pack_x()
 *         tiles of tokens       pass()
 *                               finish()
 *
 * A nest is constant, and its functions are inlined: the compiler sees the loops as if they were written by
 * hand. What the hooks share is the kernel's own, `state`. */
#ifndef ULB_KERNELS_GEMM_BLOCKED_H
#define ULB_KERNELS_GEMM_BLOCKED_H

#include "common/mem.h"
#include "kernels/microkernel.h"

/* Sizes of blocks, of which all follow from the smallest caches: 32 KiB of L1 for data, 512 KiB of L2. */
enum {
    ULB_GEMM_L1 = 32768,
    /* Of weights that are unpacked, or that lie next to a kernel's own state. A quarter takes twice as many
     * passes and is slower. */
    ULB_GEMM_HALF_L1 = ULB_GEMM_L1 / 2,
    ULB_GEMM_BEYOND_L1 = ULB_GEMM_L1 + ULB_GEMM_L1 / 2, /* that L2 delivers as fast as products take them */
    ULB_GEMM_FAR = ULB_GEMM_L1 / 2, /* distance in bytes, in the slice, of a prefetch into L2 */
    ULB_GEMM_N_BLOCK = 64,          /* tokens that share unpacked weights; with fewer, unpacking shows */
    ULB_GEMM_N_BLOCK_MANY = 128,    /* the same, where unpacking takes longer and results may lie in L2 */
    ULB_GEMM_N_BLOCK_SUMS = 32,     /* whose sums, 16 KiB at most, share L1 with weights in place */
    ULB_GEMM_N_BLOCK_FLOATS = 16,   /* whose activations are floats, and lie packed in L1 */
};

/* A panel of rows times an N-block. */
struct ulb_gemm_block {
    const struct ulb_gemm *g;
    size_t m;         /* first row */
    size_t n, tokens; /* first token, and how many */
    /* Of the layout, found once: a call for each token would show. */
    size_t steps, slice_bytes; /* of a slice: ulb_layout_steps(), ulb_layout_slice_bytes() */
    const float *scales;       /* of rows, from row 0: ulb_row_scales() */
};

/* Adds a K-block to the results of some tokens, the first of them token t of the block. tokens: a constant.
 */
typedef void ulb_gemm_pass_fn(const void *cfg, const struct ulb_gemm_block *block, void *state, size_t t,
                              unsigned tokens);

/* Constants of a kernel. */
struct ulb_gemm_nest {
    const void *cfg;                 /* what the hooks are given first */
    const struct ulb_layout *layout; /* NULL: hooks need nothing of it */
    size_t rows;                     /* of a panel */
    size_t n_block;                  /* tokens at most */
    size_t least; /* tokens of a tile: 2 if calls have at least two and tiles three or four, else 1 */
    size_t tile;  /* tokens of a register tile, at most four */
    /* Starts the results of a block; returns its number of K-blocks. */
    size_t (*begin)(const void *cfg, const struct ulb_gemm_block *block, void *state);
    /* Finds or unpacks the weights of K-block k, and shares out the prefetches of its passes. */
    void (*stage)(const void *cfg, const struct ulb_gemm_block *block, void *state, size_t k);
    /* Packs its activations; NULL: nothing to pack. */
    void (*pack_x)(const void *cfg, const struct ulb_gemm_block *block, void *state, size_t k);
    ulb_gemm_pass_fn *pass;
    /* Stores the results. */
    void (*finish)(const void *cfg, const struct ulb_gemm_block *block, void *state);
};

/* Tokens of the next register tile of so many, `left` remain. A tile of one token has few chains: where one
 * would be left, the tile before it is a token smaller. */
static inline size_t ulb_next_tokens(size_t left, size_t tile)
{
    if (left == tile + 1 && tile > 2)
        return tile - 1;
    return left < tile ? left : tile;
}

/* Tokens of the next N-block, at most `most`, if `left` tokens remain. The N-blocks of a call differ by at
 * most one token. */
static inline size_t ulb_next_n_block(size_t left, size_t most)
{
    return left / ((left + most - 1) / most);
}

/* Register tiles of some tokens. */
static inline size_t ulb_gemm_tiles(size_t tokens, size_t tile)
{
    return (tokens + tile - 1) / tile;
}

/* Bytes that each of some passes prefetches of so many. */
static inline size_t ulb_gemm_share(size_t bytes, size_t passes)
{
    return (bytes + passes - 1) / passes;
}

static inline __attribute__((always_inline)) void ulb_gemm_pass(const struct ulb_gemm_nest *nest,
                                                                const struct ulb_gemm_block *block,
                                                                void *state, size_t t, size_t tokens)
{
    if (nest->tile > 3 && tokens == 4)
        nest->pass(nest->cfg, block, state, t, 4);
    else if (nest->tile > 2 && tokens == 3)
        nest->pass(nest->cfg, block, state, t, 3);
    else if (nest->tile > 1 && (nest->least > 1 || tokens == 2))
        nest->pass(nest->cfg, block, state, t, 2);
    else
        nest->pass(nest->cfg, block, state, t, 1);
}

/* Prefetches what finish() stores of some tokens from token t of the block: rows of the results lie far
 * apart, and a store that misses keeps its place in the queue until memory answers. */
static inline __attribute__((always_inline)) void
ulb_gemm_ask_y(const struct ulb_gemm_nest *nest, const struct ulb_gemm_block *block, size_t t, size_t tokens)
{
    for (const size_t end = t + tokens; t < end; t++) {
        const char *y = (const char *)(block->g->y + (block->n + t) * block->g->y_stride + block->m);
        for (size_t at = 0; at < nest->rows * sizeof *block->g->y; at += ULB_CACHE_LINE)
            __builtin_prefetch(y + at, 1);
    }
}

/* All K-blocks of a block. */
static inline __attribute__((always_inline)) void
ulb_gemm_k_blocks(const struct ulb_gemm_nest *nest, const struct ulb_gemm_block *block, void *state)
{
    const size_t k_blocks = nest->begin(nest->cfg, block, state);
    for (size_t k = 0; k < k_blocks; k++) {
        nest->stage(nest->cfg, block, state, k);
        if (nest->pack_x)
            nest->pack_x(nest->cfg, block, state, k);
        for (size_t t = 0, some; t < block->tokens; t += some) {
            some = ulb_next_tokens(block->tokens - t, nest->tile);
            if (k + 1 == k_blocks)
                ulb_gemm_ask_y(nest, block, t, some);
            ulb_gemm_pass(nest, block, state, t, some);
        }
    }
    nest->finish(nest->cfg, block, state);
}

/* All of a call. */
static inline __attribute__((always_inline)) void ulb_gemm_blocked(const struct ulb_gemm_nest *nest,
                                                                   const struct ulb_gemm *g, void *state)
{
    struct ulb_gemm_block block = {.g = g};
    if (nest->layout) {
        block.steps = ulb_layout_steps(nest->layout, g->k);
        block.slice_bytes = ulb_layout_slice_bytes(nest->layout, g->m, g->k);
        block.scales = ulb_row_scales(g, nest->layout);
    }
    for (block.m = g->m0; block.m < g->m1; block.m += nest->rows) {
        for (block.n = 0; block.n < g->n; block.n += block.tokens) {
            block.tokens = ulb_next_n_block(g->n - block.n, nest->n_block);
            ulb_gemm_k_blocks(nest, &block, state);
        }
    }
}

/* Function `name`, a nest's pass(): a function of its own for each number of tokens, at most `tile`. Inlined
 * into the nest, GCC keeps sums in memory, and Clang does not unroll. all(state, t, tokens): the pass,
 * inlined; state is a `type *`. */
#define ULB_GEMM_PASS(name, type, all, tokens)                                                               \
    static __attribute__((noinline, unused)) void name(type *state, size_t t)                                \
    {                                                                                                        \
        all(state, t, tokens);                                                                               \
    }
#define ULB_GEMM_PASSES(name, type, tile, all)                                                               \
    ULB_GEMM_PASS(name##_1, type, all, 1)                                                                    \
    ULB_GEMM_PASS(name##_2, type, all, (tile) > 2 ? 2 : (tile))                                              \
    ULB_GEMM_PASS(name##_3, type, all, (tile) > 3 ? 3 : (tile))                                              \
    ULB_GEMM_PASS(name##_4, type, all, (tile) > 4 ? 4 : (tile))                                              \
    static inline __attribute__((always_inline)) void name(                                                  \
        const void *of, const struct ulb_gemm_block *block, void *state, size_t t, unsigned tokens)          \
    {                                                                                                        \
        (void)of, (void)block;                                                                               \
        (tokens == 4 ? name##_4 : tokens == 3 ? name##_3 : tokens == 2 ? name##_2 : name##_1)(state, t);     \
    }

#endif
