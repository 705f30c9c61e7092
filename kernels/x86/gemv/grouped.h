/* Dot products with a scale for each ULB_GROUP columns of a row (32, 64 or 128). Sums are integers inside a
 * group, exact, and single precision across groups. Scales lie before the tiles of their group (struct
 * ulb_layout).
 *
 * The two slices of K alternate after each group. At the end of a group its sums become floats, lane by lane,
 * and are multiplied by a vector of scales in the order of lanes. Each group of a vector of rows takes a
 * conversion and an FMA, the zero point and the separation of fields. */
#ifndef ULB_KERNELS_X86_GEMV_GROUPED_H
#define ULB_KERNELS_X86_GEMV_GROUPED_H

#include "kernels/group_sums.h"
#include "kernels/x86/gemv/k_slices.h"

enum { ULB_GROUP_SLICES = 2, ULB_GROUP_STEPS = ULB_GROUP / 4 };

/* Turns the accumulators of a step into one vector of sums for each vector of rows, in order. */
typedef void ulb_separate_fn(ulb_vec *sums);

/* The accumulators are such vectors already. */
static inline __attribute__((always_inline)) void ulb_no_fields(ulb_vec *sums)
{
    (void)sums;
}

/* Bytes of the scales of a group, before its tiles. */
static inline __attribute__((always_inline)) size_t ulb_scales_bytes(const struct ulb_k_loop *k_loop)
{
    return k_loop->vectors * ULB_VEC_BYTES;
}

/* results += the sums of one group, one for each vector of rows after separation, times its scales. Lines of
 * scales are prefetched like lines of tiles. */
static inline __attribute__((always_inline)) void
ulb_epilogue_group(const struct ulb_k_loop *k_loop, struct ulb_prefetch_setting prefetch,
                   ulb_separate_fn *separate, const int16_t *x_sums, size_t group, int32_t zero_point,
                   const uint8_t *scales, ulb_vec *sums, ulb_floats *results)
{
    const int16_t *x_sum = x_sums + group * (ULB_GROUP / ULB_SUM_COLUMNS);
    ulb_vec correction = ulb_all32(zero_point * ulb_sum_of_x(x_sum, ULB_GROUP));
    separate(sums);
    ULB_UNROLL(16)
    for (size_t v = 0; v < k_loop->vectors; v++) {
        const struct ulb_step_prefetch hint = {k_loop, v * ULB_VEC_BYTES, true, prefetch};
        ulb_add_scaled(&results[v], ulb_sub32(sums[v], correction),
                       (const float *)(const void *)(scales + v * ULB_VEC_BYTES));
        ulb_prefetch_line_at(&hint, scales + v * ULB_VEC_BYTES, 0, &sums[v]);
    }
}

/* A chunk of each slice from step s on, to sums of its own. */
static inline __attribute__((always_inline)) void
ulb_k_chunk_of_each_slice(const struct ulb_k_loop *k_loop, struct ulb_prefetch_setting prefetch,
                          ulb_step_fn *step, const struct ulb_tiles *tiles, size_t s, size_t steps,
                          ulb_vec *sums)
{
    ULB_UNROLL(2)
    for (size_t slice = 0; slice < ULB_GROUP_SLICES; slice++)
        ulb_k_chunk(k_loop, prefetch, step, tiles, slice, s, steps, true, sums + slice * k_loop->vectors);
}

/* The sums of group i of each slice, lying side by side, to the results. */
static inline __attribute__((always_inline)) void
ulb_epilogue_groups(const struct ulb_k_loop *k_loop, struct ulb_prefetch_setting prefetch,
                    ulb_separate_fn *separate, const struct ulb_tiles *tiles, const int16_t *x_sums, size_t i,
                    int32_t zero_point, ulb_vec *sums, ulb_floats *results)
{
    const uint8_t *scales = tiles->w + i * ULB_GROUP_STEPS * k_loop->step_bytes - ulb_scales_bytes(k_loop);
    ULB_UNROLL(2)
    for (size_t slice = 0; slice < ULB_GROUP_SLICES; slice++)
        ulb_epilogue_group(k_loop, prefetch, separate, x_sums, slice * (tiles->steps / ULB_GROUP_STEPS) + i,
                           zero_point, scales + slice * tiles->slice_bytes, sums + slice * k_loop->vectors,
                           results);
}

/* Group i of each slice: its steps, then its part of the results. With 16-bit sums the slices alternate after
 * a chunk, and their sums are kept in memory. A slice's group read whole would be a single address stream. */
