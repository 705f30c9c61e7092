/* Repacked block formats for several tokens at once, as many as the registers hold sums for. Each vector of
 * codes is loaded and unpacked once for all tokens. Scales and minima are converted once. Groups and blocks
 * end as in the GEMV (kernels/x86/gemv/block.h). Codes whose bits lie in several bytes are unpacked to memory
 * from 4 tokens on, VEX codebooks from 5 (kernels/x86/gemm/block_unpacked_vnni.h). This file computes fewer
 * tokens of such formats. The 16 registers of VEX hold only two tokens of some formats. */
#ifndef ULB_KERNELS_X86_GEMM_BLOCK_TILE_H
#define ULB_KERNELS_X86_GEMM_BLOCK_TILE_H

#include "kernels/gemm_blocked.h"
#include "kernels/x86/gemv/block.h"

enum {
    ULB_BLOCK_TOKENS_MAX = 4,
    /* Registers for sums. Fewer are free if a block has sums of its own besides those of its groups. */
    ULB_TOKEN_SUMS_OF_BLOCKS = ULB_BY_ENCODING(12, 24),
    ULB_TOKEN_SUMS_OF_GROUPS = ULB_BY_ENCODING(8, 16)
};

/* Tokens of a register tile of kernels with so many sums each: a constant for initializers. */
#define ULB_BLOCK_TOKENS(sums, scales)                                                                       \
    ULB_TOKENS_THAT_FIT((scales) == ULB_NO_GROUPS ? ULB_TOKEN_SUMS_OF_BLOCKS : ULB_TOKEN_SUMS_OF_GROUPS, sums)
#define ULB_TOKENS_THAT_FIT(room, sums)                                                                      \
    ((room) / (sums) > ULB_BLOCK_TOKENS_MAX ? ULB_BLOCK_TOKENS_MAX : (room) < (sums) ? 1 : (room) / (sums))

/* A token's activations of a step: where they lie, and in every lane. */
struct ulb_token_x {
    const int8_t *at;
    ulb_vec all;
};

/* Loads a vector of bytes once and in this place. GCC would load it again for each use. Clang would move all
 * loads together, which needs more registers than VEX has. */
static inline ulb_vec ulb_load_packed(const uint8_t *w)
{
    ulb_vec packed;
#if defined(__clang__) && defined(ULB_DP_VEX)
    __asm__ volatile(ULB_MOVE " %1, %0" : "=" ULB_REGISTER(packed) : ULB_WEIGHTS(w));
#else
    packed = ulb_load(w);
    __asm__("" : "+" ULB_REGISTER(packed));
#endif
    return packed;
}

/* groups[tokens].sums += one step of a set of vectors at w. */
static inline __attribute__((always_inline)) void
ulb_add_to_tokens(const struct ulb_codes *codes, const uint8_t *w, const struct ulb_token_x *x,
                  unsigned tokens, size_t set, struct ulb_group_sums *groups)
{
    ulb_vec packed[ULB_BLOCK_BYTES_MAX];
    if (codes->pair && tokens == 2) {
        const size_t at = set * codes->sums;
        codes->pair(w, x[0].all, x[1].all, groups[0].sums + at, groups[1].sums + at);
        return;
    }
    ULB_UNROLL(5)
    for (size_t i = 0; i < codes->bytes; i++)
        packed[i] = ulb_load_packed(w + i * ULB_VEC_BYTES);
    ULB_UNROLL(12)
    for (size_t i = 0; i < codes->sums; i++) {
        const ulb_vec operand = codes->operand(packed, i);
        ULB_UNROLL(4)
        for (unsigned t = 0; t < tokens; t++)
            if (t < ULB_TOKENS_KEPT(tokens))
                ulb_dot(&groups[t].sums[set * codes->sums + i], operand, x[t].all);
            else
                ulb_dot_at(&groups[t].sums[set * codes->sums + i], operand, x[t].at);
    }
}

