/* Several tokens at once by dot products: each vector of weights is loaded, and its fields masked, once for
 * all tokens of a register tile; the rest is as for one token (kernels/x86/streams.h): slices of K as address
 * streams, the same layouts, fields at their places in the byte. What is left of the tokens goes in smaller
 * tiles, with more sets of accumulators in place of tokens, so that enough chains hide the latency. */
#ifndef ULB_KERNELS_X86_TOKENS_H
#define ULB_KERNELS_X86_TOKENS_H

#include "kernels/row.h"
#include "kernels/x86/streams.h"
#include "kernels/x86/vnni.h"

enum { ULB_TOKENS_MAX_TILE = 4, ULB_TOKENS_CHAINS = 16 };

/* Compile-time constants of a row. */
struct ulb_tokens {
    const struct ulb_layout *layout;
    unsigned vectors; /* of packed weights in a step of 4 columns */
    unsigned fields;  /* of a byte */
    unsigned bits;    /* of a field */
    unsigned tokens;  /* of the register tile */
    unsigned slices;  /* of the layout */
    int32_t zero_point;
    size_t near, far;               /* bytes ahead, in the stream, of the prefetches into L1 and L2 */
    void (*combine)(ulb_vec *sums); /* sums of fields at their places -> of each vector of rows */
};

/* One step of one slice for so many tokens, whose activations are a stride apart. */
static inline __attribute__((always_inline)) void ulb_tokens_step(const struct ulb_tokens *row,
                                                                  unsigned tokens, const uint8_t *w,
                                                                  const int8_t *x, size_t stride,
                                                                  ulb_vec *sums)
{
    ulb_vec four[ULB_TOKENS_MAX_TILE];
#pragma GCC unroll 4
    for (unsigned t = 0; t < tokens; t++)
        four[t] = ulb_broadcast4(x + t * stride);
#pragma GCC unroll 8
    for (unsigned v = 0; v < row->vectors; v++) {
        ulb_vec packed = ulb_load(w + v * ULB_VEC_BYTES);
#pragma GCC unroll 8
        for (unsigned f = 0; f < row->fields; f++) {
            unsigned mask = ((1u << row->bits) - 1) << f * row->bits;
            ulb_vec field = f + 1 == row->fields ? packed : ulb_and(packed, ulb_all8((int)mask));
#pragma GCC unroll 4
            for (unsigned t = 0; t < tokens; t++)
                ulb_dp(&sums[(t * row->vectors + v) * row->fields + f], field, four[t]);
        }
    }
}

/* One row of tiles for tokens [n, n + tokens). */
static inline __attribute__((always_inline)) void ulb_tokens_tile(const struct ulb_tokens *row,
                                                                  const struct ulb_gemm *g,
                                                                  const struct ulb_tiles *tiles, size_t panel,
                                                                  size_t n, unsigned tokens)
{
    const unsigned each = row->vectors * row->fields, all = each * tokens;
    const unsigned sets = ULB_TOKENS_CHAINS / all > row->slices ? row->slices
                          : ULB_TOKENS_CHAINS / all > 1         ? ULB_TOKENS_CHAINS / all
                                                                : 1;
    const size_t step_bytes = (size_t)row->vectors * ULB_VEC_BYTES;
    const int8_t *x = (const int8_t *)g->x + n * g->x_stride;
    ulb_vec sums[ULB_ACCUMULATORS_MAX];
#pragma GCC unroll 32
    for (unsigned i = 0; i < sets * all; i++)
        sums[i] = ulb_zero();
    for (size_t s = 0; s < tiles->steps; s++) {
#pragma GCC unroll 4
        for (size_t i = 0; i < row->slices; i++) {
            const uint8_t *w = tiles->w + i * tiles->slice_bytes + s * step_bytes;
            ulb_tokens_step(row, tokens, w, x + (i * tiles->steps + s) * 4, g->x_stride,
                            sums + i % sets * all);
#pragma GCC unroll 8
            for (size_t line = 0; line < step_bytes; line += ULB_LINE) {
                _mm_prefetch((const char *)w + line + row->near, _MM_HINT_T0);
                if (row->far)
                    _mm_prefetch((const char *)w + line + row->far, _MM_HINT_T1);
            }
        }
    }
#pragma GCC unroll 4
    for (unsigned set = 1; set < sets; set++) {
#pragma GCC unroll 16
        for (unsigned i = 0; i < all; i++)
            sums[i] = ulb_add32(sums[i], sums[set * all + i]);
    }
    const float *scale = ulb_row_scales(g, row->layout);
#pragma GCC unroll 4
    for (unsigned t = 0; t < tokens; t++) {
        int32_t dots[ULB_TILE_ROWS_MAX];
        row->combine(sums + t * each);
        ulb_store_all(dots, sums + t * each, (int)each);
        ulb_finish_tile(g, scale, panel, (size_t)each * ULB_LANES, n + t, dots, row->zero_point);
    }
}

static inline __attribute__((always_inline)) void ulb_run_tokens(const struct ulb_tokens *row,
                                                                 const struct ulb_gemm *g)
{
    const size_t rows = (size_t)row->vectors * row->fields * ULB_LANES;
    struct ulb_tiles tiles = {.slice_bytes = ulb_layout_slice_bytes(row->layout, g->m, g->k),
                              .steps = ulb_layout_steps(row->layout, g->k)};
    size_t row_bytes = tiles.steps * row->vectors * ULB_VEC_BYTES;
    for (size_t panel = g->m0; panel < g->m1; panel += rows) {
        size_t n = 0;
        tiles.w = (const uint8_t *)g->w + panel / rows * row_bytes;
        for (; n + row->tokens <= g->n; n += row->tokens)
            ulb_tokens_tile(row, g, &tiles, panel, n, row->tokens);
        if (g->n - n == 3)
            ulb_tokens_tile(row, g, &tiles, panel, n, 3);
        else if (g->n - n == 2)
            ulb_tokens_tile(row, g, &tiles, panel, n, 2);
        else if (g->n - n == 1)
            ulb_tokens_tile(row, g, &tiles, panel, n, 1);
    }
}

/* For so many tokens; prefetches of a line. Accumulators: of a row's own tokens, or more sets in their place.
 */
#define ULB_TOKENS_MIX(vectors_, fields_, prefetches_, tokens_)                                              \
    {                                                                                                        \
        .loads = 0.5 / (fields_), .broadcasts = 0.5 / (fields_) / (vectors_) * (tokens_),                    \
        .prefetches = 0.5 / (fields_) * (prefetches_), .logic = 0.5 / (fields_) * ((fields_)-1),             \
        .dot_products = 0.5 * (tokens_), .vector_bits = ULB_VEC_BITS,                                        \
        .chains = ULB_TOKENS_ACCUMULATORS((vectors_) * (fields_) * (tokens_))                                \
    }
#define ULB_TOKENS_ACCUMULATORS(n) ((n) * (ULB_TOKENS_CHAINS / (n) > 1 ? ULB_TOKENS_CHAINS / (n) : 1))

#endif
