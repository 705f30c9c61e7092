/* Dot products with a scale for each ULB_GROUP columns of a row (32, 64 or 128): integers inside a group,
 * exact, and single precision across groups.
 *
 * The two slices of K are walked a group at a time, side by side; at the end of a group its sums become
 * floats, lane by lane, times a vector of scales that lies ready in the order of lanes. Per group and 8 or 16
 * rows that is 1 conversion, 1 multiplication and 1 addition beside what separates the fields. */
#ifndef ULB_KERNELS_X86_GROUPS_H
#define ULB_KERNELS_X86_GROUPS_H

#include "kernels/group_sums.h"
#include "kernels/x86/streams.h"

enum { ULB_GROUP_SLICES = 2, ULB_GROUP_STEPS = ULB_GROUP / 4 };

/* Turns the accumulators of a step into one vector of sums for each vector of rows, in order. */
typedef void ulb_split_fn(ulb_vec *sums);

/* They are such already. */
static inline void ulb_no_split(ulb_vec *sums)
{
    (void)sums;
}

/* Group i of each slice: its steps, then its part of the results. scales: of the row of tiles. */
static inline __attribute__((always_inline)) void
ulb_add_group(const struct ulb_walk *walk, ulb_step_fn *step, ulb_split_fn *split,
              const struct ulb_tiles *tiles, const struct ulb_group_sums *known, size_t i, int32_t zero_point,
              const float *scales, ulb_floats *results)
{
    ulb_vec sums[ULB_ACCUMULATORS_MAX];
    ulb_clear(walk, sums);
    ulb_walk_steps(walk, step, tiles, i * ULB_GROUP_STEPS, (i + 1) * ULB_GROUP_STEPS, sums);
    size_t groups = tiles->steps / ULB_GROUP_STEPS;
    ULB_UNROLL(2)
    for (size_t slice = 0; slice < ULB_GROUP_SLICES; slice++) {
        size_t group = slice * groups + i;
        ulb_vec *mine = sums + slice * walk->vectors;
        ulb_vec correction = ulb_all32(zero_point * ulb_group_sum(known, group));
        split(mine);
        ULB_UNROLL(16)
        for (size_t v = 0; v < walk->vectors; v++)
            ulb_add_scaled(&results[v], ulb_sub32(mine[v], correction),
                           scales + (group * walk->vectors + v) * ULB_LANES);
    }
}

/* The loop over rows of tiles and tokens; tiles have walk->vectors * ULB_LANES rows. */
static inline __attribute__((always_inline)) void
ulb_run_groups(const struct ulb_gemm *g, const struct ulb_layout *layout, const struct ulb_walk *walk,
               ulb_step_fn *step, ulb_split_fn *split, int32_t zero_point)
{
    struct ulb_group_sums known;
    struct ulb_tiles tiles = {.slice_bytes = ulb_layout_slice_bytes(layout, g->m, g->k),
                              .steps = ulb_layout_steps(layout, g->k)};
    size_t rows = walk->vectors * ULB_LANES, groups = tiles.steps / ULB_GROUP_STEPS;
    for (size_t n = 0; n < g->n; n++) {
        tiles.x = (const int8_t *)g->x + n * g->x_stride;
        ulb_sum_groups(&known, tiles.x, ULB_GROUP_SLICES * groups);
        for (size_t row = g->m0; row < g->m1; row += rows) {
            ulb_floats results[ULB_ACCUMULATORS_MAX];
            float y[ULB_TILE_ROWS_MAX];
            const float *scales = ulb_row_scales(g, layout) + row * ULB_GROUP_SLICES * groups;
            tiles.w = (const uint8_t *)g->w + row / rows * tiles.steps * walk->step_bytes;
            ULB_UNROLL(16)
            for (size_t v = 0; v < walk->vectors; v++)
                results[v] = ulb_no_floats();
            for (size_t i = 0; i < groups; i++)
                ulb_add_group(walk, step, split, &tiles, &known, i, zero_point, scales, results);
            ULB_UNROLL(16)
            for (size_t v = 0; v < walk->vectors; v++)
                ulb_store_floats(y + v * ULB_LANES, results[v]);
            size_t left = ulb_rows_left(g, row, rows);
            for (size_t i = 0; i < left; i++)
                g->y[n * g->y_stride + row + i] = y[i] * g->x_scale[n];
        }
    }
}

#endif
