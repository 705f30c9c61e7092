/* GEMM for more tokens than a register tile holds (kernels/x86/gemm/field_tile.h). A K-block stays in L1, or
 * partly in L2, while the tiles of an N-block iterate over it. Weights therefore come from memory once for an
 * N-block. Each pass prefetches its part of the next K-block into L2, so that memory works during all passes.
 * Passes over whole rows would wait for memory in the first pass and leave it idle in the others. int1 is
 * excluded: dot products are its limit, and K-blocks end passes more often. */
#ifndef ULB_KERNELS_X86_GEMM_FIELD_BLOCKED_H
#define ULB_KERNELS_X86_GEMM_FIELD_BLOCKED_H

#include "kernels/gemm_blocked.h"

enum {
    ULB_FIELD_K_BLOCK_VECTORS_MAX = 8, /* of a token */
    ULB_CHUNK_DISTANCE = 1024          /* bytes, of a first pass's prefetches by default */
};

/* Steps of a K-block, and the prefetches of a pass in each slice. A pass prefetches ask_bytes for each step,
 * at most ask_most in all. The first prefetched byte is `ask` bytes after the slice's begin. */
struct ulb_field_k_block {
    size_t first, steps, ask, ask_bytes;
};

/* totals[tokens][vectors][fields] += sums of a K-block. ask_most: a constant. */
static inline __attribute__((always_inline)) void
ulb_field_k_block_pass(const struct ulb_field_tile_cfg *cfg, const struct ulb_tiles *tiles,
                       const struct ulb_field_k_block *k_block, struct ulb_tokens_x x, unsigned tokens,
                       size_t ask_most, ulb_vec *totals)
{
    const unsigned all = cfg->vectors * cfg->fields * tokens, sets = ulb_tokens_sets(cfg, all);
    const size_t step_bytes = (size_t)cfg->vectors * ULB_VEC_BYTES;
    ulb_vec sums[ULB_ACCUMULATORS_MAX];
    ulb_zero_all(sums, sets * all);
    size_t ask = k_block->ask;
    for (size_t s = 0; s < k_block->steps; s++, ask += k_block->ask_bytes) {
        ULB_UNROLL(4)
        for (size_t i = 0; i < cfg->slices; i++) {
            const uint8_t *w = tiles->w + i * tiles->slice_bytes + (k_block->first + s) * step_bytes;
            ulb_tokens_step(cfg, tokens, w, x, i * tiles->steps + k_block->first + s, sums + i % sets * all);
            ULB_UNROLL(6)
            for (size_t line = 0; line < ask_most; line += ULB_LINE)
                ulb_prefetch_l2_from(tiles->w + i * tiles->slice_bytes, line, ask);
        }
    }
    ulb_add_sets(sums, sets, all);
    ULB_UNROLL(24)
    for (unsigned i = 0; i < all; i++)
        totals[i] = ulb_add32(totals[i], sums[i]);
}

/* An N-block's sums, and the K-block that they meet. Its prefetches are of L2, whatever the setting. two: the
 * first tile's activations, in a call of one tile and a part of another. The first pass of such a call
 * prefetches ahead in its own stream, and the hardware prefetchers follow it. The second pass prefetches half
 * of the next K-block. Both passes end before memory has answered prefetches of the next K-block alone. */
struct ulb_field_n_block {
    struct ulb_tiles tiles;
    const int8_t *two, *x;     /* x: of the first token */
    size_t x_stride, distance; /* distance: of a first pass's prefetches */
    struct ulb_field_k_block k_block;
    ulb_vec totals[ULB_GEMM_N_BLOCK_SUMS * ULB_FIELD_K_BLOCK_VECTORS_MAX];
};

static inline __attribute__((always_inline)) size_t
ulb_field_k_block_steps(const struct ulb_field_tile_cfg *cfg, const struct ulb_field_n_block *n_block)
{
    return (n_block->two ? ULB_GEMM_HALF_L1 : ULB_GEMM_BEYOND_L1) /
           (cfg->slices * cfg->vectors * ULB_VEC_BYTES);
}

static inline __attribute__((always_inline)) size_t
ulb_begin_field_n_block(const void *of, const struct ulb_gemm_block *block, void *state)
{
    const struct ulb_field_tile_cfg *cfg = of;
    struct ulb_field_n_block *n_block = state;
    const unsigned each = cfg->vectors * cfg->fields;
    const size_t steps = ulb_field_k_block_steps(cfg, n_block),
                 row_bytes = n_block->tiles.steps * ulb_layout_tile_bytes(cfg->layout);
    n_block->tiles.w = (const uint8_t *)block->g->w + block->m / (each * ULB_LANES) * row_bytes;
    n_block->x = (const int8_t *)block->g->x + block->n * block->g->x_stride;
    for (size_t i = 0; i < block->tokens * each; i++)
        n_block->totals[i] = ulb_zero();
    return (n_block->tiles.steps + steps - 1) / steps;
}

