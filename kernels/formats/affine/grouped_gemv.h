/* Groups with a scale each, and activations with a zero point: the loop over the groups of a tile.
 *
 * The product of a group has four terms. The products of codes are summed here. The zero point of the weights
 * multiplies the sum of the group's activations, which is known. The two terms of the activations' zero point
 * add up, over all groups, to zero point * (sum of the row's weights). That sum lies after the tiles.
 * `|sum of a group| <= 256 * 255 * 127 < 2^23`, exact in single precision. */
#ifndef ULB_KERNELS_FORMATS_AFFINE_GROUPED_GEMV_H
#define ULB_KERNELS_FORMATS_AFFINE_GROUPED_GEMV_H

#include "kernels/group_sums.h"
#include "kernels/microkernel.h"
#include "kernels/x86/simd/vec_float.h"
#include "kernels/x86/gemm/planes.h"

#include <string.h>

/* Constants of a kernel. */
struct ulb_affine_cfg {
    const struct ulb_layout *layout;
    unsigned bits, zero;
    size_t columns;
    /* sums[slices][8] = sums of products of codes of some steps of four columns, less bias times the sum of
     * x. */
    void (*sum)(unsigned bits, const struct ulb_plane_groups *groups, size_t steps,
                struct ulb_line_prefetch hint, ulb_vec (*sums)[ULB_PLANE_VECTORS]);
    int32_t bias;       /* several tokens' codes of 8 bits have none */
    size_t l1_distance; /* bytes ahead of the prefetch into L1 */
    /* For several tokens: unpacks the codes of some steps to bytes, or to parts, the uppermost first:
     * codes[parts][steps]. NULL: the only plane is not unpacked. */
    void (*unpack)(unsigned bits, const uint8_t *w, size_t steps, ulb_plane_bytes *codes);
    unsigned parts, part_bits;
};

/* Prefetch distance in bytes for planes, which alternate as separate streams. A smaller distance is
 * slower. */
enum { ULB_PLANES_NEAR = 2048 };

static inline __attribute__((always_inline)) struct ulb_line_prefetch
ulb_affine_ahead(const struct ulb_affine_cfg *a, const struct ulb_tiles *tiles)
{
    return (struct ulb_line_prefetch){a->l1_distance, ulb_prefetch_setting(*tiles->prefetch)};
}

/* results += the sums of one group of the tile's rows, whose scales lie at scales. */
static inline __attribute__((always_inline)) void
ulb_add_affine_sums(const struct ulb_affine_cfg *a, const ulb_vec *sums, const uint8_t *scales, int32_t x_sum,
                    struct ulb_line_prefetch hint, ulb_floats *results)
{
    const uint8_t *zeros = scales + ULB_PLANE_ROWS * sizeof(float);
    int32_t offset = (a->zero ? 0 : 1 << (a->bits - 1)) - a->bias;
    ulb_floats all_x = ulb_all_floats((float)x_sum);
    ulb_vec lacking = ulb_all32(offset * x_sum);
    ULB_UNROLL(8)
    for (size_t v = 0; v < ULB_PLANE_VECTORS; v++) {
        ulb_floats part = ulb_to_floats(ulb_sub32(sums[v], lacking));
        if (a->zero)
            part = ulb_fnma(ulb_to_floats(ulb_load_unsigned_bytes(zeros + v * ULB_LANES)), all_x, part);
        results[v] = ulb_fma(part, ulb_load_floats(scales + v * ULB_VEC_BYTES), results[v]);
        if (v * ULB_VEC_BYTES % ULB_LINE == 0)
            ULB_PREFETCH_LINE_AFTER(results[v], scales, v * ULB_VEC_BYTES, hint);
    }
    ULB_UNROLL(2)
    for (size_t line = 0; line < ULB_PLANE_ROWS * a->zero; line += ULB_LINE)
        ulb_prefetch_line(zeros, line, hint);
}