/* Adds all steps of group g, a constant. Two steps alternate, so that whole lines are read. */
static inline __attribute__((always_inline)) void
ulb_add_token_steps(const struct ulb_block_cfg *cfg, struct ulb_prefetch_setting prefetch,
                    const struct ulb_groups_at *at, unsigned tokens, size_t g, struct ulb_group_sums *groups)
{
    const struct ulb_codes *codes = cfg->codes;
    const size_t set_bytes = codes->bytes * ULB_VEC_BYTES, step_bytes = cfg->sets * set_bytes;
#ifdef __clang__
#pragma clang loop unroll_count(4) /* a short group is no loop: Clang spills all sums of such a one */
#endif
    for (size_t s = 0; s < cfg->group / 4; s += 2) {
        const uint8_t *w = at->w + s * step_bytes;
        ULB_UNROLL(2)
        for (size_t u = 0; u < 2; u++) {
            struct ulb_token_x x[ULB_BLOCK_TOKENS_MAX];
            ULB_UNROLL(4)
            for (unsigned t = 0; t < tokens; t++) {
                x[t].at = at[t].x + g * cfg->group + 4 * (s + u);
                x[t].all = ulb_broadcast4(x[t].at);
            }
            ULB_UNROLL(6)
            for (size_t set = 0; set < cfg->sets; set++) {
                size_t set_at = ulb_codes_at(cfg, g) + u * step_bytes + set * set_bytes;
                ulb_add_to_tokens(codes, w + set_at, x, tokens, set, groups);
                ulb_prefetch_lines(cfg, prefetch, w, set_at, set_bytes, groups->sums + set * codes->sums,
                                   codes->sums);
            }
        }
    }
}

/* block[tokens] += some groups of each slice. */
static inline __attribute__((always_inline)) void
ulb_add_token_turn(const struct ulb_block_cfg *cfg, struct ulb_prefetch_setting prefetch,
                   const struct ulb_groups_at *at, unsigned tokens,
                   ulb_floats (*block)[ULB_BLOCK_VECTORS_MAX])
{
    ULB_UNROLL(2)
    for (size_t g = 0; g < ulb_turn_groups(cfg); g++) {
        struct ulb_group_sums groups[ULB_BLOCK_TOKENS_MAX];
        ULB_UNROLL(4)
        for (unsigned t = 0; t < tokens; t++)
            ulb_start_group(cfg, &at[t], g, &groups[t]);
        ulb_add_token_steps(cfg, prefetch, at, tokens, g, groups);
        ULB_UNROLL(4)
        for (unsigned t = 0; t < tokens; t++)
            ulb_end_group(cfg, prefetch, &at[t], g, &groups[t], t == 0, block[t]);
    }
}

/* results[tokens] += one block of one slice. */
static inline __attribute__((always_inline)) void
ulb_add_token_block(const struct ulb_block_cfg *cfg, struct ulb_prefetch_setting prefetch,
                    const struct ulb_block_at *at, unsigned tokens,
                    ulb_floats (*results)[ULB_BLOCK_VECTORS_MAX])
{
    const size_t groups = cfg->columns / cfg->group, rows = ulb_block_vectors(cfg) * ULB_LANES;
    const size_t turn = ulb_turn_groups(cfg), minima_at = ulb_scales_at(cfg, groups);
    const size_t d_at = minima_at + ulb_minima_bytes(cfg->minima, rows, groups);
    ulb_floats block[ULB_BLOCK_TOKENS_MAX][ULB_BLOCK_VECTORS_MAX];
    int32_t zeros[ULB_BLOCK_TOKENS_MAX][ULB_ZERO_FACTORS][ULB_SHORT_GROUPS];
    struct ulb_groups_at turns[ULB_BLOCK_TOKENS_MAX];
    ULB_UNROLL(4)
    for (unsigned t = 0; t < tokens; t++) {
        if (cfg->zero_point && cfg->group == ULB_SUM_COLUMNS)
            ulb_scale_zeros(cfg, at[t].sums, zeros[t]);
        turns[t] = (struct ulb_groups_at){at[t].tile, at[t].x, at[t].sums, zeros[t][0], at[t].scale};
        ULB_UNROLL(12)
        for (size_t v = 0; v < ulb_block_vectors(cfg); v++)
            block[t][v] = ulb_no_floats();
    }
    for (size_t g = 0; g < groups; g += turn) {
        ulb_add_token_turn(cfg, prefetch, turns, tokens, block);
        ULB_UNROLL(4)
        for (unsigned t = 0; t < tokens; t++) {
            turns[t].w += ulb_scales_at(cfg, turn);
            turns[t].x += cfg->group * turn;
            turns[t].sums += cfg->group / ULB_SUM_COLUMNS * turn;
            turns[t].zeros += turn;
        }
    }
    ULB_UNROLL(4)
    for (unsigned t = 0; t < tokens; t++)
        ulb_epilogue_block(cfg, prefetch, minima_at, d_at, &at[t], block[t], t == 0, results[t]);
}

