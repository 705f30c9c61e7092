/* For kernel files only: what cmake/kernels.cmake hands to a file (ULB_KERNEL, ULB_KERNEL_ISA,
 * ULB_KERNEL_NEEDS), and the parts that every kernel shares. */
#ifndef ULB_KERNELS_MICROKERNEL_H
#define ULB_KERNELS_MICROKERNEL_H

#include "kernels/kernel.h"

/* Before a loop of at most so many passes, a number that the function has as an argument or a constant: only
 * unrolled does an array of accumulators lie in registers.
 *
 * Clang takes a number as an order and obeys it before it has put an inline function into its caller, where
 * the number of passes is an argument: it makes a loop for any number, which it never unrolls again. Asked to
 * unroll the whole loop it waits until it knows the passes. */
#ifdef __clang__
#define ULB_UNROLL(passes) _Pragma("clang loop unroll(full)")
#else
#define ULB_UNROLL(passes)      ULB_UNROLL_PRAGMA(GCC unroll passes)
#define ULB_UNROLL_PRAGMA(text) _Pragma(#text)
#endif

/* A name of the format or layout for the scales that the build of the file asks for: ULB_GROUP columns each,
 * or one for a whole row. */
#ifdef ULB_GROUP
#define ULB_K_GRAIN(slices)        ((slices)*ULB_GROUP) /* columns that K is padded to */
#define ULB_GROUPED(name)          ULB_GROUPED_2(name, ULB_GROUP)
#define ULB_GROUPED_2(name, group) ULB_GROUPED_3(name, group)
#define ULB_GROUPED_3(name, group) name##_g##group
#define ULB_GROUP_SCALE_BYTES      (32.0 / ULB_GROUP * sizeof(float)) /* per 32 weights */
/* Between a kernel and its reference, G groups, all roundings of at most 2^-24: the kernel's of each group's
 * FMA; the reference's of a product and of the sum; both products with the token's scale. That is G + 4; of
 * one group all are the same, of two the first product is, which leaves 5. With G < K / 32 + 1 it is at most
 * K / 8 + 1: |error| <= (K + 8) 2^-27 sum |w||x|. */
#define ULB_GROUP_TOLERANCE (1.0 / (1 << 27))
#else
#define ULB_K_GRAIN(slices)   ((slices)*4)
#define ULB_GROUPED(name)     name
#define ULB_GROUP_SCALE_BYTES 0
#define ULB_GROUP_TOLERANCE   0
#endif

/* The same for block formats, K >= 32: at most 4 roundings for a block of 32 columns or more, as many for
 * each of its groups of 16 or more, and 8 in the epilogues of kernel and reference: |error| <= (4 (K / 32 + K
 * / 16) + 8) 2^-24 sum of magnitudes <= (K + 8) 2^-25 times it. */
#define ULB_BLOCK_TOLERANCE (1.0 / (1 << 25))

/* The readers of one file. */
struct ulb_reader_set {
    const struct ulb_reader *readers;
    size_t n;
};

/* One tile of a8 results: y = ((float)(D - origin * sum(x)) * row scale) * token scale, where D is the dot
 * product with codes instead of values and value = code + origin' (D exact modulo 2^32). All kernels use this
 * expression, so results are bit-equal. rows may be less than the tile at the lower edge of the matrix. */
static inline __attribute__((always_inline)) void
ulb_epilogue_rows(float *__restrict y, const int32_t *__restrict dots, const float *__restrict w_scale,
                  size_t rows, uint32_t correction, float x_scale)
{
    for (size_t i = 0; i < rows; i++)
        y[i] = (float)(int32_t)((uint32_t)dots[i] - correction) * w_scale[i] * x_scale;
}

