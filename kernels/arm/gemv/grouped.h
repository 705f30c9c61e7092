/* As kernels/arm/gemv/fields.h, with a scale for each ULB_GROUP columns of a row (32, 64 or 128). Sums are
 * integers inside a group, exact, and single precision across groups. A file includes this header after it
 * defines LAYOUT (prefix of its sdot layouts), FIELDS of a byte (1, 2 or 4) and ZERO_POINT.
 *
 * The two slices of K alternate after each group. Passes over the lanes of a tile are as in
 * kernels/arm/gemv/k_slices.h. Registers: eight sums of a group, eight results. Each group and vector of rows
 * takes a conversion, a load, an FMA and the separation of fields. */
#ifndef ULB_KERNELS_ARM_GEMV_GROUPED_H
#define ULB_KERNELS_ARM_GEMV_GROUPED_H

#define SPLIT ULB_OF_FIELDS(ULB_SPLIT_, FIELDS)

#include "kernels/arm/gemv/k_slices.h"
#include "kernels/group_sums.h"

enum {
    ROWS = ULB_BY_ISA(ULB_SDOT_ROWS_SHORT, ULB_SDOT_ROWS_LONG),
    LANES = ROWS / FIELDS,
    BITS = 8 / FIELDS,
    PLANE = 4 * LANES, /* bytes of 4 columns */
    TILE = 4 * PLANE,
    STEPS = ULB_GROUP / ULB_SDOT_COLUMNS,
    SCALES = ROWS * sizeof(float) /* bytes, before the tiles of their group */
};

/* First lane of vector n of rows, its first row, and the lanes that are there. */
#define LANE_AT(n) (at / 4 + (n) / FIELDS * ulb_lanes())
#define ROW_AT(n)  ((n) % FIELDS * (size_t)LANES + LANE_AT(n))
#define THERE(n)   ulb_lanes_left(LANE_AT(n), LANES)

#define DECLARE_SUM(n)    ulb_ints a##n = ulb_no_ints();
#define DECLARE_RESULT(n) ulb_floats r##n = ulb_all_floats(0);
#if FIELDS == 1
#define VALUES(n) a##n
#else
#define VALUES(n) ulb_sub_ints(a##n, ulb_all32(ZERO_POINT *x_sum))
#endif
#define ADD_GROUP(n)                                                                                         \
    r##n = ulb_fma(ulb_to_floats(VALUES(n)), ulb_load_floats(THERE(n), scales + ROW_AT(n)), r##n);
#define STORE_RESULT(n)                                                                                      \
    if (LANE_AT(n) < LANES)                                                                                  \
        ulb_store_floats(THERE(n), y + ROW_AT(n), r##n);

/* The lanes from byte at on of one row of tiles; y: of its rows, without the scale of the token. */
static inline __attribute__((always_inline)) void group_pass(const struct ulb_tiles *tiles,
                                                             const int16_t *x_sums, size_t at, float *y)
{
    const size_t plane = PLANE, groups = tiles->steps / STEPS;
    VECTORS(ULB_DECLARE_MASK)
    MASKS
    SUMS(DECLARE_RESULT)
    for (size_t i = 0; i < ULB_SDOT_SLICES * groups; i++) {
        const size_t slice = i % ULB_SDOT_SLICES, index = slice * groups + i / ULB_SDOT_SLICES;
        const uint8_t *group =
            tiles->w + slice * tiles->slice_bytes + i / ULB_SDOT_SLICES * (SCALES + STEPS * TILE);
        const float *scales = (const float *)(const void *)group;
        const uint8_t *w = group + SCALES + at;
        SUMS(DECLARE_SUM)
        for (size_t s = 0; s < STEPS; s++, w += TILE) {
            const ulb_bytes x = ulb_load16(tiles->x + index * ULB_GROUP + s * ULB_SDOT_COLUMNS);
            STEP(a, w, 0)
            STEP(a, w + PLANE, 1)
            STEP(a, w + 2 * PLANE, 2)
            STEP(a, w + 3 * PLANE, 3)
            if (at == 0)
                ulb_prefetch_lines(w, TILE);
        }
        const int32_t x_sum =
            FIELDS > 1 ? ulb_sum_of_x(x_sums + index * (ULB_GROUP / ULB_SUM_COLUMNS), ULB_GROUP) : 0;
        const ulb_ints lacking = ulb_all32(128 * x_sum);
        (void)lacking;
        SPLIT
        SUMS(ADD_GROUP)
    }
    SUMS(STORE_RESULT)
}

static void run(const struct ulb_gemm *g)
{
    const struct ulb_layout *layout = &ULB_SDOT_OF(LAYOUT);
    struct ulb_tiles tiles = {.slice_bytes = ulb_layout_slice_bytes(layout, g->m, g->k),
                              .steps = ulb_layout_steps(layout, g->k)};
    const size_t row_bytes = ulb_layout_row_bytes(layout, g->k);
    for (size_t n = 0; n < g->n; n++) {
        tiles.x = (const int8_t *)g->x + n * g->x_stride;
        const int16_t *x_sums = g->x_sums + n * g->x_sums_stride;
        for (size_t row = g->m0; row < g->m1; row += ROWS) {
            float y[ROWS];
            tiles.w = (const uint8_t *)g->w + row / ROWS * row_bytes;
            for (size_t at = 0; at < PLANE; at += (0 VECTORS(ULB_COUNT)) * ulb_vec_bytes())
                group_pass(&tiles, x_sums, at, y);
            ulb_scale_rows(g->y + n * g->y_stride + row, y, ulb_rows_left(g, row, ROWS), g->x_scale[n]);
        }
    }
}

/* One instruction for each vector of rows and group, per 32 weights at 128 bits. */
#define EACH_GROUP (8.0 / ULB_GROUP)

const struct ulb_kernel ULB_KERNEL = {
    .abi = ULB_KERNEL_ABI,
    .variant = FIELDS == 1 ? "dot" : "mask",
    .isa = ULB_KERNEL_ISA,
    .needs = ULB_KERNEL_NEEDS,
    .layout = &ULB_SDOT_OF(LAYOUT),
    .activation = ULB_ACT_A8,
    .mr = ROWS,
    .nr = 1,
    .kr = ULB_K_GRAIN(ULB_SDOT_SLICES),
    .bytes_per_step = 4 * BITS + ULB_GROUP_SCALE_BYTES,
    .tolerance = ULB_GROUP_TOLERANCE,
    .mix = {.loads = BITS / 4.0 + 1 / 16.0 + EACH_GROUP,
            .prefetches = BITS / 16.0,
            .logic = 2 - 2.0 / FIELDS,
            .shifts = (1 - 1.0 / FIELDS) * EACH_GROUP,
            .adds = (FIELDS > 1 ? 2 : 0) * EACH_GROUP,
            .dot_products = 2,
            .fmas = EACH_GROUP,
            .conversions = EACH_GROUP,
            .vector_bits = 128,
            .chains = 8},
    .run = run,
};

#endif