/* One row of tiles, row m on, for tokens [n, n + tokens). */
static inline __attribute__((always_inline)) void
ulb_k_loop_token_blocks(const struct ulb_block_cfg *cfg, struct ulb_prefetch_setting prefetch,
                        const struct ulb_gemm *g, const struct ulb_tiles *tiles, size_t m, size_t n,
                        unsigned tokens)
{
    ulb_floats results[ULB_BLOCK_TOKENS_MAX][ULB_BLOCK_VECTORS_MAX];
    ULB_UNROLL(4)
    for (unsigned t = 0; t < tokens; t++) {
        ULB_UNROLL(12)
        for (size_t v = 0; v < ulb_block_vectors(cfg); v++)
            results[t][v] = ulb_no_floats();
    }
    for (size_t s = 0; s < tiles->steps; s++) {
#pragma GCC unroll 1
        for (size_t i = 0; i < ULB_BLOCK_SLICES; i++) {
            const size_t b = i * tiles->steps + s;
            struct ulb_block_at at[ULB_BLOCK_TOKENS_MAX];
            ULB_UNROLL(4)
            for (unsigned t = 0; t < tokens; t++)
                at[t] = (struct ulb_block_at){
                    .tile = tiles->w + i * tiles->slice_bytes + s * cfg->tile_bytes,
                    .x = (const int8_t *)g->x + (n + t) * g->x_stride + b * cfg->columns,
                    .sums = g->x_sums + (n + t) * g->x_sums_stride + b * cfg->columns / ULB_SUM_COLUMNS,
                    .scale =
                        g->x_scale + (n + t) * g->x_scale_stride + (cfg->activation == ULB_ACT_A8 ? 0 : b)};
            ulb_add_token_block(cfg, prefetch, at, tokens, results);
        }
    }
    const size_t rows = ulb_rows_left(g, m, ulb_block_vectors(cfg) * ULB_LANES);
    ULB_UNROLL(4)
    for (unsigned t = 0; t < tokens; t++) {
        float y[ULB_TILE_ROWS_MAX];
        ulb_store_results(cfg, results[t], y);
        memcpy(g->y + (n + t) * g->y_stride + m, y, rows * sizeof *y);
    }
}

/* All rows; tokens: of a register tile. */
static inline __attribute__((always_inline)) void ulb_run_token_blocks(const struct ulb_block_cfg *cfg,
                                                                       struct ulb_prefetch_setting prefetch,
                                                                       const struct ulb_gemm *g,
                                                                       unsigned tokens)
{
    struct ulb_tiles tiles = {.slice_bytes = ulb_layout_slice_bytes(cfg->layout, g->m, g->k),
                              .steps = ulb_layout_steps(cfg->layout, g->k)};
    const size_t rows = ulb_block_vectors(cfg) * ULB_LANES;
    for (size_t m = g->m0; m < g->m1; m += rows) {
        size_t next;
        tiles.w = (const uint8_t *)g->w + m / rows * tiles.steps * cfg->layout->tile_bytes;
        for (size_t n = 0; n < g->n; n += next) {
            next = ulb_next_tokens(g->n - n, tokens);
            if (next == tokens)
                ulb_k_loop_token_blocks(cfg, prefetch, g, &tiles, m, n, tokens);
            else if (tokens > 3 && next == 3)
                ulb_k_loop_token_blocks(cfg, prefetch, g, &tiles, m, n, 3);
            else
                ulb_k_loop_token_blocks(cfg, prefetch, g, &tiles, m, n, tokens > 2 ? 2 : 1);
        }
    }
}

#endif
