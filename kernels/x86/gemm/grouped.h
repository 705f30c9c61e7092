/* GEMM with a scale for each group of columns (kernels/x86/gemv/grouped.h). Each vector of weights is loaded,
 * and its fields masked, once for the tokens of a register tile. A K-block is some groups of both slices. It
 * stays in L1 with its activations while the tiles of an N-block iterate over it, and results are kept next
 * to it. Groups come in the order of the GEMV. Fields of int2 are separated at the end of each group, as in
 * the GEMV. A single pass prefetches ahead in its own stream. Several passes each prefetch a part of the next
 * K-block. With AVX2 alone: kernels/x86/gemm/avx2_unpacked.h.
 *
 * A single pass prefetches into L1 and L2 after each vector: L2 alone, or prefetches after each step, are
 * slower. */
#ifndef ULB_KERNELS_X86_GEMM_GROUPED_H
#define ULB_KERNELS_X86_GEMM_GROUPED_H

#include "kernels/x86/gemv/grouped.h"

#if defined(ULB_DP_EVEX) || defined(ULB_DP_512)

#include "kernels/x86/simd/vec_float.h"
#include "kernels/x86/gemm/field_tile.h"

enum {
    ULB_GROUP_TOKENS = 4,            /* of a register tile */
    ULB_GROUP_N_BLOCK = 64,          /* tokens; smaller N-blocks are slower for int8 */
    ULB_GROUP_NEAR = 1024,           /* distance in bytes of a single pass's prefetch into L1 */
    ULB_GROUP_FAR = 16384,           /* and into L2 */
    ULB_GROUP_K_BLOCK_BYTES = 16384, /* of weights, but at least a group of each slice */
    ULB_GROUP_K_BLOCK_COLUMNS = 512, /* at most */
    ULB_GROUP_K_BLOCK_GROUPS = ULB_GROUP_K_BLOCK_COLUMNS / ULB_GROUP
};

/* Results of each token so far, and the corrections of its sums in each group. Corrections of the slices
 * alternate. */
struct ulb_group_n_block {
    float results[ULB_GROUP_N_BLOCK][ULB_TILE_ROWS_MAX];
    int32_t lacking[ULB_GROUP_N_BLOCK][ULB_GROUP_K_BLOCK_GROUPS];
};

/* A K-block of some groups of each slice, and the prefetches of its passes. Each step prefetches ask_bytes,
 * beginning `ask` bytes after its group. */
struct ulb_group_k_block {
    const uint8_t *w;
    const int8_t *x; /* of its first column and token */
    size_t x_stride; /* from one token to the next */
    size_t slice_bytes, slice_columns, groups, ask, ask_bytes;
};

/* Vectors of rows, and bytes of a group of columns with its scales. */
static inline __attribute__((always_inline)) size_t ulb_group_vectors(const struct ulb_field_tile_cfg *cfg)
{
    return (size_t)cfg->vectors * cfg->fields;
}

static inline __attribute__((always_inline)) size_t ulb_group_bytes(const struct ulb_field_tile_cfg *cfg)
{
    return (ulb_group_vectors(cfg) + (size_t)ULB_GROUP_STEPS * cfg->vectors) * ULB_VEC_BYTES;
}

/* Lines that are prefetched in a step: of all its bytes, or of half of them. */
static inline __attribute__((always_inline)) size_t ulb_group_asks(const struct ulb_field_tile_cfg *cfg,
                                                                   bool single_pass)
{
    const size_t part = single_pass ? ULB_LINE : 2 * ULB_LINE;
    return (ulb_group_bytes(cfg) / ULB_GROUP_STEPS + part - 1) / part;
}

/* Groups of each slice in a K-block. */
static inline __attribute__((always_inline)) size_t ulb_k_block_groups(const struct ulb_field_tile_cfg *cfg)
{
    const size_t fit = ULB_GROUP_K_BLOCK_BYTES / (ULB_GROUP_SLICES * ulb_group_bytes(cfg));
    const size_t most = ULB_GROUP_K_BLOCK_GROUPS / ULB_GROUP_SLICES;
    return fit < 1 ? 1 : fit < most ? fit : most;
}

