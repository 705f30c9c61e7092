/* For kernel files only: the macros that cmake/kernels.cmake passes to a file (ULB_KERNEL, ULB_KERNEL_ISA,
 * ULB_KERNEL_NEEDS), and the parts that all kernels share. */
#ifndef ULB_KERNELS_MICROKERNEL_H
#define ULB_KERNELS_MICROKERNEL_H

#include "kernels/kernel.h"

/* Unrolls a loop of at most `passes` passes, an argument or a constant of the function. An array of
 * accumulators is in registers only if the loop is unrolled.
 *
 * Clang obeys a number before it inlines the function, while the number of passes is still an argument. The
 * result is a loop that it never unrolls again. With unroll(full) it waits until it knows the number of
 * passes. */
#ifdef __clang__
#define ULB_UNROLL(passes) _Pragma("clang loop unroll(full)")
#else
#define ULB_UNROLL(passes)      ULB_UNROLL_PRAGMA(GCC unroll passes)
#define ULB_UNROLL_PRAGMA(text) _Pragma(#text)
#endif

/* Appends _gN to a format or layout name if the file is compiled with -DULB_GROUP=N. The name is unchanged
 * for scales per row. */
#ifdef ULB_GROUP
#define ULB_K_GRAIN(slices)        ((slices)*ULB_GROUP) /* columns that K is padded to */
#define ULB_GROUPED(name)          ULB_GROUPED_2(name, ULB_GROUP)
#define ULB_GROUPED_2(name, group) ULB_GROUPED_3(name, group)
#define ULB_GROUPED_3(name, group) name##_g##group
#define ULB_GROUP_SCALE_BYTES      (32.0 / ULB_GROUP * sizeof(float)) /* per 32 weights */
/* Error bound for G groups; every rounding is at most 2^-24. The kernel rounds once per group, in the FMA.
 * The reference rounds a product and a sum. Both round the product with the token's scale. Together these are
 * G + 4 roundings. One group rounds equally in both. With two groups the first product does, which leaves 5.
 * `G < K / 32 + 1`, so that roundings are at most `K / 8 + 1`: `|error| <= (K + 8) 2^-27 sum |w||x|`. */
#define ULB_GROUP_TOLERANCE (1.0 / (1 << 27))
#else
#define ULB_K_GRAIN(slices)   ((slices)*4)
#define ULB_GROUPED(name)     name
#define ULB_GROUP_SCALE_BYTES 0
#define ULB_GROUP_TOLERANCE   0
#endif

/* The error bound for block formats, K >= 32. A block of at least 32 columns rounds at most four times, and
 * so does each of its groups of at least 16 columns. The epilogues of kernel and reference round eight times.
 * `|error| <= (4 (K / 32 + K / 16) + 8) 2^-24 sum |w||x| <= (K + 8) 2^-25 sum |w||x|`. */
#define ULB_BLOCK_TOLERANCE (1.0 / (1 << 25))

/* The readers of one file. */
struct ulb_reader_set {
    const struct ulb_reader *readers;
    size_t n;
};

/* One tile of a8 results: y = ((float)(D - origin * sum(x)) * row scale) * token scale. D is the dot product
 * with codes instead of values, exact modulo 2^32; value = code - origin. All kernels use this expression, so
 * that results are bit-equal. rows may be less than the tile at the lower edge of the matrix. */
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

/* y of some rows whose sums have their weights' scales already. */
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

/* The dot products of two rows of tiles; those of the second row go to `second`. */
typedef void ulb_tile_pair_fn(const struct ulb_tiles *tiles, int32_t *dots, int32_t *second);

enum {
    ULB_TILE_ROWS_MAX = 128,
    /* Bytes of weights whose rows share an epilogue. Scales and y are outside the stream of weights, and
     * disturb it. An epilogue after each tile is slower, and prefetching scales and y a tile ahead is slower
     * still. Longer batches help kernels with few bytes a row, and cost kernels with many as much. */
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

/* Rows of a batch in a call. Several tokens use one tile, whose weights are then still in a cache for the
 * next token. */
static inline size_t ulb_batch(const struct ulb_gemm *g, const struct ulb_layout *layout, size_t rows)
{
    return g->n > 1 ? rows : ulb_batch_rows(layout, g->k, rows);
}

/* Last row + 1 of the batch that begins at row. */
static inline size_t ulb_batch_end(const struct ulb_gemm *g, size_t row, size_t batch)
{
    return g->m1 - row < batch ? g->m1 : row + batch;
}

/* The dot products of a batch of `count` rows of tiles, the first at tiles. The halves of the batch are read
 * side by side, so that each continues in its streams. A remaining row of tiles is read alone, as are all
 * without tile_pair. */
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

/* The loop over rows of tiles and tokens that every a8 kernel runs around its tile function. tile_pair: for
 * two rows of tiles, or NULL. Both are inlined and thus direct calls. rows: of a tile, a constant. */
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

/* The loop for kernels without a tile_pair function. */
static inline __attribute__((always_inline)) void ulb_run_tiles(const struct ulb_gemm *g,
                                                                const struct ulb_layout *layout, size_t rows,
                                                                ulb_tile_fn *tile, int32_t zero_point)
{
    ulb_run_tile_pairs(g, layout, rows, tile, NULL, zero_point);
}

/* For floating kernels: results of `count` rows of tiles, one or two side by side, a constant, for the token
 * with activations x. */
typedef void ulb_float_tiles_fn(const struct ulb_tiles *tiles, size_t count, const void *x,
                                float (*y)[ULB_TILE_ROWS_MAX]);

/* Results of these rows of tiles for all tokens. x_bytes: of an activation. row_distance: rows from the first
 * row of tiles, which begins at row, to the second. */
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

/* A chain of K FMA, each rounding by at most 2^-24. To first order (Higham, Accuracy and Stability of
 * Numerical Algorithms, 3.1):
 * `|error| <= K * 2^-24 * sum |w||x|`.
 * The bound is reached if the first product absorbs all others (ULB_FILL_LOST). Two or more chains of at most
 * K/2 have half of it. */
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
