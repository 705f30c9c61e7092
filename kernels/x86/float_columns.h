/* Rows of floating formats whose columns lie one after the other: a column of a tile is so many vectors of
 * rows, which share one broadcast activation. Its sums are chains enough for the latency of FMA on two ports;
 * the slices of K are address streams and add to the same sums. */
#ifndef ULB_KERNELS_X86_FLOAT_COLUMNS_H
#define ULB_KERNELS_X86_FLOAT_COLUMNS_H

#include "kernels/x86/float_tokens.h"

#ifdef ULB_DP_512
enum { ULB_COLUMN_SLICES = 2 };
#else
enum { ULB_COLUMN_SLICES = 4 }; /* Zen 3: fp32 cold 0.91 of the yardstick with two, 0.96 with four */
#endif

enum {
    ULB_COLUMN_VECTORS = 8,
    ULB_COLUMN_ROWS = ULB_COLUMN_VECTORS * ULB_LANES,
    ULB_COLUMN_PASS_VECTORS = ULB_BY_ENCODING(4, 8) /* of several tokens */
};

/* *sum += a vector of rows times one activation. An assembler statement, because Clang moves sums from
 * register to register, and one of them to memory. */
typedef void ulb_add_rows_fn(ulb_floats *sum, const uint8_t *w, ulb_floats one);

/* One row of tiles and one token. bytes: of a weight. */
static inline __attribute__((always_inline)) void ulb_walk_columns(const struct ulb_tiles *tiles,
                                                                   const float *x, size_t bytes, size_t near,
                                                                   ulb_add_rows_fn *add, float *y)
{
    const size_t column = ULB_COLUMN_ROWS * bytes;
    ulb_floats sums[ULB_COLUMN_VECTORS];
    ULB_UNROLL(8)
    for (size_t v = 0; v < ULB_COLUMN_VECTORS; v++)
        sums[v] = ulb_no_floats();
    for (size_t s = 0; s < tiles->steps; s++) {
        ULB_UNROLL(4)
        for (size_t i = 0; i < ULB_COLUMN_SLICES; i++) {
            const uint8_t *w = tiles->w + i * tiles->slice_bytes + s * column;
            ulb_floats one = ulb_all_floats(x[i * tiles->steps + s]);
            ULB_UNROLL(8)
            for (size_t v = 0; v < ULB_COLUMN_VECTORS; v++) {
                size_t at = v * ULB_LANES * bytes;
                add(&sums[v], w + at, one);
                if (at % ULB_LINE == 0)
                    ulb_ask(w, at, (struct ulb_ahead){near, ulb_told(tiles->ask_ahead)});
            }
        }
    }
    ULB_UNROLL(8)
    for (size_t v = 0; v < ULB_COLUMN_VECTORS; v++)
        ulb_store_floats(y + v * ULB_LANES, sums[v]);
}

/* One token. */
static inline __attribute__((always_inline)) void ulb_run_columns(const struct ulb_gemm *g,
                                                                  const struct ulb_layout *layout,
                                                                  size_t bytes, size_t near,
                                                                  ulb_add_rows_fn *add)
{
    struct ulb_tiles tiles = {.slice_bytes = ulb_layout_slice_bytes(layout, g->m, g->k),
                              .steps = ulb_layout_steps(layout, g->k),
                              .ask_ahead = g->ask_ahead};
    for (size_t m = g->m0; m < g->m1; m += ULB_COLUMN_ROWS) {
        tiles.w = (const uint8_t *)g->w + m * tiles.steps * bytes;
        float y[ULB_TILE_ROWS_MAX];
        ulb_walk_columns(&tiles, g->x, bytes, near, add, y);
        memcpy(g->y + m, y, ulb_rows_left(g, m, ULB_COLUMN_ROWS) * sizeof *y);
    }
}

/* The run function of a row: add of one token, load of several, so many in a register tile. */
#define ULB_COLUMNS_RUN(layout, bytes, near, add, load_, tokens_)                                            \
    static __attribute__((noinline)) void run_tokens(const struct ulb_gemm *g)                               \
    {                                                                                                        \
        static const struct ulb_float_tokens row = {.rows = ULB_COLUMN_ROWS,                                 \
                                                    .vector_bytes = (bytes)*ULB_LANES,                       \
                                                    .step_bytes = (bytes)*ULB_COLUMN_ROWS,                   \
                                                    .streams = ULB_COLUMN_SLICES,                            \
                                                    .columns = 1,                                            \
                                                    .vectors = ULB_COLUMN_PASS_VECTORS,                      \
                                                    .tokens = (tokens_),                                     \
                                                    .load = (load_),                                         \
                                                    .add = ulb_add_product};                                 \
        ulb_run_float_tokens(&row, NULL, &(layout), g);                                                      \
    }                                                                                                        \
    static void run(const struct ulb_gemm *g)                                                                \
    {                                                                                                        \
        if (g->n == 1)                                                                                       \
            ulb_run_columns(g, &(layout), bytes, near, add);                                                 \
        else                                                                                                 \
            run_tokens(g);                                                                                   \
    }

/* Instructions per 32 weights of so many bytes, for so many tokens; vectors: that share a broadcast. */
#define ULB_COLUMN_UNITS (1024.0 / ULB_VEC_BITS) /* vectors of 32 floats */
#define ULB_COLUMNS_MIX(bytes, tokens_, vectors_)                                                            \
    .loads = ULB_COLUMN_UNITS, .broadcasts = ULB_COLUMN_UNITS / (vectors_) * (tokens_),                      \
    .prefetches = (bytes), .fmas = ULB_COLUMN_UNITS * (tokens_), .vector_bits = ULB_VEC_BITS,                \
    .chains = (vectors_) * (tokens_)

#endif
