/* GEMM for more tokens than a register tile holds (kernels/x86/gemm/field_tile.h). A K-block stays in L1, or
 * partly in L2, while the tiles of an N-block iterate over it. Weights therefore come from memory once for an
 * N-block. Each pass prefetches its part of the next K-block into L2, so that memory works during all passes.
 * Passes over whole rows would wait for memory in the first pass and leave it idle in the others. int1 is
 * excluded: dot products are its limit, and K-blocks end passes more often. */
#ifndef ULB_KERNELS_X86_GEMM_FIELD_BLOCKED_H
#define ULB_KERNELS_X86_GEMM_FIELD_BLOCKED_H

enum {
    ULB_FIELD_K_BLOCK_BYTES = 49152,       /* of weights: L1, or L2 as fast as products take them */
    ULB_FIELD_SHORT_K_BLOCK_BYTES = 16384, /* L1, for a second pass of part of a tile */
    ULB_FIELD_N_BLOCK = 32,                /* whose sums, 16 KiB at most, wait between K-blocks */
    ULB_FIELD_K_BLOCK_VECTORS_MAX = 8,     /* of a token */
    ULB_CHUNK_DISTANCE = 1024              /* bytes, of a first pass's prefetches by default */
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

/* Computes one K-block for tokens [n, n + tokens). Lines are prefetched into L2, whatever the setting. two:
 * the first tile's activations, in a call of one tile and a part of another. The first pass of such a call
 * prefetches ahead in its own stream, and the hardware prefetchers follow it. The second pass prefetches half
 * of the next K-block. Both passes end before memory has answered prefetches of the next K-block alone. */
static inline __attribute__((always_inline)) void
ulb_field_k_block_passes(const struct ulb_field_tile_cfg *cfg, const struct ulb_gemm *g,
                         const struct ulb_tiles *tiles, size_t first, size_t steps, size_t n, size_t tokens,
                         struct ulb_tokens_x two, ulb_vec *totals)
{
    const unsigned each = cfg->vectors * cfg->fields;
    const size_t step_bytes = (size_t)cfg->vectors * ULB_VEC_BYTES, half = step_bytes / 2;
    const size_t passes = (tokens + cfg->tokens - 1) / cfg->tokens;
    struct ulb_field_k_block k_block = {.first = first,
                                        .steps = steps,
                                        .ask = (first + steps) * step_bytes,
                                        .ask_bytes = (step_bytes + passes - 1) / passes};
    size_t t = 0;
    if (two.at) {
        const size_t distance = g->prefetch.distance ? g->prefetch.distance : ULB_CHUNK_DISTANCE;
        const struct ulb_field_k_block itself = {first, steps, first * step_bytes + distance, step_bytes};
        ulb_field_k_block_pass(cfg, tiles, &itself, two, cfg->tokens, step_bytes, totals);
        t = cfg->tokens;
    }
    for (; t < tokens; t += cfg->tokens, k_block.ask += steps * k_block.ask_bytes) {
        if (tokens - t >= cfg->tokens)
            ulb_field_k_block_pass(cfg, tiles, &k_block, ulb_tokens_x(false, g, n + t, cfg->tokens),
                                   cfg->tokens, half, totals + t * each);
        else if (cfg->tokens > 3 && tokens - t == 3)
            ulb_field_k_block_pass(cfg, tiles, &k_block, ulb_tokens_x(false, g, n + t, 3), 3, half,
                                   totals + t * each);
        else if (cfg->tokens > 2 && tokens - t == 2)
            ulb_field_k_block_pass(cfg, tiles, &k_block, ulb_tokens_x(false, g, n + t, 2), 2, half,
                                   totals + t * each);
        else
            ulb_field_k_block_pass(cfg, tiles, &k_block, ulb_tokens_x(false, g, n + t, 1), 1, half,
                                   totals + t * each);
    }
}

/* Results of token n from its sums. */
static inline __attribute__((always_inline)) void
ulb_field_n_block_results(const struct ulb_field_tile_cfg *cfg, const struct ulb_gemm *g, size_t panel,
                          size_t n, ulb_vec *totals)
{
    const unsigned each = cfg->vectors * cfg->fields;
    int32_t dots[ULB_TILE_ROWS_MAX];
    cfg->separate(totals);
    ulb_store_all(dots, totals, (int)each);
    ulb_epilogue_tile(g, ulb_row_scales(g, cfg->layout), panel, (size_t)each * ULB_LANES, n, dots,
                      cfg->zero_point);
}

/* One row of tiles for tokens [n, n + tokens). */
static inline __attribute__((always_inline)) void
ulb_field_n_block_rows(const struct ulb_field_tile_cfg *cfg, const struct ulb_gemm *g,
                       const struct ulb_tiles *tiles, size_t panel, size_t n, size_t tokens,
                       struct ulb_tokens_x two)
{
    const unsigned each = cfg->vectors * cfg->fields;
    const size_t steps = (two.at ? ULB_FIELD_SHORT_K_BLOCK_BYTES : ULB_FIELD_K_BLOCK_BYTES) /
                         (cfg->slices * cfg->vectors * ULB_VEC_BYTES);
    ulb_vec totals[ULB_FIELD_N_BLOCK * ULB_FIELD_K_BLOCK_VECTORS_MAX];
    for (size_t i = 0; i < tokens * each; i++)
        totals[i] = ulb_zero();
    for (size_t first = 0; first < tiles->steps; first += steps) {
        size_t left = tiles->steps - first;
        ulb_field_k_block_passes(cfg, g, tiles, first, left < steps ? left : steps, n, tokens, two, totals);
    }
    for (size_t t = 0; t < tokens; t++)
        ulb_field_n_block_results(cfg, g, panel, n + t, totals + t * each);
}

/* Packs the first tile's activations if the call has one tile and a part of another. They are packed in
 * `room` if the kernel's own are packed. at is NULL for more tokens, and for more columns than `room`
 * holds. */
static inline __attribute__((always_inline)) struct ulb_tokens_x
ulb_first_of_two(const struct ulb_field_tile_cfg *cfg, const struct ulb_gemm *g,
                 int8_t room[ULB_PACKED_BYTES])
{
    const bool two = g->n < 2 * cfg->tokens;
    struct ulb_gemm tile = *g;
    tile.n = cfg->tokens;
    if (!ulb_may_pack(cfg)) {
        struct ulb_tokens_x x = ulb_tokens_x(false, g, 0, cfg->tokens);
        x.at = two ? x.at : NULL;
        return x;
    }
    if (!two || !ulb_tokens_packed(cfg, &tile))
        return (struct ulb_tokens_x){NULL, 4 * cfg->tokens, 4};
    ulb_pack_tokens(&tile, ulb_layout_steps(cfg->layout, g->k) * cfg->slices, room);
    return (struct ulb_tokens_x){room, 4 * cfg->tokens, 4};
}

static inline __attribute__((always_inline)) void ulb_run_field_k_blocks(const struct ulb_field_tile_cfg *cfg,
                                                                         const struct ulb_gemm *g)
{
    const size_t rows = (size_t)cfg->vectors * cfg->fields * ULB_LANES;
    struct ulb_tiles tiles = {.slice_bytes = ulb_layout_slice_bytes(cfg->layout, g->m, g->k),
                              .steps = ulb_layout_steps(cfg->layout, g->k)};
    const size_t row_bytes = tiles.steps * ulb_layout_tile_bytes(cfg->layout);
    _Alignas(64) int8_t room[ULB_PACKED_BYTES];
    const struct ulb_tokens_x two = ulb_first_of_two(cfg, g, room);
    for (size_t panel = g->m0; panel < g->m1; panel += rows) {
        tiles.w = (const uint8_t *)g->w + panel / rows * row_bytes;
        for (size_t n = 0; n < g->n; n += ULB_FIELD_N_BLOCK) {
            size_t left = g->n - n;
            ulb_field_n_block_rows(cfg, g, &tiles, panel, n,
                                   left < ULB_FIELD_N_BLOCK ? left : ULB_FIELD_N_BLOCK, two);
        }
    }
}

#endif
