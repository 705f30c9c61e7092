/* More tokens than a register tile holds (kernels/x86/gemm/field_tile.h): chunks of columns stay in L1, or in
 * L2 beside it, while the tiles of a block of tokens pass over them, one after the other, so that weights
 * come from memory once for the block. Each pass asks L2 for its part of the next chunk: memory works while
 * all of them compute, where passes over whole rows would wait for it in the first and leave it idle in the
 * others. Zen 5, cold, 16 tokens at 512 bits, against passes over whole rows: 4096x4096 int8 1.3, int4 1.15,
 * int2 1.05; 4096x14336, whose tiles do not fit L2, 1.5, 1.25 and 1.15. Not int1: products alone decide, and
 * passes end more often (0.9). */
#ifndef ULB_KERNELS_X86_GEMM_FIELD_BLOCKED_H
#define ULB_KERNELS_X86_GEMM_FIELD_BLOCKED_H

enum {
    ULB_CHUNK_BYTES = 49152,       /* of weights: L1, or L2 as fast as products take them */
    ULB_SHORT_CHUNK_BYTES = 16384, /* L1, for a second pass of part of a tile */
    ULB_CHUNK_TOKENS = 32,         /* whose sums, 16 KiB at most, wait between chunks */
    ULB_CHUNK_VECTORS_MAX = 8,     /* of a token */
    ULB_CHUNK_AHEAD = 1024         /* bytes that a first pass prefetches ahead by default */
};

/* Steps of a chunk, and what a pass asks for in each slice: of every step so many bytes, at most ask_most,
 * the first so far behind the slice's begin. */
struct ulb_chunk {
    size_t first, steps, ask, ask_bytes;
};

/* totals[tokens][vectors][fields] += sums of a chunk. ask_most: a constant. */
static inline __attribute__((always_inline)) void
ulb_chunk_pass(const struct ulb_tokens *row, const struct ulb_tiles *tiles, const struct ulb_chunk *chunk,
               struct ulb_tokens_x x, unsigned tokens, size_t ask_most, ulb_vec *totals)
{
    const unsigned all = row->vectors * row->fields * tokens, sets = ulb_tokens_sets(row, all);
    const size_t step_bytes = (size_t)row->vectors * ULB_VEC_BYTES;
    ulb_vec sums[ULB_ACCUMULATORS_MAX];
    ulb_zero_all(sums, sets * all);
    size_t ask = chunk->ask;
    for (size_t s = 0; s < chunk->steps; s++, ask += chunk->ask_bytes) {
        ULB_UNROLL(4)
        for (size_t i = 0; i < row->slices; i++) {
            const uint8_t *w = tiles->w + i * tiles->slice_bytes + (chunk->first + s) * step_bytes;
            ulb_tokens_step(row, tokens, w, x, i * tiles->steps + chunk->first + s, sums + i % sets * all);
            ULB_UNROLL(6)
            for (size_t line = 0; line < ask_most; line += ULB_LINE)
                ulb_ask_l2_from(tiles->w + i * tiles->slice_bytes, line, ask);
        }
    }
    ulb_add_sets(sums, sets, all);
    ULB_UNROLL(24)
    for (unsigned i = 0; i < all; i++)
        totals[i] = ulb_add32(totals[i], sums[i]);
}

/* One chunk for tokens [n, n + tokens); lines are prefetched into L2, whatever the setting. two: the first
 * tile's activations of a call of one tile and a part of another. The first pass asks for what lies ahead of
 * itself then, and the CPU's own prefetchers follow it; the second asks for half of the next chunk. These
 * passes are over sooner than memory answers to what is asked for alone (19 GB/s a core of Zen 5 of 27).
 * Against halves for both, no packing and chunks of 48 KiB, 4096x4096, 5, 6 and 7 tokens: int2 1.33, 1.22
 * and 1.22, int4 1.31, 1.11 and 1.11, int8 1.06, 1.06 and 1.11; of two whole tiles int8 1.1, int2 1.05, int4
 * 0.9. */
