/* The walk of every repacked block-format row over its tiles. A tile is one block of so many rows: its codes,
 * 4 columns of all rows a step, then its scales. Lanes are rows. Inside a group of columns sums are integers
 * and exact; groups and blocks add up in single precision, with three roundings each.
 *
 * The slices of K are address streams, a block of each in turn (see kernels/x86/streams.h). */
#ifndef ULB_KERNELS_X86_BLOCK_WALK_H
#define ULB_KERNELS_X86_BLOCK_WALK_H

#include "kernels/activations.h"
#include "kernels/block.h"
#include "kernels/row.h"
#include "kernels/x86/dot.h"
#include "kernels/x86/floats.h"
#include "kernels/x86/streams.h"

/* What differs from format to format; all constants, functions inline. */
struct ulb_block_row {
    const struct ulb_layout *layout;
    size_t vectors;                 /* of rows: sums that a step adds to */
    size_t step_bytes;              /* codes of 4 columns */
    size_t columns;                 /* of a block */
    size_t group;                   /* columns between two conversions to floats: those of an integer scale */
    size_t word_steps;              /* of 16-bit sums: ULB_WORD_STEPS() */
    size_t slices;                  /* of the layout */
    size_t near, far;               /* bytes ahead, in the stream, of the prefetches into L1 and L2 */
    enum ulb_activation activation; /* one scale a token, or one a block */
    /* What vector v's sum begins with, times minus the sum of the group's activations: the zero point of its
     * codes, and what fields beside it have. NULL: 0. */
    int32_t (*zero_point)(size_t v);
    /* One step of 4 columns. */
    void (*step)(const uint8_t *w, const int8_t *x, ulb_vec *sums);
    /* What is left to do with int32 sums of a group: fields that were not moved apart. NULL: nothing. */
    void (*split)(ulb_vec *sums);
    /* Integer scale of group g for vector v of rows; NULL: one group a block. */
    ulb_floats (*group_scale)(const uint8_t *scales, size_t g, size_t v);
    /* Scale of the block. */
    ulb_floats (*block_scale)(const uint8_t *scales, size_t v);
    /* What minima subtract: dmin * sum over groups of min[g] * (sum of the group's activations). NULL:
     * nothing. x_sums: of 16 activations each. */
    ulb_floats (*minima)(const uint8_t *scales, const int16_t *x_sums, size_t v);
    /* Constant factor of vector v's results. */
    float (*factor)(size_t v);
};

enum { ULB_BLOCK_VECTORS_MAX = 12 };

/* One block of the rows' activations. */
struct ulb_block_x {
    const int8_t *x;
    const int16_t *sums;
    float scale;
};

static inline __attribute__((always_inline)) int32_t ulb_group_x_sum(const int16_t *sums, size_t columns)
{
    int32_t sum = 0;
#pragma GCC unroll 16
    for (size_t i = 0; i < columns / ULB_SUM_COLUMNS; i++)
        sum += sums[i];
    return sum;
}

/* int32 sums of one group, split. */
static inline __attribute__((always_inline)) void ulb_sum_block_group(const struct ulb_block_row *row,
                                                                      const uint8_t *w, const int8_t *x,
                                                                      int32_t x_sum, ulb_vec *sums)
{
    size_t steps = row->group / 4, chunk = ULB_WORD_SUMS && row->word_steps < steps ? row->word_steps : steps;
    ulb_vec parts[ULB_BLOCK_VECTORS_MAX];
#pragma GCC unroll 12
    for (size_t v = 0; v < row->vectors; v++)
        sums[v] = row->zero_point ? ulb_all32(-row->zero_point(v) * x_sum) : ulb_zero();
    for (size_t begin = 0; begin < steps; begin += chunk) {
        size_t end = begin + chunk < steps ? begin + chunk : steps;
        ulb_vec *at = ULB_WORD_SUMS ? parts : sums;
#pragma GCC unroll 12
        for (size_t v = 0; v < row->vectors && ULB_WORD_SUMS; v++)
            parts[v] = ulb_zero();
#pragma GCC unroll 8
        for (size_t s = begin; s < end; s++) {
            row->step(w + s * row->step_bytes, x + 4 * s, at);
#pragma GCC unroll 8
            for (size_t line = 0; line < row->step_bytes; line += ULB_LINE) {
                _mm_prefetch((const char *)w + s * row->step_bytes + line + row->near, _MM_HINT_T0);
                if (row->far)
                    _mm_prefetch((const char *)w + s * row->step_bytes + line + row->far, _MM_HINT_T1);
            }
        }
#pragma GCC unroll 12
        for (size_t v = 0; v < row->vectors && ULB_WORD_SUMS; v++)
            sums[v] = ulb_add32(sums[v], ulb_widen(parts[v]));
    }
    if (row->split)
        row->split(sums);
}