/* tile_m, a constant of the kernel, makes the usual case a loop of known length. */
static inline __attribute__((always_inline)) void ulb_epilogue_tile(const struct ulb_gemm *g,
                                                                    const float *w_scale, size_t row,
                                                                    size_t tile_m, size_t n,
                                                                    const int32_t *dots, int32_t zero_point)
{
    uint32_t correction = (uint32_t)zero_point * (uint32_t)g->x_sum[n];
    float *y = g->y + n * g->y_stride + row;
    size_t rows = g->m1 - row;
    if (rows >= tile_m)
        ulb_epilogue_rows(y, dots, w_scale + row, tile_m, correction, g->x_scale[n]);
    else
        ulb_epilogue_rows(y, dots, w_scale + row, rows, correction, g->x_scale[n]);
}

/* y of so many rows whose sums have their weights' scales already. */
static inline __attribute__((always_inline)) void
ulb_scale_rows(float *__restrict y, const float *__restrict sums, size_t rows, float x_scale)
{
    for (size_t i = 0; i < rows; i++)
        y[i] = sums[i] * x_scale;
}

/* Rows of the tile that starts at row. */
static inline size_t ulb_rows_left(const struct ulb_gemm *g, size_t row, size_t tile_m)
{
    return g->m1 - row < tile_m ? g->m1 - row : tile_m;
}

static inline const float *ulb_row_scales(const struct ulb_gemm *g, const struct ulb_layout *layout)
{
    return (const float *)((const char *)g->w + ulb_layout_scales_offset(layout, g->m, g->k));
}

/* Zeros and sums of rows. */
static inline const float *ulb_row_zeros(const struct ulb_gemm *g, const struct ulb_layout *layout)
{
    return (const float *)((const char *)g->w + ulb_layout_zeros_offset(layout, g->m, g->k));
}

static inline const float *ulb_row_sums(const struct ulb_gemm *g, const struct ulb_layout *layout)
{
    return (const float *)((const char *)g->w + ulb_layout_sums_offset(layout, g->m, g->k));
}

/* The codes of one row of tiles and the activations of one token. */
struct ulb_tiles {
    const uint8_t *w;     /* of the first slice */
    size_t slice_bytes;   /* to the same tiles of the next slice */
    size_t steps;         /* tiles of a slice */
    size_t tile_distance; /* of two rows of tiles side by side, to the second */
    const int8_t *x;
    const struct ulb_prefetch *prefetch; /* the call's */
};

/* Their dot products, one per row of a tile. */
typedef void ulb_tile_fn(const struct ulb_tiles *tiles, int32_t *dots);

/* Of two rows of tiles, those of the second at second. */
typedef void ulb_tile_pair_fn(const struct ulb_tiles *tiles, int32_t *dots, int32_t *second);

enum {
    ULB_TILE_ROWS_MAX = 128,
    /* Rows whose results are finished together: about so many bytes of weights. Scales and y are read and
     * written from elsewhere than the stream of weights, and whatever comes between disturbs it: after every
     * tile that cost 6 % of the time of 4096x4096 and larger (int2, Golden Cove), prefetching them a tile
     * ahead 2 to 4 % more. For 1024 rows and more rows of few bytes gain 1 to 4 %, those of many lose as
     * much. */
    ULB_BATCH_BYTES = 1 << 20,
    ULB_BATCH_ROWS_LEAST = 512,
    ULB_BATCH_ROWS = 2048 /* at most */
};

/* Rows that are finished together, whole tiles of so many. */
static inline size_t ulb_batch_rows(const struct ulb_layout *layout, size_t k, size_t rows)
{
    size_t row_bytes = ulb_layout_row_bytes(layout, k) * ulb_layout_slices(layout, k) / layout->tile_m;
    const size_t fit = ULB_BATCH_BYTES / (row_bytes + 1), fewest = ULB_BATCH_ROWS_LEAST,
                 most = ULB_BATCH_ROWS;
    const size_t least = fit < fewest ? fewest : fit;
    return (least < most ? least : most) / rows * rows;
}

