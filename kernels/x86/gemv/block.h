/* The K-loop of every repacked block-format kernel over its tiles (kernels/pack/block_interleave.h). Lanes
 * are rows. What groups of columns make is kernels/x86/gemv/block_group_sums.h; blocks add up in single
 * precision, with three roundings each.
 *
 * The slices of K are address streams (see kernels/x86/gemv/k_slices.h). */
#ifndef ULB_KERNELS_X86_GEMV_BLOCK_H
#define ULB_KERNELS_X86_GEMV_BLOCK_H

#include "kernels/x86/gemv/block_group_sums.h"

/* One block: its tile, and its activations. */
struct ulb_block_at {
    const uint8_t *tile;
    const int8_t *x;
    const int16_t *sums;
    const float *scale;
};

/* results += the sums of a block, scaled by d and reduced by its minima. d and minima lie after the codes, at
 * d_at and minima_at in the tile. ask: prefetches for the lines ahead of them. */
static inline __attribute__((always_inline)) void
ulb_epilogue_block(const struct ulb_block_cfg *cfg, struct ulb_prefetch_setting prefetch, size_t minima_at,
                   size_t d_at, const struct ulb_block_at *x, const ulb_floats *block, bool ask,
                   ulb_floats *results)
{
    const uint8_t *at = x->tile + d_at;
    size_t vectors = ulb_block_vectors(cfg), rows = vectors * ULB_LANES;
    size_t share = (cfg->tile_bytes - minima_at) / vectors;
    ulb_floats x_scale = ulb_all_floats(cfg->powers ? *x->scale / 2 : *x->scale);
#pragma GCC unroll 12
    for (size_t v = 0; v < vectors; v++) {
        ulb_floats d = cfg->powers ? ulb_load_powers(at + v * ULB_LANES)
                                   : ulb_load_halves(at + v * ULB_LANES * sizeof(uint16_t));
        if (ask && cfg->minima == ULB_NO_MINIMA)
            ulb_prefetch_lines(cfg, prefetch, x->tile, minima_at + v * share, share, (ulb_vec *)&d, 1);
        ulb_floats sum = ulb_scales_integers(cfg) ? ulb_to_floats(((const ulb_vec *)block)[v]) : block[v];
        results[v] = ulb_fma(sum, cfg->scales_sums ? d : ulb_mul(d, x_scale), results[v]);
    }
    if (cfg->minima == ULB_NO_MINIMA)
        return;
    struct ulb_sum_quads quads;
    if (cfg->minima != ULB_ONE_MINIMUM)
        quads = ulb_split_sums(x->sums, cfg->columns / cfg->group);
#pragma GCC unroll 12
    for (size_t v = 0; v < vectors; v++) {
        ulb_floats dmin = ulb_load_halves(at + (rows + v * ULB_LANES) * sizeof(uint16_t)), sum;
        if (cfg->minima == ULB_ONE_MINIMUM)
            sum = ulb_to_floats(ulb_all_x_sums(x->sums, 1));
        else
            sum = ulb_sum_minima(cfg->minima, x->tile + minima_at + v * ULB_VEC_BYTES, rows * 4, &quads);
        if (ask)
            ulb_prefetch_lines(cfg, prefetch, x->tile, minima_at + v * share, share, (ulb_vec *)&sum, 1);
        sum = ulb_mul(sum, x_scale);
        /* d of shifted values has the factor that the epilogue takes off; a minimum has not. */
        sum = ulb_mul(sum, ulb_all_floats((float)(1 << cfg->codes->shift(v % cfg->codes->rows))));
        results[v] = ulb_fnma(dmin, sum, results[v]);
    }
}

/* results += one block of each slice. The slices alternate after some groups: streams that alternate after
 * more than a page are read one after the other. */