/* results += one block. */
static inline __attribute__((always_inline)) void ulb_add_block(const struct ulb_block_row *row,
                                                                const uint8_t *tile,
                                                                const struct ulb_block_x *x,
                                                                ulb_floats *results)
{
    size_t groups = row->columns / row->group, group_bytes = row->group / 4 * row->step_bytes;
    const uint8_t *scales = tile + groups * group_bytes;
    ulb_floats block[ULB_BLOCK_VECTORS_MAX];
    for (size_t g = 0; g < groups; g++) {
        ulb_vec sums[ULB_BLOCK_VECTORS_MAX];
        int32_t x_sum =
            row->zero_point ? ulb_group_x_sum(x->sums + g * row->group / ULB_SUM_COLUMNS, row->group) : 0;
        ulb_sum_block_group(row, tile + g * group_bytes, x->x + g * row->group, x_sum, sums);
#pragma GCC unroll 12
        for (size_t v = 0; v < row->vectors; v++) {
            ulb_floats part = ulb_to_floats(sums[v]);
            if (row->group_scale)
                part = g > 0 ? ulb_fma(part, row->group_scale(scales, g, v), block[v])
                             : ulb_mul(part, row->group_scale(scales, g, v));
            block[v] = part;
        }
    }
    ulb_floats x_scale = ulb_all_floats(x->scale);
#pragma GCC unroll 12
    for (size_t v = 0; v < row->vectors; v++) {
        results[v] = ulb_fma(block[v], ulb_mul(row->block_scale(scales, v), x_scale), results[v]);
        if (row->minima)
            results[v] = ulb_fnma(row->minima(scales, x->sums, v), x_scale, results[v]);
    }
}

/* One row of tiles and one token. */
static inline __attribute__((always_inline)) void ulb_walk_blocks(const struct ulb_block_row *row,
                                                                  const struct ulb_tiles *tiles,
                                                                  const float *x_scale, const int16_t *x_sums,
                                                                  float *y)
{
    ulb_floats results[ULB_BLOCK_VECTORS_MAX];
    size_t tile_bytes = row->layout->tile_bytes;
#pragma GCC unroll 12
    for (size_t v = 0; v < row->vectors; v++)
        results[v] = ulb_no_floats();
    for (size_t s = 0; s < tiles->steps; s++) {
#pragma GCC unroll 4
        for (size_t i = 0; i < row->slices; i++) {
            size_t b = i * tiles->steps + s;
            struct ulb_block_x x = {tiles->x + b * row->columns, x_sums + b * row->columns / ULB_SUM_COLUMNS,
                                    x_scale[row->activation == ULB_ACT_A8 ? 0 : b]};
            ulb_add_block(row, tiles->w + i * tiles->slice_bytes + s * tile_bytes, &x, results);
        }
    }
#pragma GCC unroll 12
    for (size_t v = 0; v < row->vectors; v++)
        ulb_store_floats(y + v * ULB_LANES,
                         row->factor ? ulb_mul(results[v], ulb_all_floats(row->factor(v))) : results[v]);
}

/* The loop over rows of tiles and tokens. */
static inline __attribute__((always_inline)) void ulb_run_blocks(const struct ulb_gemm *g,
                                                                 const struct ulb_block_row *row)
{
    struct ulb_tiles tiles = {.slice_bytes = ulb_layout_slice_bytes(row->layout, g->m, g->k),
                              .steps = ulb_layout_steps(row->layout, g->k)};
    size_t rows = row->vectors * ULB_LANES;
    for (size_t m = g->m0; m < g->m1; m += rows) {
        tiles.w = (const uint8_t *)g->w + m / rows * tiles.steps * row->layout->tile_bytes;
        for (size_t n = 0; n < g->n; n++) {
            float y[ULB_TILE_ROWS_MAX];
            tiles.x = (const int8_t *)g->x + n * g->x_stride;
            ulb_walk_blocks(row, &tiles, g->x_scale + n * g->x_scale_stride, g->x_sums + n * g->x_sums_stride,
                            y);
            size_t left = ulb_rows_left(g, m, rows);
            for (size_t i = 0; i < left; i++)
                g->y[n * g->y_stride + m + i] = y[i];
        }
    }
}

#endif
