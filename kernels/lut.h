/* The loop of kernels that look up sums of activations in tables. Tables are built once per call and shared
 * by all of its rows. With one token, further rows that the call requests share them too. Tables of several
 * tokens are side by side. If the tables of a whole row exceed L1, the layout cuts K into more slices. Some
 * slices are read at a time, as address streams. Partial sums of earlier slices are kept in y, whose rows
 * belong to this call.
 *
 * L1 that tables use is lost for the weights' stream: larger tables cost bandwidth. */
#ifndef ULB_KERNELS_LUT_H
#define ULB_KERNELS_LUT_H

#include "kernels/microkernel.h"

#include <string.h>

enum {
    ULB_TABLE_SLICES = 4, /* of the layout that are read at once, unless a kernel says otherwise */
    /* Bytes of tables that are kept, in L2: about 80,000 columns of 4-bit look-ups, 8 bytes each, 60,000 of
     * TL2, 40,000 of TL1, 30,000 of lut6. Longer rows build their own tables in each call. */
    ULB_TABLES_MAX = 640 * 1024,
    ULB_TABLES_LINE = 64, /* after the tables of slices that are read at once: the offsets that the tables add
                             to products */
    ULB_TABLE_SUMS_MAX = 128, /* of a tile */
    ULB_TABLE_STEP_COLUMNS_MAX = 24
};

/* What differs from kernel to kernel; all constants, functions inline. */
struct ulb_lut_cfg {
    const struct ulb_layout *layout;
    size_t rows, sums;              /* of a tile */
    size_t columns;                 /* of a step: a tile */
    size_t slices;                  /* that are read at once */
    size_t step_bytes, table_bytes; /* of a step: weights, tables */
    int32_t zero_point;
    /* Builds the tables of `steps` steps. Returns the offset that they add to each sum. */
    int32_t (*build)(const int8_t *x, size_t steps, uint8_t *tables);
    /* sums += the sums of the slices that are read at once. tables: `[slices][steps]`. */
    void (*sum)(const struct ulb_tiles *tiles, const uint8_t *tables, int32_t *sums);
    /* Dot products of rows from sums. */
    void (*dots_of_sums)(const int32_t *sums, int32_t *dots);
};

/* Adds the sums of some slices to the partial sums. After the last slices it runs the epilogue of rows [m,
 * end). */
static inline __attribute__((always_inline)) void ulb_lut_epilogue(const struct ulb_gemm *g,
                                                                   const struct ulb_lut_cfg *cfg, size_t m,
                                                                   size_t end, size_t n, bool first,
                                                                   bool last, int32_t *dots)
{
    float *y = g->y + n * g->y_stride + m;
    if (!first) {
        int32_t before[ULB_BATCH_ROWS];
        memcpy(before, y, (end - m) * sizeof *before);
        for (size_t i = 0; i < end - m; i++)
            dots[i] += before[i];
    }
    if (last)
        ulb_epilogue_rows(y, dots, ulb_row_scales(g, cfg->layout) + m, end - m,
                          (uint32_t)cfg->zero_point * (uint32_t)g->x_sum[n], g->x_scale[n]);
    else
        memcpy(y, dots, (end - m) * sizeof *dots);
}

/* Prefetches the weights of some steps of a slice that are read first, because memory would be idle while
 * tables are built. They go to L2; L1 is for tables. */
static inline void ulb_prefetch_weights(const uint8_t *w, size_t bytes)
{
    enum { LINE = 64, TO_L2 = 2 };
    for (size_t i = 0; i < bytes; i += LINE)
        __builtin_prefetch(w + i, 0, TO_L2);
}

/* Slices that are read at once: the first of them, and whether the last of K is among them. */
struct ulb_table_turn {
    struct ulb_slice slice;
    bool last;
};

static inline struct ulb_table_turn ulb_table_turn(const struct ulb_gemm *g, const struct ulb_lut_cfg *cfg,
                                                   size_t slice, struct ulb_tiles *tiles)
{
    struct ulb_slice this = ulb_layout_slice(cfg->layout, g->m, g->k, slice);
    tiles->steps = this.steps;
    tiles->slice_bytes = ulb_layout_slice(cfg->layout, g->m, g->k, slice + 1).offset - this.offset;
    return (struct ulb_table_turn){this, slice + cfg->slices == ulb_layout_slices(cfg->layout, g->k)};
}

/* Rows [m, end) of one token. */
static inline __attribute__((always_inline)) void
ulb_table_rows(const struct ulb_gemm *g, const struct ulb_lut_cfg *cfg, size_t m, size_t end, size_t n,
               const struct ulb_table_turn *turn, struct ulb_tiles *tiles, const uint8_t *tables)
{
    const uint8_t *w = (const uint8_t *)g->w + turn->slice.offset;
    int32_t dots[ULB_BATCH_ROWS], origin;
    memcpy(&origin, tables + cfg->slices * tiles->steps * cfg->table_bytes, sizeof origin);
    for (size_t at = m; at < end; at += cfg->rows) {
        _Alignas(64) int32_t sums[ULB_TABLE_SUMS_MAX];
        for (size_t i = 0; i < cfg->sums; i++)
            sums[i] = -origin;
        tiles->w = w + at / cfg->rows * tiles->steps * cfg->step_bytes;
        cfg->sum(tiles, tables, sums);
        cfg->dots_of_sums(sums, dots + (at - m));
    }
    ulb_lut_epilogue(g, cfg, m, end, n, turn->slice.first == 0, turn->last, dots);
}