/* results += the sums of a group, whose scales begin at scales, for tokens of the block from t. */
static inline __attribute__((always_inline)) void
ulb_epilogue_token_group(const struct ulb_field_tile_cfg *cfg, const uint8_t *scales, size_t group, size_t t,
                         unsigned tokens, ulb_vec *sums, struct ulb_group_n_block *n_block)
{
    const size_t vectors = ulb_group_vectors(cfg);
    ULB_UNROLL(4)
    for (size_t i = 0; i < tokens; i++) {
        const ulb_vec lacking = ulb_all32(n_block->lacking[t + i][group]);
        cfg->separate(sums + i * vectors);
        ULB_UNROLL(8)
        for (size_t v = 0; v < vectors; v++) {
            float *at = &n_block->results[t + i][v * ULB_LANES];
            ulb_floats result = ulb_load_floats(at);
            ulb_add_scaled(&result, ulb_sub32(sums[i * vectors + v], lacking),
                           (const float *)(const void *)(scales + v * ULB_VEC_BYTES));
            ulb_store_floats(at, result);
        }
    }
}

/* Adds a step at w for some tokens, whose activations begin at x. Each vector is followed by its part of the
 * prefetches at `ask`. near: distance of further prefetches into L1, relative to w. */
static inline __attribute__((always_inline)) void
ulb_add_prefetching_step(const struct ulb_field_tile_cfg *cfg, const uint8_t *w, const int8_t *const *x,
                         unsigned tokens, const uint8_t *ask, size_t asks, size_t l1_distance, ulb_vec *sums)
{
    ulb_vec four[ULB_GROUP_TOKENS];
    ULB_UNROLL(4)
    for (size_t i = 0; i < tokens; i++)
        four[i] = ulb_broadcast4(x[i]);
    ULB_UNROLL(6)
    for (unsigned v = 0; v < cfg->vectors; v++) {
        ulb_tokens_vector(cfg, tokens, w, four, v, sums);
        __asm__ volatile("" : "+" ULB_REGISTER(sums[v * cfg->fields]));
        ULB_UNROLL(8)
        for (size_t i = 0; i < asks; i++) {
            if (i * cfg->vectors / asks != v)
                continue;
            ulb_prefetch_l2(ask, i * ULB_LINE);
            if (l1_distance)
                ulb_prefetch_line_l1(w, i * ULB_LINE,
                                     (struct ulb_line_prefetch){l1_distance, ULB_OWN_PREFETCH});
        }
    }
}

/* Group i of a slice in a K-block, for some tokens of the block from t. */
static inline __attribute__((always_inline)) void ulb_add_token_group(const struct ulb_field_tile_cfg *cfg,
                                                                      const struct ulb_group_k_block *k_block,
                                                                      size_t slice, size_t i, size_t t,
                                                                      unsigned tokens, bool single_pass,
                                                                      struct ulb_group_n_block *n_block)
{
    const size_t vectors = ulb_group_vectors(cfg), step_bytes = cfg->vectors * ULB_VEC_BYTES;
    const uint8_t *w = k_block->w + slice * k_block->slice_bytes + i * ulb_group_bytes(cfg);
    const uint8_t *at = w + vectors * ULB_VEC_BYTES, *ask = w + k_block->ask;
    const int8_t *x[ULB_GROUP_TOKENS];
    ulb_vec sums[ULB_ACCUMULATORS_MAX];
    ulb_zero_all(sums, tokens * vectors);
    ULB_UNROLL(4)
    for (size_t j = 0; j < tokens; j++) {
        x[j] = k_block->x + (t + j) * k_block->x_stride + slice * k_block->slice_columns + i * ULB_GROUP;
        __asm__("" : "+r"(x[j])); /* keeps Clang from loading each again for every step */
    }
    for (size_t s = 0; s < ULB_GROUP_STEPS; s++, at += step_bytes, ask += k_block->ask_bytes) {
        ulb_add_prefetching_step(cfg, at, x, tokens, ask, ulb_group_asks(cfg, single_pass),
                                 single_pass ? ULB_GROUP_NEAR : 0, sums);
        ULB_UNROLL(4)
        for (size_t j = 0; j < tokens; j++)
            x[j] += 4;
    }
    ULB_UNROLL(24)
    for (size_t v = 0; v < tokens * vectors; v++)
        __asm__("" : "+" ULB_REGISTER(sums[v]));
    ulb_epilogue_token_group(cfg, w, i * ULB_GROUP_SLICES + slice, t, tokens, sums, n_block);
}

