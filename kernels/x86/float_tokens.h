/* Several tokens of a floating format at once: vectors of rows are loaded, and made single precision, once
 * for all tokens of a register tile. Chunks of columns stay in L1, or in L2 beside it, while the tiles of a
 * block of tokens pass over them; the sums of a chunk start at zero and are added to those of the block, so
 * that chains are shorter than of one token. Tokens are shared out evenly to tiles: alone they would have few
 * chains. Each pass asks L2 for its part of the next chunk; one that is alone, for what lies ahead of itself.
 *
 * Zen 5, cold, 4096x4096, 4, 16 and 64 tokens against one by one: fp32 with AVX2 1.7, 2.0 and 2.1 times as
 * fast, at 512 bits 1.9, 4.4 and 4.8; fp16 at 512 bits 1.8, 2.3 and 2.2; bf16 by FMA with AVX2 1.5, 1.3
 * and 1.2, at 512 bits 1.7, 2.3 and 2.0, by dot products 1.4, 2.7 and 2.4. fp16 with AVX2, 0.95 to 1.1: its
 * conversions are no work there. */
#ifndef ULB_KERNELS_X86_FLOAT_TOKENS_H
#define ULB_KERNELS_X86_FLOAT_TOKENS_H

#include <string.h>

#include "kernels/row.h"
#include "kernels/unroll.h"
#include "kernels/x86/dot.h"
#include "kernels/x86/floats.h"
#include "kernels/x86/streams.h"

enum {
    ULB_FLOAT_CHUNK_BYTES = 32768,
    ULB_FLOAT_BLOCK = 32,      /* tokens, whose sums, 16 KiB at most, wait between chunks */
    ULB_FLOAT_TILE_MAX = 6,    /* tokens */
    ULB_FLOAT_SUMS_MAX = 24,   /* of a register tile */
    ULB_FLOAT_COLUMNS_MAX = 2, /* of a step */
    ULB_FLOAT_ACTIVATION = 4,  /* bytes of a column of x: a float, or a pair of bfloat16 */
    ULB_FLOAT_AHEAD = 1024     /* bytes */
};

/* Compile-time constants of a row. */
struct ulb_float_tokens {
    const struct ulb_layout *layout;
    size_t vector_bytes; /* of weights: a step of a vector of rows */
    size_t x_bytes;      /* of an activation */
    unsigned columns;    /* of a step */
    unsigned vectors;    /* of rows in a pass; divides those of the layout's tile */
    unsigned tokens;     /* of a register tile */
    void (*load)(const uint8_t *w, ulb_floats *values); /* of a vector of rows: values[columns] */
    void (*add)(ulb_floats *sum, ulb_floats value, ulb_floats x);
};

/* Sums of a block of tokens for the rows of a tile. */
typedef float ulb_float_totals[ULB_FLOAT_BLOCK][ULB_TILE_ROWS_MAX];

/* Steps of a chunk at w; what a pass asks for: ask_bytes for each step, at ask first. */
struct ulb_float_chunk {
    const uint8_t *w, *ask;
    size_t steps, ask_bytes;
};

static inline size_t ulb_float_step_bytes(const struct ulb_float_tokens *row)
{
    return row->layout->tile_m / ULB_LANES * row->vector_bytes;
}

/* The four bytes of a column, for each lane. */
static inline ulb_floats ulb_column_to_all(const char *x)
{
    float column;
    memcpy(&column, x, sizeof column);
    return ulb_all_floats(column);
}

/* totals += products of a chunk for so many vectors of rows and tokens, whose activations are a stride of
 * bytes apart. */
static inline __attribute__((always_inline)) void
ulb_float_pass(const struct ulb_float_tokens *row, const struct ulb_float_chunk *chunk, size_t vector,
               const char *x, size_t x_stride, unsigned tokens, float (*totals)[ULB_TILE_ROWS_MAX])
{
    const size_t step_bytes = ulb_float_step_bytes(row);
    const uint8_t *ask = chunk->ask, *w = chunk->w + vector * row->vector_bytes;
    ulb_floats sums[ULB_FLOAT_SUMS_MAX];
    ULB_UNROLL(24)
    for (size_t i = 0; i < tokens * row->vectors; i++)
        sums[i] = ulb_no_floats();
    for (size_t s = 0; s < chunk->steps; s++, w += step_bytes, ask += chunk->ask_bytes) {
        ulb_floats ones[ULB_FLOAT_TILE_MAX * ULB_FLOAT_COLUMNS_MAX];
        ULB_UNROLL(12)
        for (size_t i = 0; i < tokens * row->columns; i++)
            ones[i] = ulb_column_to_all(x + i / row->columns * x_stride +
                                        (s * row->columns + i % row->columns) * ULB_FLOAT_ACTIVATION);
        ULB_UNROLL(8)
        for (size_t v = 0; v < row->vectors; v++) {
            ulb_floats values[ULB_FLOAT_COLUMNS_MAX];
            row->load(w + v * row->vector_bytes, values);
            ULB_UNROLL(2)
            for (size_t c = 0; c < row->columns; c++) {
                ULB_UNROLL(6)
                for (size_t t = 0; t < tokens; t++)
                    row->add(&sums[t * row->vectors + v], values[c], ones[t * row->columns + c]);
            }
        }
        for (size_t line = 0; line < chunk->ask_bytes; line += ULB_LINE)
            ulb_ask_told(ask, line, 0);
    }
    ULB_UNROLL(24)
    for (size_t i = 0; i < tokens * row->vectors; i++) {
        float *total = &totals[i / row->vectors][(vector + i % row->vectors) * ULB_LANES];
        ulb_store_floats(total, ulb_load_floats(total) + sums[i]);
    }
}

