/* The K-loop of kernels with signed dot products over their tiles (kernels/pack/sdot_tile.h). A file includes
 * this header after it defines FIELDS of a byte (kernels/arm/gemv/field_steps.h), or:
 *
 *   SUMS(X)          X(i) for every accumulator of a pass: sum i % PLANES of vector i / PLANES.
 *   PLANES           sums of a lane: one for each field of its bytes, or more.
 *   VECTORS(X)       X(i) for every vector of a pass in a plane of bytes.
 *   BYTE_PLANES      of 4 columns: 1, or 3 if three bytes share codes.
 *   MASKS            ULB_KEEP(mask) for every mask that STEP uses.
 *   STEP(set, w, q)  adds the 4 columns at w to a set of accumulators; q: quarter of the activations in x.
 *
 * Two slices of K are two address streams with a set of accumulators each. A tile has a fixed number of rows.
 * A pass takes as many of them as its vectors hold, and passes cover the tile. NEON takes one pass, SVE of
 * 128 bits four, SVE of 512 bits one. A longer vector is partly empty. */
#ifndef ULB_KERNELS_ARM_GEMV_K_SLICES_H
#define ULB_KERNELS_ARM_GEMV_K_SLICES_H

#include "kernels/arm/gemv/field_steps.h"
#include "kernels/arm/simd/vec.h"
#include "kernels/pack/sdot_tile.h"
#include "kernels/microkernel.h"

enum { ULB_L1_DISTANCE = 1024, ULB_LINE = 64 };

/* The layout of a format, with scales as the build of the file requests them. */
#define ULB_SDOT_OF(format)   ULB_SDOT_OF_2(format)
#define ULB_SDOT_OF_2(format) ULB_GROUPED(ULB_BY_ISA(format##_sdot_32, format##_sdot_128))

/* Vector i of a plane of bytes. */
#define ULB_VECTOR_AT(i, w) ulb_load(mask##i, (w) + (i)*ulb_vec_bytes())

#define ULB_DECLARE(i)      ulb_ints a##i = ulb_no_ints(), b##i = ulb_no_ints();
#define ULB_DECLARE_MASK(i) const ulb_mask mask##i = ulb_bytes_left(at + (i)*ulb_vec_bytes(), plane);
#define ULB_STORE(i)                                                                                         \
    {                                                                                                        \
        size_t lane = at / 4 + (i) / (PLANES)*ulb_lanes();                                                   \
        if (lane < plane / 4)                                                                                \
            ulb_store_ints(ulb_lanes_left(lane, plane / 4), sums + (i) % (PLANES) * (plane / 4) + lane,      \
                           ulb_add_ints(a##i, b##i));                                                        \
    }

static inline void ulb_prefetch_lines(const uint8_t *w, size_t bytes)
{
    for (size_t line = 0; line < bytes; line += ULB_LINE)
        __builtin_prefetch(w + line + ULB_L1_DISTANCE, 0, 3);
}

/* The lanes from byte `at` of planes of bytes; sums[PLANES][lanes of a plane]. */
static inline __attribute__((always_inline)) void ulb_k_loop_pass(const struct ulb_tiles *tiles, size_t plane,
                                                                  size_t at, int32_t *sums)
{
    const size_t quad = plane * BYTE_PLANES;
    const uint8_t *w0 = tiles->w + at, *w1 = w0 + tiles->slice_bytes;
    const int8_t *x0 = tiles->x, *x1 = x0 + tiles->steps * ULB_SDOT_COLUMNS;
    SUMS(ULB_DECLARE)
    VECTORS(ULB_DECLARE_MASK)
    MASKS
    for (size_t s = 0; s < tiles->steps; s++, w0 += 4 * quad, w1 += 4 * quad) {
        {
            const ulb_bytes x = ulb_load16(x0 + s * ULB_SDOT_COLUMNS);
            STEP(a, w0, 0)
            STEP(a, w0 + quad, 1)
            STEP(a, w0 + 2 * quad, 2)
            STEP(a, w0 + 3 * quad, 3)
        }
        {
            const ulb_bytes x = ulb_load16(x1 + s * ULB_SDOT_COLUMNS);
            STEP(b, w1, 0)
            STEP(b, w1 + quad, 1)
            STEP(b, w1 + 2 * quad, 2)
            STEP(b, w1 + 3 * quad, 3)
        }
        if (at == 0) {
            ulb_prefetch_lines(w0, 4 * quad);
            ulb_prefetch_lines(w1, 4 * quad);
        }
    }
    SUMS(ULB_STORE)
}

/* All rows of a row of tiles: sums[PLANES][lanes]. */
static inline __attribute__((always_inline)) void ulb_k_loop_tiles(const struct ulb_tiles *tiles,
                                                                   size_t lanes, int32_t *sums)
{
    const size_t pass = (0 VECTORS(ULB_COUNT)) * ulb_vec_bytes();
    for (size_t at = 0; at < 4 * lanes; at += pass)
        ulb_k_loop_pass(tiles, 4 * lanes, at, sums);
}

/* Dot products of a tile's rows from the sums of its lanes; x_sum: of the activations. */
typedef void ulb_dots_fn(const int32_t *sums, int32_t x_sum, int32_t *dots);

/* The loop over rows of tiles and tokens; rows and lanes of a tile are constants. */
static inline __attribute__((always_inline)) void ulb_run_sdot_tiles(const struct ulb_gemm *g,
                                                                     const struct ulb_layout *layout,
                                                                     size_t rows, size_t lanes,
                                                                     ulb_dots_fn *dots_of, int32_t zero_point)
{
    struct ulb_tiles tiles = {.slice_bytes = ulb_layout_slice_bytes(layout, g->m, g->k),
                              .steps = ulb_layout_steps(layout, g->k)};
    size_t row_bytes = tiles.steps * ulb_layout_tile_bytes(layout);
    const float *w_scale = ulb_row_scales(g, layout);
    for (size_t row = g->m0; row < g->m1; row += rows) {
        tiles.w = (const uint8_t *)g->w + row / rows * row_bytes;
        for (size_t n = 0; n < g->n; n++) {
            int32_t sums[(PLANES)*ULB_SDOT_LANES_MAX], dots[ULB_TILE_ROWS_MAX];
            tiles.x = (const int8_t *)g->x + n * g->x_stride;
            ulb_k_loop_tiles(&tiles, lanes, sums);
            dots_of(sums, g->x_sum[n], dots);
            ulb_epilogue_tile(g, w_scale, row, rows, n, dots, zero_point);
        }
    }
}

/* Loads and prefetches of a kernel per 32 weights at 128 bits, for weights of `bits` bits. One load of
 * activations serves 16 columns of the rows of a pass. */
#define ULB_SDOT_LOADS(bits, pass_rows) .loads = (bits) / 4.0 + 2.0 / (pass_rows), .prefetches = (bits) / 16.0

#endif
