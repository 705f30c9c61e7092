/* Kernels of floating formats whose columns lie one after the other. A column of a tile is some vectors of
 * rows, which share one broadcast activation. Its sums are enough chains for the latency of FMA on two ports.
 * The slices of K are address streams and add to the same sums. */
#ifndef ULB_KERNELS_X86_FLOAT_KERNEL_H
#define ULB_KERNELS_X86_FLOAT_KERNEL_H

#include "kernels/x86/gemm/float.h"

/* Four address streams are faster than two. If registers allow, they are two slices of two rows of tiles:
 * four slices of one row of tiles would slow down calls of several tokens. */
#ifdef ULB_DP_512
enum { ULB_COLUMN_SLICES = 2, ULB_COLUMN_PAIRS = true };
#else
enum { ULB_COLUMN_SLICES = 4, ULB_COLUMN_PAIRS = false };
#endif

enum {
    ULB_COLUMN_VECTORS = 8,
    ULB_COLUMN_ROWS = ULB_COLUMN_VECTORS * ULB_LANES,
    ULB_COLUMN_PASS_VECTORS = ULB_BY_ENCODING(4, 8) /* of several tokens */
};

/* *sum += a vector of rows times one activation. An assembler statement, because Clang moves sums from
 * register to register, and one of them to memory. */
typedef void ulb_add_rows_fn(ulb_floats *sum, const uint8_t *w, ulb_floats one);

/* A ulb_float_tiles_fn. bytes: of a weight. */
static inline __attribute__((always_inline)) void ulb_sum_columns(const struct ulb_tiles *tiles, size_t count,
                                                                  const float *x, size_t bytes,
                                                                  size_t l1_distance, ulb_add_rows_fn *add,
                                                                  float (*y)[ULB_TILE_ROWS_MAX])
{
    const size_t column = ULB_COLUMN_ROWS * bytes;
    ulb_floats sums[2 * ULB_COLUMN_VECTORS];
    ULB_UNROLL(16)
    for (size_t v = 0; v < count * ULB_COLUMN_VECTORS; v++)
        sums[v] = ulb_no_floats();
    for (size_t s = 0; s < tiles->steps; s++) {
        ULB_UNROLL(4)
        for (size_t i = 0; i < ULB_COLUMN_SLICES; i++) {
            const uint8_t *w = tiles->w + i * tiles->slice_bytes + s * column;
            ulb_floats one = ulb_all_floats(x[i * tiles->steps + s]);
            ULB_UNROLL(16)
            for (size_t v = 0; v < count * ULB_COLUMN_VECTORS; v++) {
                size_t at = v % ULB_COLUMN_VECTORS * ULB_LANES * bytes;
                const uint8_t *of = w + v / ULB_COLUMN_VECTORS * tiles->tile_distance;
                add(&sums[v], of + at, one);
                if (at % ULB_LINE == 0)
                    ulb_prefetch_line(
                        of, at,
                        (struct ulb_line_prefetch){l1_distance, ulb_prefetch_setting(*tiles->prefetch)});
            }
        }
    }
    ULB_UNROLL(16)
    for (size_t v = 0; v < count * ULB_COLUMN_VECTORS; v++)
        ulb_store_floats(y[v / ULB_COLUMN_VECTORS] + v % ULB_COLUMN_VECTORS * ULB_LANES, sums[v]);
}

/* The run function of a kernel: add of one token, load of several, so many in a register tile. */
#define ULB_COLUMNS_RUN(layout, bytes, l1_distance, add, load_, tokens_)                                     \
    static const struct ulb_float_cfg cfg = {.rows = ULB_COLUMN_ROWS,                                        \
                                             .vector_bytes = (bytes)*ULB_LANES,                              \
                                             .step_bytes = (bytes)*ULB_COLUMN_ROWS,                          \
                                             .streams = ULB_COLUMN_SLICES,                                   \
                                             .columns = 1,                                                   \
                                             .vectors = ULB_COLUMN_PASS_VECTORS,                             \
                                             .tokens = (tokens_),                                            \
                                             .load = (load_),                                                \
                                             .add = ulb_add_product};                                        \
    ULB_FLOAT_PASSES(pass, cfg, tokens_)                                                                     \
    static __attribute__((noinline)) void run_tokens(const struct ulb_gemm *g)                               \
    {                                                                                                        \
        static const struct ulb_float_gemm gemm = {&cfg, NULL, pass, NULL, &(layout), 1, ulb_stream_runs};   \
        ulb_run_float_gemm(&gemm, g, g->x_stride);                                                           \
    }                                                                                                        \
    static inline void sum(const struct ulb_tiles *tiles, size_t count, const void *x,                       \
                           float(*y)[ULB_TILE_ROWS_MAX])                                                     \
    {                                                                                                        \
        ulb_sum_columns(tiles, count, x, bytes, l1_distance, add, y);                                        \
    }                                                                                                        \
    static void run(const struct ulb_gemm *g)                                                                \
    {                                                                                                        \
        if (g->n == 1)                                                                                       \
            ulb_run_float_tiles(g, &(layout), ULB_COLUMN_PAIRS, sizeof(float), sum);                         \
        else                                                                                                 \
            run_tokens(g);                                                                                   \
    }

/* Instructions per 32 weights of some bytes, for some tokens; vectors: that share a broadcast. */
#define ULB_COLUMN_UNITS (1024.0 / ULB_VEC_BITS) /* vectors of 32 floats */
#define ULB_COLUMNS_MIX(bytes, tokens_, vectors_)                                                            \
    .loads = ULB_COLUMN_UNITS, .broadcasts = ULB_COLUMN_UNITS / (vectors_) * (tokens_),                      \
    .prefetches = (bytes), .fmas = ULB_COLUMN_UNITS * (tokens_), .vector_bits = ULB_VEC_BITS,                \
    .chains = (vectors_) * (tokens_)

#endif
