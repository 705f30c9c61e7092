/* More tokens than a register tile holds (kernels/x86/gemm/field_tile.h): K-blocks stay in L1, or in L2
 * beside it, while the tiles of an N-block pass over them, one after the other, so that weights come from
 * memory once for the block. Each pass asks L2 for its part of the next K-block: memory works while all of
 * them compute, where passes over whole rows would wait for it in the first and leave it idle in the others.
 * Zen 5, cold, 16 tokens at 512 bits, against passes over whole rows: 4096x4096 int8 1.3, int4 1.15, int2
 * 1.05; 4096x14336, whose tiles do not fit L2, 1.5, 1.25 and 1.15. Not int1: products alone decide, and
 * passes end more often (0.9). */
#ifndef ULB_KERNELS_X86_GEMM_FIELD_BLOCKED_H
#define ULB_KERNELS_X86_GEMM_FIELD_BLOCKED_H

enum {
    ULB_FIELD_K_BLOCK_BYTES = 49152,       /* of weights: L1, or L2 as fast as products take them */
    ULB_FIELD_SHORT_K_BLOCK_BYTES = 16384, /* L1, for a second pass of part of a tile */
    ULB_FIELD_N_BLOCK = 32,                /* whose sums, 16 KiB at most, wait between K-blocks */
    ULB_FIELD_K_BLOCK_VECTORS_MAX = 8,     /* of a token */
    ULB_CHUNK_DISTANCE = 1024              /* bytes, of a first pass's prefetches by default */
};

/* Steps of a K-block, and what a pass asks for in each slice: of every step so many bytes, at most ask_most,
 * the first so far behind the slice's begin. */
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

/* One K-block for tokens [n, n + tokens); lines are prefetched into L2, whatever the setting. two: the first
 * tile's activations of a call of one tile and a part of another. The first pass asks for what lies ahead of
 * itself then, and the CPU's own prefetchers follow it; the second asks for half of the next K-block. These
 * passes are over sooner than memory answers to what is asked for alone (19 GB/s a core of Zen 5 of 27).
 * Against halves for both, no packing and K-blocks of 48 KiB, 4096x4096, 5, 6 and 7 tokens: int2 1.33, 1.22
 * and 1.22, int4 1.31, 1.11 and 1.11, int8 1.06, 1.06 and 1.11; of two whole tiles int8 1.1, int2 1.05, int4
 * 0.9. */
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

/* The first tile's activations of a call of one tile and a part of another, packed in room where the kernel's
 * are; at: NULL for calls of more tokens, and of more columns than there is room for. */
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