static inline __attribute__((always_inline)) void ulb_add_blocks(const struct ulb_block_cfg *cfg,
                                                                 struct ulb_prefetch_setting prefetch,
                                                                 const struct ulb_block_at *at,
                                                                 ulb_floats *results)
{
    size_t groups = cfg->columns / cfg->group, rows = ulb_block_vectors(cfg) * ULB_LANES;
    size_t turn = ulb_turn_groups(cfg), minima_at = ulb_scales_at(cfg, groups);
    size_t d_at = minima_at + ulb_minima_bytes(cfg->minima, rows, groups);
    ulb_floats block[ULB_BLOCK_SLICES][ULB_BLOCK_VECTORS_MAX];
#pragma GCC unroll 24
    for (size_t i = 0; i < ULB_BLOCK_SLICES * ulb_block_vectors(cfg); i++)
        block[i / ulb_block_vectors(cfg)][i % ulb_block_vectors(cfg)] = ulb_no_floats();
    struct ulb_groups_at turns[ULB_BLOCK_SLICES];
    int32_t zeros[ULB_BLOCK_SLICES][ULB_ZERO_FACTORS][ULB_SHORT_GROUPS];
#pragma GCC unroll 4
    for (size_t i = 0; i < ULB_BLOCK_SLICES; i++) {
        if (cfg->zero_point && cfg->group == ULB_SUM_COLUMNS && !ULB_S16_SUMS)
            ulb_scale_zeros(cfg, at[i].sums, zeros[i]);
        turns[i] = (struct ulb_groups_at){at[i].tile, at[i].x, at[i].sums, zeros[i][0], at[i].scale};
    }
    for (size_t g = 0; g < groups; g += turn) {
        ulb_add_turn(cfg, prefetch, turns, block);
#pragma GCC unroll 4
        for (size_t i = 0; i < ULB_BLOCK_SLICES; i++) {
            turns[i].w += ulb_scales_at(cfg, turn);
            turns[i].x += cfg->group * turn;
            turns[i].sums += cfg->group / ULB_SUM_COLUMNS * turn;
            turns[i].zeros += turn;
        }
    }
#pragma GCC unroll 4
    for (size_t i = 0; i < ULB_BLOCK_SLICES; i++)
        ulb_epilogue_block(cfg, prefetch, minima_at, d_at, &at[i], block[i], true, results);
}

/* Results are used once in a block of several groups, whose sums need the 16 registers. GCC 12 would keep the
 * results in registers and the sums of a block in memory. */
static inline __attribute__((always_inline)) void ulb_keep_in_memory(const struct ulb_block_cfg *cfg,
                                                                     ulb_floats *results)
{
    if (ULB_S16_SUMS || ULB_BY_ENCODING(false, true) || cfg->columns == cfg->group)
        return;
    ULB_UNROLL(12)
    for (size_t v = 0; v < ulb_block_vectors(cfg); v++)
        __asm__("" : "+m"(results[v]));
}

/* Results lose the power of two that values of their codes are too large by. */
static inline __attribute__((always_inline)) void ulb_store_results(const struct ulb_block_cfg *cfg,
                                                                    const ulb_floats *results, float *y)
{
#pragma GCC unroll 12
    for (size_t v = 0; v < ulb_block_vectors(cfg); v++) {
        float factor = 1.0f / (float)(1 << cfg->codes->shift(v % cfg->codes->rows));
        ulb_store_floats(y + v * ULB_LANES,
                         factor == 1 ? results[v] : ulb_mul(results[v], ulb_all_floats(factor)));
    }
}

/* One row of tiles, or two side by side, count, a constant, and one token; y: the rows' results. */
static inline __attribute__((always_inline)) void ulb_k_loop_blocks(const struct ulb_block_cfg *cfg,
                                                                    struct ulb_prefetch_setting prefetch,
                                                                    const struct ulb_tiles *tiles,
                                                                    size_t count, const float *x_scale,
                                                                    const int16_t *x_sums, float *const y[])
{
    ulb_floats results[2][ULB_BLOCK_VECTORS_MAX];
    size_t vectors = ulb_block_vectors(cfg);
#pragma GCC unroll 24
    for (size_t v = 0; v < count * vectors; v++)
        results[v / vectors][v % vectors] = ulb_no_floats();
    struct ulb_block_at at[ULB_BLOCK_SLICES];
#pragma GCC unroll 4
    for (size_t i = 0; i < ULB_BLOCK_SLICES; i++) {
        size_t b = i * tiles->steps;
        at[i] = (struct ulb_block_at){.tile = tiles->w + i * tiles->slice_bytes,
                                      .x = tiles->x + b * cfg->columns,
                                      .sums = x_sums + b * cfg->columns / ULB_SUM_COLUMNS,
                                      .scale = x_scale + (cfg->activation == ULB_ACT_A8 ? 0 : b)};
    }
    for (size_t s = 0; s < tiles->steps; s++) {
#pragma GCC unroll 2
        for (size_t p = 0; p < count; p++) {
            struct ulb_block_at of_tile[ULB_BLOCK_SLICES];
#pragma GCC unroll 4
            for (size_t i = 0; i < ULB_BLOCK_SLICES; i++) {
                of_tile[i] = at[i];
                of_tile[i].tile += p * tiles->tile_distance;
            }
            ulb_keep_in_memory(cfg, results[p]);
            ulb_add_blocks(cfg, prefetch, of_tile, results[p]);
        }
#pragma GCC unroll 4
        for (size_t i = 0; i < ULB_BLOCK_SLICES; i++) {
            at[i].tile += cfg->tile_bytes;
            at[i].x += cfg->columns;
            at[i].sums += cfg->columns / ULB_SUM_COLUMNS;
            at[i].scale += cfg->activation == ULB_ACT_A8 ? 0 : 1;
        }
    }
#pragma GCC unroll 2
    for (size_t p = 0; p < count; p++)
        ulb_store_results(cfg, results[p], y[p]);
}