static inline __attribute__((always_inline)) void ulb_pass_groups(const struct ulb_field_tile_cfg *cfg,
                                                                  const struct ulb_group_k_block *k_block,
                                                                  size_t t, unsigned tokens, bool single_pass,
                                                                  struct ulb_group_n_block *n_block)
{
    for (size_t i = 0; i < k_block->groups; i++) {
#pragma GCC unroll 1
        for (size_t slice = 0; slice < ULB_GROUP_SLICES; slice++)
            ulb_add_token_group(cfg, k_block, slice, i, t, tokens, single_pass, n_block);
    }
}

/* A pass for some tokens of the N-block, from t. It is a function of its own: inlined, GCC keeps the sums in
 * memory. */
typedef void ulb_pass_groups_fn(const struct ulb_group_k_block *k_block, size_t t,
                                struct ulb_group_n_block *n_block);

/* Passes for 2, 3 and 4 tokens: one set for several passes, one set for a single pass. */
typedef ulb_pass_groups_fn *const ulb_group_passes[2][ULB_GROUP_TOKENS - 1];

/* All tokens of the block. */
static inline void ulb_pass_group_k_block(ulb_group_passes passes, struct ulb_group_k_block *k_block,
                                          size_t tokens, struct ulb_group_n_block *n_block)
{
    const bool single_pass = tokens <= ULB_GROUP_TOKENS;
    size_t some;
    for (size_t t = 0; t < tokens; t += some, k_block->ask += ULB_GROUP_STEPS * k_block->ask_bytes) {
        some = ulb_next_tokens(tokens - t, ULB_GROUP_TOKENS);
        passes[single_pass][some - 2](k_block, t, n_block);
    }
}

/* The groups from group first of each slice on, which has slice_groups, of tokens from n. */
static inline void ulb_meet_groups(const struct ulb_field_tile_cfg *cfg, const struct ulb_gemm *g,
                                   size_t slice_groups, size_t first, size_t groups, size_t n, size_t tokens,
                                   struct ulb_group_n_block *n_block)
{
    for (size_t t = 0; t < tokens; t++) {
        const int16_t *x_sums = g->x_sums + (n + t) * g->x_sums_stride;
        for (size_t i = 0; i < groups * ULB_GROUP_SLICES; i++) {
            const size_t group = i % ULB_GROUP_SLICES * slice_groups + first + i / ULB_GROUP_SLICES;
            n_block->lacking[t][i] =
                cfg->zero_point * ulb_sum_of_x(x_sums + group * (ULB_GROUP / ULB_SUM_COLUMNS), ULB_GROUP);
        }
    }
}

/* Rows of a tile from row m on, of tokens [n, n + tokens). */
static inline __attribute__((always_inline)) void ulb_run_group_n_block(const struct ulb_field_tile_cfg *cfg,
                                                                        ulb_group_passes functions,
                                                                        const struct ulb_gemm *g, size_t m,
                                                                        size_t n, size_t tokens)
{
    const size_t rows = ulb_group_vectors(cfg) * ULB_LANES, bytes = ulb_group_bytes(cfg);
    const size_t slice_groups = ulb_layout_steps(cfg->layout, g->k) / ULB_GROUP_STEPS;
    const size_t most = ulb_k_block_groups(cfg), passes = (tokens + ULB_GROUP_TOKENS - 1) / ULB_GROUP_TOKENS;
    struct ulb_group_n_block n_block;
    struct ulb_group_k_block k_block = {.w = (const uint8_t *)g->w + m / rows * slice_groups * bytes,
                                        .x_stride = g->x_stride,
                                        .slice_bytes = ulb_layout_slice_bytes(cfg->layout, g->m, g->k),
                                        .slice_columns = slice_groups * ULB_GROUP,
                                        .ask_bytes = (bytes / ULB_GROUP_STEPS + passes - 1) / passes};
    memset(n_block.results, 0, tokens * sizeof *n_block.results);
    for (size_t i = 0; i < slice_groups; i += k_block.groups, k_block.w += k_block.groups * bytes) {
        k_block.groups = slice_groups - i < most ? slice_groups - i : most;
        k_block.ask = passes > 1 ? k_block.groups * bytes : ULB_GROUP_FAR;
        k_block.x = (const int8_t *)g->x + n * g->x_stride + i * ULB_GROUP;
        ulb_meet_groups(cfg, g, slice_groups, i, k_block.groups, n, tokens, &n_block);
        ulb_pass_group_k_block(functions, &k_block, tokens, &n_block);
    }
    const size_t left = ulb_rows_left(g, m, rows);
    for (size_t t = 0; t < tokens; t++)
        ulb_scale_rows(g->y + (n + t) * g->y_stride + m, n_block.results[t], left, g->x_scale[n + t]);
}