/* The same; of several tokens one tile, whose weights are still in a cache for the next token. */
static inline size_t ulb_batch(const struct ulb_gemm *g, const struct ulb_layout *layout, size_t rows)
{
    return g->n > 1 ? rows : ulb_batch_rows(layout, g->k, rows);
}

/* Where the batch that begins at row ends. */
static inline size_t ulb_batch_end(const struct ulb_gemm *g, size_t row, size_t batch)
{
    return g->m1 - row < batch ? g->m1 : row + batch;
}

/* The dot products of a batch of count rows of tiles, the first at tiles. Its halves are read side by side,
 * so that each runs on in its streams; a row of tiles that is left over, or any without a tile_pair function,
 * alone. */
static inline __attribute__((always_inline)) void ulb_sum_batch(struct ulb_tiles tiles, size_t row_bytes,
                                                                size_t rows, size_t count, ulb_tile_fn *tile,
                                                                ulb_tile_pair_fn *tile_pair, int32_t *dots)
{
    const size_t half = tile_pair ? count / 2 : 0;
    tiles.tile_distance = half * row_bytes;
    for (size_t i = 0; i < half; i++, tiles.w += row_bytes)
        tile_pair(&tiles, dots + i * rows, dots + (i + half) * rows);
    tiles.w += tiles.tile_distance;
    for (size_t i = 2 * half; i < count; i++, tiles.w += row_bytes)
        tile(&tiles, dots + i * rows);
}

/* The loop over rows of tiles and tokens that every a8 kernel has round its tile function, and its tile_pair
 * function if it has one (NULL: it has none); inlined, so that they are direct calls. rows: of a tile, as a
 * constant. */
static inline __attribute__((always_inline)) void
ulb_run_tile_pairs(const struct ulb_gemm *g, const struct ulb_layout *layout, size_t rows, ulb_tile_fn *tile,
                   ulb_tile_pair_fn *tile_pair, int32_t zero_point)
{
    struct ulb_tiles tiles = {.slice_bytes = ulb_layout_slice_bytes(layout, g->m, g->k),
                              .steps = ulb_layout_steps(layout, g->k),
                              .prefetch = &g->prefetch};
    size_t row_bytes = tiles.steps * ulb_layout_tile_bytes(layout);
    size_t batch = ulb_batch(g, layout, tile_pair ? 2 * rows : rows);
    const float *w_scale = ulb_row_scales(g, layout);
    for (size_t row = g->m0; row < g->m1; row += batch) {
        size_t end = ulb_batch_end(g, row, batch);
        tiles.w = (const uint8_t *)g->w + row / rows * row_bytes;
        for (size_t n = 0; n < g->n; n++) {
            int32_t dots[ULB_BATCH_ROWS];
            tiles.x = (const int8_t *)g->x + n * g->x_stride;
            ulb_sum_batch(tiles, row_bytes, rows, (end - row + rows - 1) / rows, tile, tile_pair, dots);
            uint32_t correction = (uint32_t)zero_point * (uint32_t)g->x_sum[n];
            ulb_epilogue_rows(g->y + n * g->y_stride + row, dots, w_scale + row, end - row, correction,
                              g->x_scale[n]);
        }
    }
}

/* The same of kernels without a tile_pair function. */
static inline __attribute__((always_inline)) void ulb_run_tiles(const struct ulb_gemm *g,
                                                                const struct ulb_layout *layout, size_t rows,
                                                                ulb_tile_fn *tile, int32_t zero_point)
{
    ulb_run_tile_pairs(g, layout, rows, tile, NULL, zero_point);
}

/* Of floating kernels: results of one row of tiles or of two side by side, count, a constant, and of one
 * token, whose activations are x. */
typedef void ulb_float_tiles_fn(const struct ulb_tiles *tiles, size_t count, const void *x,
                                float (*y)[ULB_TILE_ROWS_MAX]);

