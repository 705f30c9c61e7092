/* Up to 16 tokens on AMX tiles. Weights are read once, and memory is the limit. Four groups of 16 rows are
 * computed at a time over all of K. Two slices of K are two address streams. The tiles of the next step are
 * masked during the products of the current step, a quarter before each product. Masking further ahead, or
 * all at once, is slower with weights in memory. */
#ifndef ULB_KERNELS_X86_AMX_SMALL_N_H
#define ULB_KERNELS_X86_AMX_SMALL_N_H

#include "kernels/x86/amx/common.h"

enum {
    ULB_AMX_QUAD = 4,
    ULB_AMX_QUAD_BYTES = ULB_AMX_QUAD * ULB_TILE_BYTES,
    ULB_AMX_RING = 2,      /* steps whose masked weights are kept */
    ULB_AMX_FEW_ROWS = 512 /* whose results are finished together */
};

static inline void ulb_amx_load_tokens(const int8_t *x, size_t stride)
{
    __asm__ volatile("tileloadd (%0,%1,1), %%tmm4" : : "r"(x), "r"(stride) : "memory");
}

/* Sums of a group of rows += tokens in tmm4 by its weights. */
#define ULB_AMX_MULTIPLY(weights, sums)                                                                      \
    __asm__ volatile(ULB_AMX_LOAD("w", "line", weights) ULB_AMX_DOT(weights, "tmm4", sums)                   \
                     :                                                                                       \
                     : [w] "r"(w), [line] "r"((size_t)ULB_TILE_COLUMNS)                                      \
                     : "memory")

static inline __attribute__((always_inline)) void ulb_amx_multiply_group(unsigned group, const uint8_t *w)
{
    switch (group) {
    case 0:
        ULB_AMX_MULTIPLY("tmm6", "tmm0");
        break;
    case 1:
        ULB_AMX_MULTIPLY("tmm7", "tmm1");
        break;
    case 2:
        ULB_AMX_MULTIPLY("tmm6", "tmm2");
        break;
    default:
        ULB_AMX_MULTIPLY("tmm7", "tmm3");
    }
}

/* The sums of four groups, one after the other: `[group][token][row]`. */
static inline void ulb_amx_store_quad(int32_t *sums)
{
    __asm__ volatile("tilestored %%tmm0, (%0,%1,1)\n\ttilestored %%tmm1, 1024(%0,%1,1)\n\t"
                     "tilestored %%tmm2, 2048(%0,%1,1)\n\ttilestored %%tmm3, 3072(%0,%1,1)"
                     :
                     : "r"(sums), "r"((size_t)ULB_TILE_COLUMNS)
                     : "memory");
}

/* Four groups of rows, of one panel or of two neighbours. */
struct ulb_amx_quad {
    const uint8_t *panels[2];
    unsigned first; /* group of a panel of four and more */
};

static inline __attribute__((always_inline)) unsigned ulb_amx_quad_groups(const struct ulb_amx_cfg *cfg)
{
    return ulb_amx_groups(cfg) < ULB_AMX_QUAD ? ulb_amx_groups(cfg) : ULB_AMX_QUAD;
}

/* Bytes from the first tile of a panel to the tile of a step of the loop. Slices alternate. */
static inline size_t ulb_amx_step_offset(const struct ulb_amx_weights *weights, size_t step)
{
    return step % ULB_AMX_SLICES * weights->slice_bytes + step / ULB_AMX_SLICES * weights->tile_bytes;
}

/* Place of a group of the quad among its masked ones, beginning with its panel's first. */
static inline __attribute__((always_inline)) size_t ulb_amx_quad_masked(const struct ulb_amx_cfg *cfg,
                                                                        unsigned first, unsigned i)
{
    const unsigned each = ulb_amx_quad_groups(cfg);
    return i / each * ulb_amx_masked(cfg, each) + ulb_amx_masked(cfg, first + i % each) -
           ulb_amx_masked(cfg, first);
}

static inline __attribute__((always_inline)) void ulb_amx_ask(const uint8_t *line)
{
    __asm__ volatile("prefetcht0 %0\n\tprefetcht1 %1" : : "m"(line[ULB_AMX_NEAR]), "m"(line[ULB_AMX_FAR]));
}

/* Masks a quarter of the lines of the four groups' tiles, and prefetches ahead of them. */
static inline __attribute__((always_inline)) void ulb_amx_mask_quarter(const struct ulb_amx_cfg *cfg,
                                                                       const struct ulb_amx_quad *quad,
                                                                       size_t offset, unsigned quarter,
                                                                       uint8_t *out)
{
    const unsigned each = ulb_amx_quad_groups(cfg), first = quad->first;
    ULB_UNROLL(4)
    for (size_t i = 0; i < ULB_TILE_ROWS / 4; i++) {
        const size_t line = (quarter * ULB_TILE_ROWS / 4 + i) * ULB_TILE_COLUMNS;
        ULB_UNROLL(2)
        for (unsigned group = 0; group < ULB_AMX_QUAD; group += each) {
            const uint8_t *tile = quad->panels[group / each] + offset + line;
            for (unsigned vector = first / cfg->fields; vector * cfg->fields < first + each; vector++)
                ulb_amx_ask(tile + vector * ULB_TILE_BYTES);
            ulb_amx_mask_line(cfg, first, first + each, tile,
                              out + line + ulb_amx_quad_masked(cfg, first, group) * ULB_TILE_BYTES,
                              ULB_TILE_BYTES);
        }
    }
}