/* results += group s of each slice. */
static inline __attribute__((always_inline)) void ulb_add_affine_groups(const struct ulb_affine_cfg *a,
                                                                        const struct ulb_tiles *tiles,
                                                                        size_t s, const int16_t *x_sums,
                                                                        ulb_floats *results)
{
    struct ulb_plane_groups groups;
    ulb_vec sums[ULB_PLANE_SLICES][ULB_PLANE_VECTORS];
    ULB_UNROLL(2)
    for (size_t i = 0; i < ULB_PLANE_SLICES; i++) {
        groups.w[i] = tiles->w + i * tiles->slice_bytes + s * a->layout->tile_bytes;
        groups.x[i] = tiles->x + (i * tiles->steps + s) * a->columns;
    }
    a->sum(a->bits, &groups, a->columns / 4, ulb_affine_ahead(a, tiles), sums);
    ULB_UNROLL(2)
    for (size_t i = 0; i < ULB_PLANE_SLICES; i++) {
        const int16_t *x_sum = x_sums + (i * tiles->steps + s) * a->columns / ULB_SUM_COLUMNS;
        ulb_add_affine_sums(a, sums[i], groups.w[i] + ULB_PLANE_ROWS * a->columns * a->bits / 8,
                            ulb_sum_of_x(x_sum, a->columns), ulb_affine_ahead(a, tiles), results);
    }
}

/* The sums of a tile's rows, of one token, less what the token's zero point is the sum of. */
static inline __attribute__((always_inline)) void ulb_sum_affine_tile(const struct ulb_affine_cfg *a,
                                                                      const struct ulb_tiles *tiles,
                                                                      const int16_t *x_sums, float *sums)
{
    ulb_floats results[ULB_PLANE_VECTORS];
    ULB_UNROLL(8)
    for (size_t v = 0; v < ULB_PLANE_VECTORS; v++)
        results[v] = ulb_no_floats();
    for (size_t s = 0; s < tiles->steps; s++)
        ulb_add_affine_groups(a, tiles, s, x_sums, results);
    ULB_UNROLL(8)
    for (size_t v = 0; v < ULB_PLANE_VECTORS; v++)
        ulb_store_floats(sums + v * ULB_LANES, results[v]);
}

/* y of the rows [m, end) of one token from their sums, which are lost. */
static inline __attribute__((always_inline)) void ulb_epilogue_affine(const struct ulb_affine_cfg *a,
                                                                      const struct ulb_gemm *g, size_t m,
                                                                      size_t end, size_t n, float *sums)
{
    const float *row_sums = ulb_row_sums(g, a->layout) + m;
    ulb_floats scale = ulb_all_floats(g->x_scale[n * g->x_scale_stride]);
    ulb_floats zero = ulb_all_floats((float)g->x_zero[n]);
    for (size_t i = 0; i < end - m; i += ULB_LANES) {
        ulb_floats sum = ulb_fnma(zero, ulb_load_floats(row_sums + i), ulb_load_floats(sums + i));
        ulb_store_floats(sums + i, ulb_mul(sum, scale));
    }
    memcpy(g->y + n * g->y_stride + m, sums, (end - m) * sizeof *sums);
}

static inline __attribute__((always_inline)) void ulb_run_affine(const struct ulb_affine_cfg *a,
                                                                 const struct ulb_gemm *g)
{
    struct ulb_tiles tiles = {.slice_bytes = ulb_layout_slice_bytes(a->layout, g->m, g->k),
                              .steps = ulb_layout_steps(a->layout, g->k),
                              .prefetch = &g->prefetch};
    size_t batch = ulb_batch(g, a->layout, ULB_PLANE_ROWS);
    for (size_t m = g->m0; m < g->m1; m += batch) {
        size_t end = ulb_batch_end(g, m, batch);
        for (size_t n = 0; n < g->n; n++) {
            float sums[ULB_BATCH_ROWS];
            tiles.x = (const int8_t *)g->x + n * g->x_stride;
            for (size_t at = m; at < end; at += ULB_PLANE_ROWS) {
                tiles.w = (const uint8_t *)g->w + at / ULB_PLANE_ROWS * tiles.steps * a->layout->tile_bytes;
                ulb_sum_affine_tile(a, &tiles, g->x_sums + n * g->x_sums_stride, sums + (at - m));
            }
            ulb_epilogue_affine(a, g, m, end, n, sums);
        }
    }
}

/* Sums of groups per 32 weights, and instructions for each of them. */
#define ULB_PER_GROUP(columns)  (4.0 / (columns))
#define ULB_GROUP_ENDS(columns) (ULB_PER_GROUP(columns) * ULB_VECTORS_PER_STEP)

#endif
