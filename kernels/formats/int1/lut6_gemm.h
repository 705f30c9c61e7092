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
#include "kernels/lut.h"
#include "kernels/x86/gemv/k_slices.h"

enum {
    ULB_LUT6_IN_L1 = 4,    /* tokens: 24 KiB of tables */
    ULB_LUT6_TOKENS = 16,  /* that read weights once */
    ULB_LUT6_SUMS = 65536, /* of a batch of rows: 256 KiB */
    ULB_LUT6_SLICE = ULB_INT1_LUT6_STEPS * ULB_LUT6_TABLES,
    ULB_LUT6_NEAR = 4608
};
_Static_assert(ULB_INT1_LUT6_STEPS <= 2 * ULB_LUT6_PAIRS, "words hold the look-ups of a slice");

/* Rows of some tokens. */
struct ulb_lut6_batch {
    const struct ulb_gemm *g;
    const struct ulb_lut_cfg *cfg;
    size_t m, tiles, n, tokens;
    struct ulb_slice slice; /* that is read */
    uint8_t *tables;
    int32_t *sums;                   /* [tokens][tiles][ULB_LUT6_ROWS] */
    int32_t origin[ULB_LUT6_TOKENS]; /* offset that tables add to sums over the set bits */
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
                                                                 bool ask, const struct ulb_lut6_batch *batch,
                                                                 const uint8_t *w, size_t first,
                                                                 size_t tokens)
{
    const size_t steps = batch->slice.steps, stride = batch->tiles * ULB_LUT6_ROWS;
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

/* The slice, for all tokens of the batch. */
static inline void ulb_lut6_slice(struct ulb_lut6_batch *batch)
{
    enum { ALL = ULB_INT1_LUT6_SLICES /* streams of a call of one token */ };
    const struct ulb_gemm *g = batch->g;
    const struct ulb_prefetch prefetched = {g->prefetch.target, ALL * g->prefetch.distance};
    const size_t tile_bytes = batch->slice.steps * ULB_LUT6_STEP;
    const uint8_t *w = (const uint8_t *)g->w + batch->slice.offset + batch->m / ULB_LUT6_ROWS * tile_bytes;
    for (size_t t = 0; t < batch->tokens; t += ULB_LUT6_IN_L1) {
        size_t some = batch->tokens - t < ULB_LUT6_IN_L1 ? batch->tokens - t : ULB_LUT6_IN_L1;
        for (size_t i = 0; i < some; i++)
            batch->origin[t + i] += ulb_build_slice(
                g, batch->cfg, (const int8_t *)g->x + (batch->n + t + i) * g->x_stride, batch->slice.first,
                batch->slice.steps, t + i == 0 ? w : NULL, batch->tables + i * ULB_LUT6_SLICE);
        if (t > 0)
            ulb_lut6_tiles(ULB_OWN_PREFETCH, false, batch, w, t, some);
        else
            ULB_SPECIALISE_PREFETCH(prefetched, ulb_lut6_tiles(prefetch, true, batch, w, t, some));
    }
}

/* Rows [m, end) of tokens [n, n + tokens). */
static inline void ulb_lut6_rows(const struct ulb_gemm *g, const struct ulb_lut_cfg *cfg, size_t n,
                                 size_t tokens, size_t m, size_t end)
{
    _Alignas(64) uint8_t tables[ULB_LUT6_IN_L1 * ULB_LUT6_SLICE];
    _Alignas(64) int32_t sums[ULB_LUT6_SUMS];
    struct ulb_lut6_batch batch = {.g = g,
                                   .cfg = cfg,
                                   .m = m,
                                   .tiles = (end - m + ULB_LUT6_ROWS - 1) / ULB_LUT6_ROWS,
                                   .n = n,
                                   .tokens = tokens,
                                   .tables = tables,
                                   .sums = sums};
    const size_t stride = batch.tiles * ULB_LUT6_ROWS, slices = ulb_layout_slices(cfg->layout, g->k);
    const float *scales = ulb_row_scales(g, cfg->layout);
    memset(sums, 0, tokens * stride * sizeof *sums);
    for (size_t slice = 0; slice < slices; slice++) {
        batch.slice = ulb_layout_slice(cfg->layout, g->m, g->k, slice);
        ulb_lut6_slice(&batch);
    }
    for (size_t t = 0; t < tokens; t++, n++) {
        int32_t *of = sums + t * stride;
        for (size_t i = 0; i < end - m; i++)
            of[i] = ulb_lut6_dot(of[i] - batch.origin[t]);
        ulb_epilogue_rows(g->y + n * g->y_stride + m, of, scales + m, end - m,
                          (uint32_t)cfg->zero_point * (uint32_t)g->x_sum[n], g->x_scale[n]);
    }
}

static inline void ulb_lut6_run_tokens(const struct ulb_gemm *g, const struct ulb_lut_cfg *cfg)
{
    size_t tokens;
    for (size_t n = 0; n < g->n; n += tokens) {
        tokens = ulb_next_n_block(g->n - n, ULB_LUT6_TOKENS);
        size_t batch = ULB_LUT6_SUMS / tokens / ULB_LUT6_ROWS * ULB_LUT6_ROWS;
        for (size_t m = g->m0; m < g->m1; m += batch)
            ulb_lut6_rows(g, cfg, n, tokens, m, ulb_batch_end(g, m, batch));
    }
}

#endif