/* What the loop over steps does not mask: its first ones. */
static inline __attribute__((always_inline)) void
ulb_amx_mask_first(const struct ulb_amx_cfg *cfg, const struct ulb_amx_weights *weights,
                   const struct ulb_amx_quad *quad, uint8_t masked[ULB_AMX_RING][ULB_AMX_QUAD_BYTES])
{
    for (size_t step = 0; step < ULB_AMX_RING - 1 && step < ULB_AMX_SLICES * weights->steps; step++)
        for (unsigned quarter = 0; quarter < ULB_AMX_QUAD; quarter++)
            ulb_amx_mask_quarter(cfg, quad, ulb_amx_step_offset(weights, step), quarter, masked[step]);
}

/* Sums of all tokens and four groups of rows. */
static inline __attribute__((always_inline)) void
ulb_amx_run_quad(const struct ulb_amx_cfg *cfg, const struct ulb_gemm *g,
                 const struct ulb_amx_weights *weights, const struct ulb_amx_quad *quad, int32_t *sums)
{
    const unsigned each = ulb_amx_quad_groups(cfg), first = quad->first;
    const size_t steps = ULB_AMX_SLICES * weights->steps;
    _Alignas(64) uint8_t masked[ULB_AMX_RING][ULB_AMX_QUAD_BYTES];
    ulb_amx_zero();
    ulb_amx_mask_first(cfg, weights, quad, masked);
    for (size_t step = 0; step < steps; step++) {
        const size_t offset = ulb_amx_step_offset(weights, step), ahead = step + ULB_AMX_RING - 1;
        const size_t slice = step % ULB_AMX_SLICES * weights->steps;
        ulb_amx_load_tokens((const int8_t *)g->x + (slice + step / ULB_AMX_SLICES) * ULB_TILE_COLUMNS,
                            g->x_stride);
        ULB_UNROLL(4)
        for (unsigned i = 0; i < ULB_AMX_QUAD; i++) {
            const unsigned group = first + i % each;
            const uint8_t *w = quad->panels[i / each] + offset + group / cfg->fields * ULB_TILE_BYTES;
            if (ahead < steps)
                ulb_amx_mask_quarter(cfg, quad, ulb_amx_step_offset(weights, ahead), i,
                                     masked[ahead % ULB_AMX_RING]);
            if (!ulb_amx_is_raw(cfg, group))
                w = masked[step % ULB_AMX_RING] + ulb_amx_quad_masked(cfg, first, i) * ULB_TILE_BYTES;
            ulb_amx_multiply_group(i, w);
        }
    }
    ulb_amx_store_quad(sums);
}

/* Results of rows [begin, end) from the sums of their groups, which lie one after the other. All panels are
 * written at once: rows of y are far apart, and each is a page and an address stream of its own. */
static inline __attribute__((always_inline)) void
ulb_amx_epilogue_few(const struct ulb_amx_cfg *cfg, const struct ulb_gemm *g,
                     const struct ulb_amx_weights *weights, size_t begin, size_t end, const int32_t *sums)
{
    enum { GROUP = ULB_TILE_BYTES / 4 };
    for (size_t token = 0; token < g->n; token++)
        for (size_t panel = begin; panel < end; panel += ulb_amx_groups(cfg) * ULB_TILE_ROWS)
            ulb_amx_epilogue(cfg, g, weights, panel, token,
                             sums + (panel - begin) / ULB_TILE_ROWS * GROUP + token * ULB_TILE_ROWS, GROUP,
                             false);
}

/* A panel of four groups and more, or two of two groups: of what lies beyond the last one nothing is kept. */
static inline __attribute__((always_inline)) void
ulb_amx_few(const struct ulb_amx_cfg *cfg, const struct ulb_gemm *g, const struct ulb_amx_weights *weights)
{
    const unsigned groups = ulb_amx_groups(cfg), rows = groups * ULB_TILE_ROWS;
    const size_t unit = ULB_AMX_QUAD / ulb_amx_quad_groups(cfg) * rows;
    const size_t batch = ULB_AMX_FEW_ROWS / unit * unit;
    _Alignas(64) int32_t sums[ULB_AMX_FEW_ROWS * ULB_TILE_ROWS];
    ulb_amx_configure(g->n, true);
    for (size_t begin = g->m0; begin < g->m1; begin += batch) {
        size_t end = ulb_batch_end(g, begin, batch);
        for (size_t panel = begin; panel < end; panel += unit) {
            const uint8_t *w = weights->data + panel / rows * weights->panel_bytes;
            const uint8_t *next = panel + rows < g->m1 ? w + weights->panel_bytes : w;
            int32_t *at = sums + (panel - begin) * ULB_TILE_ROWS;
            ULB_UNROLL(2)
            for (unsigned first = 0; first < groups; first += ULB_AMX_QUAD) {
                const struct ulb_amx_quad quad = {.panels = {w, next}, .first = first};
                ulb_amx_run_quad(cfg, g, weights, &quad, at + first * (ULB_TILE_BYTES / 4));
            }
        }
        ulb_amx_epilogue_few(cfg, g, weights, begin, end, sums);
    }
    ulb_amx_release();
}

#endif