static inline __attribute__((always_inline)) void
ulb_chunk_passes(const struct ulb_tokens *row, const struct ulb_gemm *g, const struct ulb_tiles *tiles,
                 size_t first, size_t steps, size_t n, size_t tokens, struct ulb_tokens_x two,
                 ulb_vec *totals)
{
    const unsigned each = row->vectors * row->fields;
    const size_t step_bytes = (size_t)row->vectors * ULB_VEC_BYTES, half = step_bytes / 2;
    const size_t passes = (tokens + row->tokens - 1) / row->tokens;
    struct ulb_chunk chunk = {.first = first,
                              .steps = steps,
                              .ask = (first + steps) * step_bytes,
                              .ask_bytes = (step_bytes + passes - 1) / passes};
    size_t t = 0;
    if (two.at) {
        const size_t ahead = g->prefetch ? g->prefetch : ULB_CHUNK_AHEAD;
        const struct ulb_chunk itself = {first, steps, first * step_bytes + ahead, step_bytes};
        ulb_chunk_pass(row, tiles, &itself, two, row->tokens, step_bytes, totals);
        t = row->tokens;
    }
    for (; t < tokens; t += row->tokens, chunk.ask += steps * chunk.ask_bytes) {
        if (tokens - t >= row->tokens)
            ulb_chunk_pass(row, tiles, &chunk, ulb_tokens_x(false, g, n + t, row->tokens), row->tokens, half,
                           totals + t * each);
        else if (row->tokens > 3 && tokens - t == 3)
            ulb_chunk_pass(row, tiles, &chunk, ulb_tokens_x(false, g, n + t, 3), 3, half, totals + t * each);
        else if (row->tokens > 2 && tokens - t == 2)
            ulb_chunk_pass(row, tiles, &chunk, ulb_tokens_x(false, g, n + t, 2), 2, half, totals + t * each);
        else
            ulb_chunk_pass(row, tiles, &chunk, ulb_tokens_x(false, g, n + t, 1), 1, half, totals + t * each);
    }
}

/* Results of token n from its sums. */
static inline __attribute__((always_inline)) void ulb_chunk_results(const struct ulb_tokens *row,
                                                                    const struct ulb_gemm *g, size_t panel,
                                                                    size_t n, ulb_vec *totals)
{
    const unsigned each = row->vectors * row->fields;
    int32_t dots[ULB_TILE_ROWS_MAX];
    row->combine(totals);
    ulb_store_all(dots, totals, (int)each);
    ulb_finish_tile(g, ulb_row_scales(g, row->layout), panel, (size_t)each * ULB_LANES, n, dots,
                    row->zero_point);
}

/* One row of tiles for tokens [n, n + tokens). */
static inline __attribute__((always_inline)) void
ulb_chunk_rows(const struct ulb_tokens *row, const struct ulb_gemm *g, const struct ulb_tiles *tiles,
               size_t panel, size_t n, size_t tokens, struct ulb_tokens_x two)
{
    const unsigned each = row->vectors * row->fields;
    const size_t steps =
        (two.at ? ULB_SHORT_CHUNK_BYTES : ULB_CHUNK_BYTES) / (row->slices * row->vectors * ULB_VEC_BYTES);
    ulb_vec totals[ULB_CHUNK_TOKENS * ULB_CHUNK_VECTORS_MAX];
    for (size_t i = 0; i < tokens * each; i++)
        totals[i] = ulb_zero();
    for (size_t first = 0; first < tiles->steps; first += steps) {
        size_t left = tiles->steps - first;
        ulb_chunk_passes(row, g, tiles, first, left < steps ? left : steps, n, tokens, two, totals);
    }
    for (size_t t = 0; t < tokens; t++)
        ulb_chunk_results(row, g, panel, n + t, totals + t * each);
}

/* The first tile's activations of a call of one tile and a part of another, packed in room where the row's
 * are; at: NULL for calls of more tokens, and of more columns than there is room for. */
static inline __attribute__((always_inline)) struct ulb_tokens_x
ulb_first_of_two(const struct ulb_tokens *row, const struct ulb_gemm *g, int8_t room[ULB_PACKED_BYTES])
{
    const bool two = g->n < 2 * row->tokens;
    struct ulb_gemm tile = *g;
    tile.n = row->tokens;
    if (!ulb_may_pack(row)) {
        struct ulb_tokens_x x = ulb_tokens_x(false, g, 0, row->tokens);
        x.at = two ? x.at : NULL;
        return x;
    }
    if (!two || !ulb_tokens_packed(row, &tile))
        return (struct ulb_tokens_x){NULL, 4 * row->tokens, 4};
    ulb_pack_tokens(&tile, ulb_layout_steps(row->layout, g->k) * row->slices, room);
    return (struct ulb_tokens_x){room, 4 * row->tokens, 4};
}

static inline __attribute__((always_inline)) void ulb_run_token_chunks(const struct ulb_tokens *row,
                                                                       const struct ulb_gemm *g)
{
    const size_t rows = (size_t)row->vectors * row->fields * ULB_LANES;
    struct ulb_tiles tiles = {.slice_bytes = ulb_layout_slice_bytes(row->layout, g->m, g->k),
                              .steps = ulb_layout_steps(row->layout, g->k)};
    const size_t row_bytes = tiles.steps * ulb_layout_tile_bytes(row->layout);
    _Alignas(64) int8_t room[ULB_PACKED_BYTES];
    const struct ulb_tokens_x two = ulb_first_of_two(row, g, room);
    for (size_t panel = g->m0; panel < g->m1; panel += rows) {
        tiles.w = (const uint8_t *)g->w + panel / rows * row_bytes;
        for (size_t n = 0; n < g->n; n += ULB_CHUNK_TOKENS) {
            size_t left = g->n - n;
            ulb_chunk_rows(row, g, &tiles, panel, n, left < ULB_CHUNK_TOKENS ? left : ULB_CHUNK_TOKENS, two);
        }
    }
}

#endif