/* Builds the tables of a slice for one token, whose first step is `first` steps after the beginning of K.
 * Tables after the last column are zeros. w: weights of the first row, which are prefetched meanwhile, or
 * NULL. Returns the offset that the tables add to products. */
static inline __attribute__((always_inline)) int32_t
ulb_build_slice(const struct ulb_gemm *g, const struct ulb_lut_cfg *cfg, const int8_t *x, size_t first,
                size_t steps, const uint8_t *w, uint8_t *tables)
{
    enum { TURN = 16 /* steps */ };
    static const int8_t zeros[ULB_TABLE_STEP_COLUMNS_MAX];
    size_t all = (g->k + cfg->columns - 1) / cfg->columns;
    size_t real = all < first ? 0 : all - first < steps ? all - first : steps;
    int32_t origin = 0;
    x += first * cfg->columns;
    for (size_t s = 0; s < real; s += TURN) {
        size_t some = real - s < TURN ? real - s : TURN;
        if (w)
            ulb_prefetch_weights(w + s * cfg->step_bytes, some * cfg->step_bytes);
        origin += cfg->build(x + s * cfg->columns, some, tables + s * cfg->table_bytes);
    }
    for (size_t s = real; s < steps; s++)
        origin += cfg->build(zeros, 1, tables + s * cfg->table_bytes);
    return origin;
}

/* Tables of one token. tiles: of the first row. */
static inline __attribute__((always_inline)) void
ulb_build_tables(const struct ulb_gemm *g, const struct ulb_lut_cfg *cfg, const struct ulb_table_turn *turn,
                 const struct ulb_tiles *tiles, uint8_t *tables)
{
    const size_t steps = tiles->steps, bytes = steps * cfg->table_bytes;
    int32_t origin = 0;
    for (size_t i = 0; i < cfg->slices; i++)
        origin += ulb_build_slice(g, cfg, tiles->x, turn->slice.first + i * steps, steps,
                                  tiles->w + i * tiles->slice_bytes, tables + i * bytes);
    memcpy(tables + cfg->slices * bytes, &origin, sizeof origin);
}

/* Further rows, for which all tables of the one token were kept; they are m0 and m1 of g then. */
static inline bool ulb_table_more(struct ulb_gemm *g, bool kept)
{
    return kept && g->more && g->more(g->rows, &g->m0, &g->m1);
}

/* Rows that several tokens read, one token after the other: their weights stay in L2 with the tables. One
 * token after the other over all rows, or larger batches, are slower. */
static inline size_t ulb_table_batch(const struct ulb_lut_cfg *cfg, const struct ulb_tiles *tiles)
{
    enum { BYTES = 96 * 1024 };
    size_t fit = BYTES / (cfg->slices * tiles->steps * cfg->step_bytes);
    size_t most = ULB_BATCH_ROWS / cfg->rows;
    return (fit < 1 ? 1 : fit < most ? fit : most) * cfg->rows;
}

/* All rows of some tokens from n; tables: `[tokens][bytes]`. */
static inline __attribute__((always_inline)) void
ulb_table_tokens(const struct ulb_gemm *g, const struct ulb_lut_cfg *cfg, size_t n, size_t tokens,
                 const struct ulb_table_turn *turn, struct ulb_tiles *tiles, const uint8_t *tables,
                 size_t bytes)
{
    size_t batch = tokens > 1 ? ulb_table_batch(cfg, tiles) : ulb_batch_rows(cfg->layout, g->k, cfg->rows);
    for (size_t m = g->m0; m < g->m1; m += batch) {
        for (size_t i = 0; i < tokens; i++)
            ulb_table_rows(g, cfg, m, ulb_batch_end(g, m, batch), n + i, turn, tiles, tables + i * bytes);
    }
}

static inline __attribute__((always_inline)) void ulb_run_tables(const struct ulb_gemm *g,
                                                                 const struct ulb_lut_cfg *cfg)
{
    _Alignas(64) uint8_t tables[ULB_TABLES_MAX];
    struct ulb_tiles tiles = {.prefetch = &g->prefetch};
    size_t slices = ulb_layout_slices(cfg->layout, g->k);
    /* For one token and for slices that are read at once. */
    size_t bytes = cfg->slices * ulb_layout_steps(cfg->layout, g->k) * cfg->table_bytes + ULB_TABLES_LINE;
    bool kept = g->n == 1 && slices / cfg->slices * bytes <= sizeof tables;
    size_t tokens, most = sizeof tables / bytes;
    struct ulb_gemm part = *g;
    for (size_t n = 0; n < g->n; n += tokens) {
        bool built = false;
        tokens = g->n - n < most ? g->n - n : most;
        do {
            for (size_t slice = 0; slice < slices; slice += cfg->slices) {
                uint8_t *of_slices = kept ? tables + slice / cfg->slices * bytes : tables;
                struct ulb_table_turn turn = ulb_table_turn(g, cfg, slice, &tiles);
                tiles.w = (const uint8_t *)g->w + turn.slice.offset +
                          part.m0 / cfg->rows * tiles.steps * cfg->step_bytes;
                for (size_t i = 0; i < tokens && !built; i++) {
                    tiles.x = (const int8_t *)g->x + (n + i) * g->x_stride;
                    ulb_build_tables(g, cfg, &turn, &tiles, of_slices + i * bytes);
                }
                ulb_table_tokens(&part, cfg, n, tokens, &turn, &tiles, of_slices, bytes);
            }
            built = true;
        } while (ulb_table_more(&part, kept));
    }
}

#endif