/* The same of a tile of 1 to row->tokens tokens. */
static inline __attribute__((always_inline)) void
ulb_float_tile(const struct ulb_float_tokens *row, const struct ulb_float_chunk *chunk, size_t vector,
               const char *x, size_t x_stride, size_t tokens, float (*totals)[ULB_TILE_ROWS_MAX])
{
    if (row->tokens >= 6 && tokens == 6)
        ulb_float_pass(row, chunk, vector, x, x_stride, 6, totals);
    else if (row->tokens >= 5 && tokens == 5)
        ulb_float_pass(row, chunk, vector, x, x_stride, 5, totals);
    else if (row->tokens >= 4 && tokens == 4)
        ulb_float_pass(row, chunk, vector, x, x_stride, 4, totals);
    else if (row->tokens >= 3 && tokens == 3)
        ulb_float_pass(row, chunk, vector, x, x_stride, 3, totals);
    else if (tokens == 2)
        ulb_float_pass(row, chunk, vector, x, x_stride, 2, totals);
    else
        ulb_float_pass(row, chunk, vector, x, x_stride, 1, totals);
}

/* All tiles of a block of tokens, and all vectors of rows, over a chunk; next: the chunk behind it. */
static inline __attribute__((always_inline)) void
ulb_float_passes(const struct ulb_float_tokens *row, const uint8_t *w, size_t steps, const uint8_t *next,
                 const char *x, size_t x_stride, size_t tokens, ulb_float_totals totals)
{
    const size_t vectors = row->layout->tile_m / ULB_LANES, step_bytes = ulb_float_step_bytes(row);
    const size_t tiles = (tokens + row->tokens - 1) / row->tokens, passes = tiles * (vectors / row->vectors);
    struct ulb_float_chunk chunk = {
        .w = w, .ask = w + ULB_FLOAT_AHEAD, .steps = steps, .ask_bytes = step_bytes};
    if (passes > 1) {
        chunk.ask = next;
        chunk.ask_bytes = (step_bytes + passes - 1) / passes;
    }
    for (size_t tile = 0, t = 0; tile < tiles; tile++) {
        const size_t some = (tokens - t) / (tiles - tile);
        for (size_t v = 0; v < vectors; v += row->vectors, chunk.ask += steps * chunk.ask_bytes)
            ulb_float_tile(row, &chunk, v, x + t * x_stride, x_stride, some, totals + t);
        t += some;
    }
}

/* One row of tiles, row m on, for tokens [n, n + tokens). At least two chunks: rows state the tolerance of
 * two chains. */
static inline __attribute__((always_inline)) void ulb_float_rows(const struct ulb_float_tokens *row,
                                                                 const struct ulb_gemm *g, size_t m, size_t n,
                                                                 size_t tokens)
{
    const size_t steps = ulb_layout_steps(row->layout, g->k), slices = ulb_layout_slices(row->layout, g->k);
    const size_t slice_bytes = ulb_layout_slice_bytes(row->layout, g->m, g->k);
    const size_t step_bytes = ulb_float_step_bytes(row), most = ULB_FLOAT_CHUNK_BYTES / step_bytes;
    const size_t element = ULB_FLOAT_ACTIVATION * row->columns, half = (steps + 1) / 2;
    const size_t stride = g->x_stride * row->x_bytes;
    const size_t chunk = most < half ? most : half;
    ulb_float_totals totals;
    memset(totals, 0, tokens * sizeof *totals);
    for (size_t i = 0; i < slices; i++) {
        const uint8_t *w =
            (const uint8_t *)g->w + i * slice_bytes + m / row->layout->tile_m * steps * step_bytes;
        for (size_t s = 0; s < steps; s += chunk) {
            const size_t some = steps - s < chunk ? steps - s : chunk;
            const uint8_t *next =
                s + some == steps && i + 1 < slices ? w + slice_bytes : w + (s + some) * step_bytes;
            ulb_float_passes(row, w + s * step_bytes, some, next,
                             (const char *)g->x + n * stride + (i * steps + s) * element, stride, tokens,
                             totals);
        }
    }
    const size_t left = ulb_rows_left(g, m, row->layout->tile_m);
    for (size_t t = 0; t < tokens; t++)
        memcpy(g->y + (n + t) * g->y_stride + m, totals[t], left * sizeof **totals);
}

static inline __attribute__((always_inline)) void ulb_run_float_tokens(const struct ulb_float_tokens *row,
                                                                       const struct ulb_gemm *g)
{
    for (size_t m = g->m0; m < g->m1; m += row->layout->tile_m) {
        for (size_t n = 0; n < g->n; n += ULB_FLOAT_BLOCK)
            ulb_float_rows(row, g, m, n, g->n - n < ULB_FLOAT_BLOCK ? g->n - n : ULB_FLOAT_BLOCK);
    }
}

#endif