/* All rows and tokens. */
static inline __attribute__((always_inline)) void ulb_run_group_tokens(const struct ulb_field_tile_cfg *cfg,
                                                                       ulb_group_passes functions,
                                                                       const struct ulb_gemm *g)
{
    for (size_t m = g->m0; m < g->m1; m += ulb_group_vectors(cfg) * ULB_LANES) {
        size_t some;
        for (size_t n = 0; n < g->n; n += some) {
            some = ulb_next_n_block(g->n - n, ULB_GROUP_N_BLOCK);
            ulb_run_group_n_block(cfg, functions, g, m, n, some);
        }
    }
}

#define ULB_GROUP_PASS(name, tokens, single_pass)                                                            \
    static __attribute__((noinline)) void name(const struct ulb_group_k_block *k_block, size_t t,            \
                                               struct ulb_group_n_block *n_block)                            \
    {                                                                                                        \
        ulb_pass_groups(&gemm_cfg, k_block, t, tokens, single_pass, n_block);                                \
    }

/* The run function of a kernel of some vectors of packed weights in a step of four columns. The code of one
 * token stays what it is without. */
#define ULB_GROUP_RUN(layout_, k_loop, step, separate_, zero, vectors_, fields_, bits_)                      \
    static const struct ulb_field_tile_cfg gemm_cfg = {.layout = &(layout_),                                 \
                                                       .vectors = (vectors_),                                \
                                                       .fields = (fields_),                                  \
                                                       .bits = (bits_),                                      \
                                                       .zero_point = (zero),                                 \
                                                       .separate = separate_};                               \
    ULB_GROUP_PASS(pass_2, 2, false)                                                                         \
    ULB_GROUP_PASS(pass_3, 3, false)                                                                         \
    ULB_GROUP_PASS(pass_4, 4, false)                                                                         \
    ULB_GROUP_PASS(single_pass_2, 2, true)                                                                   \
    ULB_GROUP_PASS(single_pass_3, 3, true)                                                                   \
    ULB_GROUP_PASS(single_pass_4, 4, true)                                                                   \
    static __attribute__((noinline)) void run_tokens(const struct ulb_gemm *g)                               \
    {                                                                                                        \
        static ulb_group_passes passes = {{pass_2, pass_3, pass_4},                                          \
                                          {single_pass_2, single_pass_3, single_pass_4}};                    \
        ulb_run_group_tokens(&gemm_cfg, passes, g);                                                          \
    }                                                                                                        \
    static void run(const struct ulb_gemm *g)                                                                \
    {                                                                                                        \
        if (g->n > 1)                                                                                        \
            run_tokens(g);                                                                                   \
        else                                                                                                 \
            ulb_run_groups(g, &(layout_), &(k_loop), step, separate_, zero);                                 \
    }

#else

enum { ULB_GROUP_TOKENS = 1 };

#define ULB_GROUP_RUN(layout_, k_loop, step, separate_, zero, vectors_, fields_, bits_)                      \
    static void run(const struct ulb_gemm *g)                                                                \
    {                                                                                                        \
        ulb_run_groups(g, &(layout_), &(k_loop), step, separate_, zero);                                     \
    }

#endif

#endif