/* The same for all tokens; x_bytes: of an activation. row_distance: rows from the first row of tiles, which
 * begins at row, to the second. */
static inline __attribute__((always_inline)) void
ulb_sum_float_tiles(const struct ulb_gemm *g, const struct ulb_tiles *tiles, size_t count, size_t tile_m,
                    size_t row, size_t row_distance, size_t x_bytes, ulb_float_tiles_fn *sum)
{
    for (size_t n = 0; n < g->n; n++) {
        float y[2][ULB_TILE_ROWS_MAX];
        sum(tiles, count, (const char *)g->x + n * g->x_stride * x_bytes, y);
        for (size_t i = 0; i < count; i++) {
            const size_t m = row + i * row_distance, rows = ulb_rows_left(g, m, tile_m);
            for (size_t j = 0; j < rows; j++)
                g->y[n * g->y_stride + m + j] = y[i][j];
        }
    }
}

/* The loop over rows of tiles; tile_pairs: the halves of all of them are read side by side. */
static inline __attribute__((always_inline)) void ulb_run_float_tiles(const struct ulb_gemm *g,
                                                                      const struct ulb_layout *layout,
                                                                      bool tile_pairs, size_t x_bytes,
                                                                      ulb_float_tiles_fn *sum)
{
    struct ulb_tiles tiles = {.slice_bytes = ulb_layout_slice_bytes(layout, g->m, g->k),
                              .steps = ulb_layout_steps(layout, g->k),
                              .prefetch = &g->prefetch};
    const size_t tile_m = layout->tile_m, row_bytes = tiles.steps * ulb_layout_tile_bytes(layout);
    const size_t count = (g->m1 - g->m0 + tile_m - 1) / tile_m, half = tile_pairs ? count / 2 : 0;
    size_t row = g->m0;
    tiles.w = (const uint8_t *)g->w + row / tile_m * row_bytes;
    tiles.tile_distance = half * row_bytes;
    for (size_t i = 0; i < half; i++, tiles.w += row_bytes, row += tile_m)
        ulb_sum_float_tiles(g, &tiles, 2, tile_m, row, half * tile_m, x_bytes, sum);
    tiles.w += tiles.tile_distance;
    row += half * tile_m;
    for (; row < g->m1; tiles.w += row_bytes, row += tile_m)
        ulb_sum_float_tiles(g, &tiles, 1, tile_m, row, 0, x_bytes, sum);
}

/* A chain of K FMA, each rounding by at most 2^-24: |error| <= K * 2^-24 * sum |w||x| to first order (Higham,
 * Accuracy and Stability of Numerical Algorithms, 3.1). It is met where all others are lost to the first
 * product (ULB_FILL_LOST). Two chains of K/2, or more: half of it. */
#define ULB_ONE_CHAIN_TOLERANCE (1.0 / (1 << 24))
#define ULB_FLOAT_TOLERANCE     (ULB_ONE_CHAIN_TOLERANCE / 2)

/* A file with a kernel for each of its VARIANTS: the name of one, which also declares it. */
#ifdef ULB_KERNEL_PREFIX
#define ULB_KERNEL_VARIANT(variant)           ULB_KERNEL_VARIANT_2(ULB_KERNEL_PREFIX, variant)
#define ULB_KERNEL_VARIANT_2(prefix, variant) ULB_KERNEL_VARIANT_3(prefix, variant)
#define ULB_KERNEL_VARIANT_3(prefix, variant)                                                                \
    extern const struct ulb_kernel prefix##variant;                                                          \
    const struct ulb_kernel prefix##variant
#endif

#ifdef ULB_KERNEL
#if defined(ULB_KERNEL_IS_READER)
extern const struct ulb_reader_set ULB_KERNEL;
#elif defined(ULB_KERNEL_IS_PEAK)
extern const struct ulb_peak ULB_KERNEL;
#else
extern const struct ulb_kernel ULB_KERNEL;
#endif
#endif

#endif