static inline __attribute__((always_inline)) void
ulb_add_group(const struct ulb_k_loop *k_loop, struct ulb_prefetch_setting prefetch, ulb_step_fn *step,
              ulb_separate_fn *separate, const struct ulb_tiles *row, const int16_t *x_sums, size_t i,
              int32_t zero_point, ulb_floats *results)
{
    ulb_vec sums[ULB_GROUP_SLICES * ULB_ACCUMULATORS_MAX];
    const size_t begin = i * ULB_GROUP_STEPS, end = begin + ULB_GROUP_STEPS,
                 chunk = ulb_k_chunk_steps(k_loop);
    struct ulb_tiles tiles = *row;
    tiles.w += (i + 1) * ulb_scales_bytes(k_loop);
    if (k_loop->widen_s16) {
        ulb_zero_all(sums, ULB_GROUP_SLICES * k_loop->vectors);
        /* Laid out one after the other as long as they fit the cache of decoded instructions. */
        if (k_loop->vectors <= 4) {
            ULB_UNROLL(4)
            for (size_t s = begin; s < end; s += chunk)
                ulb_k_chunk_of_each_slice(k_loop, prefetch, step, &tiles, s, chunk, sums);
        } else {
            for (size_t s = begin; s < end; s += chunk)
                ulb_k_chunk_of_each_slice(k_loop, prefetch, step, &tiles, s, chunk, sums);
        }
    } else {
        ulb_zero_all(sums, k_loop->sets * k_loop->vectors);
#ifdef __clang__
/* Unrolled by two: by eight is faster on one CPU and slower on another (docs/measurements/kernels.md). */
#pragma clang loop unroll_count(2)
#else
#pragma GCC unroll 1 /* it would bring the prefetches together */
#endif
        for (size_t u = 0; u < ULB_GROUP_STEPS; u += chunk)
            ulb_k_chunk_slices(k_loop, prefetch, step, &tiles, begin + u, chunk, true, sums);
    }
    ulb_epilogue_groups(k_loop, prefetch, separate, &tiles, x_sums, i, zero_point, sums, results);
}

/* The loop over rows of tiles and tokens; tiles have k_loop->vectors * ULB_LANES rows. */
static inline __attribute__((always_inline)) void
ulb_run_groups_as(struct ulb_prefetch_setting prefetch, const struct ulb_gemm *g,
                  const struct ulb_layout *layout, const struct ulb_k_loop *k_loop, ulb_step_fn *step,
                  ulb_separate_fn *separate, int32_t zero_point)
{
    struct ulb_tiles tiles = {.slice_bytes = ulb_layout_slice_bytes(layout, g->m, g->k),
                              .steps = ulb_layout_steps(layout, g->k)};
    size_t rows = k_loop->vectors * ULB_LANES, groups = tiles.steps / ULB_GROUP_STEPS;
    size_t row_bytes = ulb_layout_row_bytes(layout, g->k), batch = ulb_batch(g, layout, rows);
    for (size_t row = g->m0; row < g->m1; row += batch) {
        size_t end = ulb_batch_end(g, row, batch);
        for (size_t n = 0; n < g->n; n++) {
            const int16_t *x_sums = g->x_sums + n * g->x_sums_stride;
            float some[ULB_BATCH_ROWS], *y = g->y + n * g->y_stride + row;
            tiles.x = (const int8_t *)g->x + n * g->x_stride;
            for (size_t at = row; at < end; at += rows) {
                ulb_floats results[ULB_ACCUMULATORS_MAX];
                tiles.w = (const uint8_t *)g->w + at / rows * row_bytes;
                ULB_UNROLL(16)
                for (size_t v = 0; v < k_loop->vectors; v++)
                    results[v] = ulb_no_floats();
                for (size_t i = 0; i < groups; i++)
                    ulb_add_group(k_loop, prefetch, step, separate, &tiles, x_sums, i, zero_point, results);
                ULB_UNROLL(16)
                for (size_t v = 0; v < k_loop->vectors; v++)
                    ulb_store_floats(some + (at - row) + v * ULB_LANES, results[v]);
            }
            ulb_scale_rows(y, some, end - row, g->x_scale[n]);
        }
    }
}

/* Three code variants: see kernels/x86/gemv/k_slices.h. */
static inline __attribute__((always_inline)) void
ulb_run_groups(const struct ulb_gemm *g, const struct ulb_layout *layout, const struct ulb_k_loop *k_loop,
               ulb_step_fn *step, ulb_separate_fn *separate, int32_t zero_point)
{
    ULB_SPECIALISE_PREFETCH(g->prefetch,
                            ulb_run_groups_as(prefetch, g, layout, k_loop, step, separate, zero_point));
}

#endif