static inline __attribute__((always_inline)) void
ulb_stage_field_k_block(const void *of, const struct ulb_gemm_block *block, void *state, size_t k)
{
    const struct ulb_field_tile_cfg *cfg = of;
    struct ulb_field_n_block *n_block = state;
    const size_t most = ulb_field_k_block_steps(cfg, n_block), first = k * most,
                 left = n_block->tiles.steps - first, steps = left < most ? left : most,
                 step_bytes = (size_t)cfg->vectors * ULB_VEC_BYTES;
    n_block->k_block = (struct ulb_field_k_block){
        .first = first,
        .steps = steps,
        .ask = (first + steps) * step_bytes,
        .ask_bytes = ulb_gemm_share(step_bytes, ulb_gemm_tiles(block->tokens, cfg->tokens))};
}

static inline __attribute__((always_inline)) void ulb_pass_field_k_block(const struct ulb_field_tile_cfg *cfg,
                                                                         struct ulb_field_n_block *n_block,
                                                                         size_t t, unsigned tokens)
{
    const struct ulb_tiles tiles = n_block->tiles;
    const struct ulb_field_k_block k_block = n_block->k_block;
    const size_t step_bytes = (size_t)cfg->vectors * ULB_VEC_BYTES;
    const struct ulb_tokens_x x = {n_block->x + t * n_block->x_stride, 4, n_block->x_stride};
    ulb_vec *totals = n_block->totals + t * cfg->vectors * cfg->fields;
    if (t == 0 && n_block->two) {
        const struct ulb_field_k_block itself = {k_block.first, k_block.steps,
                                                 k_block.first * step_bytes + n_block->distance, step_bytes};
        const struct ulb_tokens_x packed = {n_block->two, 4 * tokens, 4};
        ulb_field_k_block_pass(cfg, &tiles, &itself, ulb_may_pack(cfg) ? packed : x, tokens, step_bytes,
                               totals);
        return;
    }
    ulb_field_k_block_pass(cfg, &tiles, &k_block, x, tokens, step_bytes / 2, totals);
    n_block->k_block.ask += k_block.steps * k_block.ask_bytes;
}

static inline __attribute__((always_inline)) void
ulb_finish_field_n_block(const void *of, const struct ulb_gemm_block *block, void *state)
{
    const struct ulb_field_tile_cfg *cfg = of;
    struct ulb_field_n_block *n_block = state;
    const unsigned each = cfg->vectors * cfg->fields;
    for (size_t t = 0; t < block->tokens; t++) {
        int32_t dots[ULB_TILE_ROWS_MAX];
        cfg->separate(n_block->totals + t * each);
        ulb_store_all(dots, n_block->totals + t * each, (int)each);
        ulb_epilogue_tile(block->g, block->scales, block->m, (size_t)each * ULB_LANES, block->n + t, dots,
                          cfg->zero_point);
    }
}

/* The first tile's activations if the call has one tile and a part of another. They are packed in `room` if
 * the kernel's own are packed. NULL for more tokens, and for more columns than `room` holds. */
static inline __attribute__((always_inline)) const int8_t *
ulb_first_of_two(const struct ulb_field_tile_cfg *cfg, const struct ulb_gemm *g,
                 int8_t room[ULB_PACKED_BYTES])
{
    struct ulb_gemm tile = *g;
    tile.n = ulb_next_tokens(g->n, cfg->tokens);
    if (g->n >= 2 * cfg->tokens)
        return NULL;
    if (!ulb_may_pack(cfg))
        return g->x;
    if (!ulb_tokens_packed(cfg, &tile))
        return NULL;
    ulb_pack_tokens(&tile, ulb_layout_steps(cfg->layout, g->k) * cfg->slices, room);
    return room;
}

static inline __attribute__((always_inline)) void
ulb_run_field_k_blocks(const struct ulb_field_tile_cfg *cfg, ulb_gemm_pass_fn *pass, const struct ulb_gemm *g)
{
    const struct ulb_gemm_nest nest = {.cfg = cfg,
                                       .layout = cfg->layout,
                                       .rows = (size_t)cfg->vectors * cfg->fields * ULB_LANES,
                                       .n_block = ULB_GEMM_N_BLOCK_SUMS,
                                       .least = cfg->tokens > 2 ? 2 : 1,
                                       .tile = cfg->tokens,
                                       .begin = ulb_begin_field_n_block,
                                       .stage = ulb_stage_field_k_block,
                                       .pass = pass,
                                       .finish = ulb_finish_field_n_block};
    _Alignas(64) int8_t room[ULB_PACKED_BYTES];
    struct ulb_field_n_block n_block = {
        .tiles = {.slice_bytes = ulb_layout_slice_bytes(cfg->layout, g->m, g->k),
                  .steps = ulb_layout_steps(cfg->layout, g->k)},
        .two = ulb_first_of_two(cfg, g, room),
        .x_stride = g->x_stride,
        .distance = g->prefetch.distance ? g->prefetch.distance : ULB_CHUNK_DISTANCE};
    ulb_gemm_blocked(&nest, g, &n_block);
}

#endif