/* y = the results of `count` rows of tiles, the first at tiles, for token n. With cfg->tile_pairs the two
 * halves of the batch are read side by side, and a remaining row of tiles alone. Two streams leave fast
 * memory idle if a block has few bytes. Formats with more bytes a block do not gain. VEX does not gain if
 * table look-ups fill the registers. */
static inline __attribute__((always_inline)) void
ulb_k_loop_batch(const struct ulb_block_cfg *cfg, struct ulb_prefetch_setting prefetch,
                 const struct ulb_gemm *g, struct ulb_tiles tiles, size_t count, size_t n, float *y)
{
    const size_t rows = ulb_block_vectors(cfg) * ULB_LANES, row_bytes = tiles.steps * cfg->tile_bytes;
    const size_t half = cfg->tile_pairs ? count / 2 : 0;
    const float *x_scale = g->x_scale + n * g->x_scale_stride;
    const int16_t *x_sums = g->x_sums + n * g->x_sums_stride;
    tiles.x = (const int8_t *)g->x + n * g->x_stride;
    tiles.tile_distance = half * row_bytes;
    for (size_t i = 0; i < half; i++, tiles.w += row_bytes)
        ulb_k_loop_blocks(cfg, prefetch, &tiles, 2, x_scale, x_sums,
                          (float *const[]){y + i * rows, y + (i + half) * rows});
    tiles.w += tiles.tile_distance;
    for (size_t i = 2 * half; i < count; i++, tiles.w += row_bytes)
        ulb_k_loop_blocks(cfg, prefetch, &tiles, 1, x_scale, x_sums, (float *const[]){y + i * rows});
}

/* The loop over rows of tiles and tokens. */
static inline __attribute__((always_inline)) void ulb_run_blocks_ahead(const struct ulb_gemm *g,
                                                                       const struct ulb_block_cfg *cfg,
                                                                       struct ulb_prefetch_setting prefetch)
{
    struct ulb_tiles tiles = {.slice_bytes = ulb_layout_slice_bytes(cfg->layout, g->m, g->k),
                              .steps = ulb_layout_steps(cfg->layout, g->k)};
    size_t rows = ulb_block_vectors(cfg) * ULB_LANES;
    size_t batch = ulb_batch(g, cfg->layout, cfg->tile_pairs ? 2 * rows : rows);
    for (size_t m = g->m0; m < g->m1; m += batch) {
        size_t end = ulb_batch_end(g, m, batch);
        tiles.w = (const uint8_t *)g->w + m / rows * tiles.steps * cfg->tile_bytes;
        for (size_t n = 0; n < g->n; n++) {
            float some[ULB_BATCH_ROWS], *y = g->y + n * g->y_stride + m;
            ulb_k_loop_batch(cfg, prefetch, g, tiles, (end - m + rows - 1) / rows, n, some);
            /* A copy after several tiles: y is a stream of its own, and writing it after each tile is slower.
             * The loop is not a copy of one tile, for which GCC uses a slow string instruction. */
            for (size_t i = 0; i < end - m; i++)
                y[i] = some[i];
        }
    }
}

/* Three code variants: a branch at every prefetch took up to 2 % of gamma. */
static inline __attribute__((always_inline)) void ulb_run_blocks(const struct ulb_gemm *g,
                                                                 const struct ulb_block_cfg *cfg)
{
    ULB_SPECIALISE_PREFETCH(g->prefetch, ulb_run_blocks_ahead(g, cfg, prefetch));
}

#endif
