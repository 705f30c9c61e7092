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

#include "kernels/gemm_blocked.h"
#include "kernels/x86/simd/vec_float.h"
#include "kernels/x86/gemm/field_tile.h"

enum {
    ULB_GROUP_TOKENS = 4,            /* of a register tile */
    ULB_GROUP_NEAR = 1024,           /* distance in bytes of a single pass's prefetch into L1 */
    ULB_GROUP_FAR = ULB_GEMM_FAR,    /* and into L2 */
    ULB_GROUP_K_BLOCK_COLUMNS = 512, /* at most */
    ULB_GROUP_K_BLOCK_GROUPS = ULB_GROUP_K_BLOCK_COLUMNS / ULB_GROUP
};

/* A K-block of some groups of each slice, and the prefetches of its passes. Each step prefetches ask_bytes,
 * beginning `ask` bytes after its group. */
struct ulb_group_k_block {
    const uint8_t *w;
    const int8_t *x; /* of its first column and token */
    size_t x_stride; /* from one token to the next */
    size_t slice_bytes, slice_columns, groups, ask, ask_bytes;
};

/* The K-block, results of each token so far, and the corrections of its sums in each group. Corrections of
 * the slices alternate. */
struct ulb_group_n_block {
    struct ulb_group_k_block k_block;
    bool single_pass;
    const uint8_t *w; /* of the panel */
    float results[ULB_GEMM_N_BLOCK][ULB_TILE_ROWS_MAX];
    int32_t lacking[ULB_GEMM_N_BLOCK][ULB_GROUP_K_BLOCK_GROUPS];
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
    const size_t fit = ULB_GEMM_HALF_L1 / (ULB_GROUP_SLICES * ulb_group_bytes(cfg));
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

/* A pass over the K-block for some tokens of the N-block, from t. */
static inline __attribute__((always_inline)) void ulb_pass_groups(const struct ulb_field_tile_cfg *cfg,
                                                                  struct ulb_group_n_block *n_block, size_t t,
                                                                  unsigned tokens, bool single_pass)
{
    const struct ulb_group_k_block *k_block = &n_block->k_block;
    for (size_t i = 0; i < k_block->groups; i++) {
#pragma GCC unroll 1
        for (size_t slice = 0; slice < ULB_GROUP_SLICES; slice++)
            ulb_add_token_group(cfg, k_block, slice, i, t, tokens, single_pass, n_block);
    }
    n_block->k_block.ask += ULB_GROUP_STEPS * k_block->ask_bytes;
}

static inline __attribute__((always_inline)) size_t
ulb_begin_groups(const void *of, const struct ulb_gemm_block *block, void *state)
{
    const struct ulb_field_tile_cfg *cfg = of;
    struct ulb_group_n_block *n_block = state;
    const struct ulb_gemm *g = block->g;
    const size_t rows = ulb_group_vectors(cfg) * ULB_LANES, bytes = ulb_group_bytes(cfg);
    const size_t groups = block->steps / ULB_GROUP_STEPS, most = ulb_k_block_groups(cfg),
                 passes = ulb_gemm_tiles(block->tokens, ULB_GROUP_TOKENS);
    n_block->single_pass = passes == 1;
    n_block->w = (const uint8_t *)g->w + block->m / rows * groups * bytes;
    n_block->k_block =
        (struct ulb_group_k_block){.x_stride = g->x_stride,
                                   .slice_bytes = block->slice_bytes,
                                   .slice_columns = groups * ULB_GROUP,
                                   .ask_bytes = ulb_gemm_share(bytes / ULB_GROUP_STEPS, passes)};
    memset(n_block->results, 0, block->tokens * sizeof *n_block->results);
    return (groups + most - 1) / most;
}

static inline __attribute__((always_inline)) void
ulb_stage_groups(const void *of, const struct ulb_gemm_block *block, void *state, size_t k)
{
    const struct ulb_field_tile_cfg *cfg = of;
    struct ulb_group_n_block *n_block = state;
    struct ulb_group_k_block *k_block = &n_block->k_block;
    const size_t bytes = ulb_group_bytes(cfg), most = ulb_k_block_groups(cfg), first = k * most,
                 left = block->steps / ULB_GROUP_STEPS - first;
    k_block->w = n_block->w + first * bytes;
    k_block->groups = left < most ? left : most;
    k_block->ask = n_block->single_pass ? ULB_GROUP_FAR : k_block->groups * bytes;
}

/* Finds the activations of the K-block, and the corrections of their sums. */
static inline __attribute__((always_inline)) void
ulb_meet_groups(const void *of, const struct ulb_gemm_block *block, void *state, size_t k)
{
    const struct ulb_field_tile_cfg *cfg = of;
    struct ulb_group_n_block *n_block = state;
    const struct ulb_gemm *g = block->g;
    const size_t first = k * ulb_k_block_groups(cfg), groups = block->steps / ULB_GROUP_STEPS;
    n_block->k_block.x = (const int8_t *)g->x + block->n * g->x_stride + first * ULB_GROUP;
    for (size_t t = 0; t < block->tokens; t++) {
        const int16_t *x_sums = g->x_sums + (block->n + t) * g->x_sums_stride;
        for (size_t i = 0; i < n_block->k_block.groups * ULB_GROUP_SLICES; i++) {
            const size_t group = i % ULB_GROUP_SLICES * groups + first + i / ULB_GROUP_SLICES;
            n_block->lacking[t][i] =
                cfg->zero_point * ulb_sum_of_x(x_sums + group * (ULB_GROUP / ULB_SUM_COLUMNS), ULB_GROUP);
        }
    }
}

static inline __attribute__((always_inline)) void
ulb_finish_groups(const void *of, const struct ulb_gemm_block *block, void *state)
{
    const struct ulb_field_tile_cfg *cfg = of;
    const struct ulb_group_n_block *n_block = state;
    const struct ulb_gemm *g = block->g;
    const size_t left = ulb_rows_left(g, block->m, ulb_group_vectors(cfg) * ULB_LANES);
    for (size_t t = 0; t < block->tokens; t++)
        ulb_scale_rows(g->y + (block->n + t) * g->y_stride + block->m, n_block->results[t], left,
                       g->x_scale[block->n + t]);
}

/* The nest of a kernel with this pass. */
#define ULB_GROUP_NEST(cfg_, pass_)                                                                          \
    {                                                                                                        \
        .cfg = (cfg_), .layout = (cfg_)->layout,                                                             \
        .rows = (size_t)(cfg_)->vectors * (cfg_)->fields * ULB_LANES, .n_block = ULB_GEMM_N_BLOCK,           \
        .least = 2, .tile = ULB_GROUP_TOKENS, .begin = ulb_begin_groups, .stage = ulb_stage_groups,          \
        .pack_x = ulb_meet_groups, .pass = (pass_), .finish = ulb_finish_groups                              \
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
    static inline __attribute__((always_inline)) void all(struct ulb_group_n_block *n_block, size_t t,       \
                                                          unsigned tokens)                                   \
    {                                                                                                        \
        ulb_pass_groups(&gemm_cfg, n_block, t, tokens, false);                                               \
    }                                                                                                        \
    static inline __attribute__((always_inline)) void all_single(struct ulb_group_n_block *n_block,          \
                                                                 size_t t, unsigned tokens)                  \
    {                                                                                                        \
        ulb_pass_groups(&gemm_cfg, n_block, t, tokens, true);                                                \
    }                                                                                                        \
    ULB_GEMM_PASSES(some, struct ulb_group_n_block, ULB_GROUP_TOKENS, all)                                   \
    ULB_GEMM_PASSES(single, struct ulb_group_n_block, ULB_GROUP_TOKENS, all_single)                          \
    static inline __attribute__((always_inline)) void pass(                                                  \
        const void *of, const struct ulb_gemm_block *block, void *state, size_t t, unsigned tokens)          \
    {                                                                                                        \
        if (((const struct ulb_group_n_block *)state)->single_pass)                                          \
            single(of, block, state, t, tokens);                                                             \
        else                                                                                                 \
            some(of, block, state, t, tokens);                                                               \
    }                                                                                                        \
    static __attribute__((noinline)) void run_tokens(const struct ulb_gemm *g)                               \
    {                                                                                                        \
        const struct ulb_gemm_nest nest = ULB_GROUP_NEST(&gemm_cfg, pass);                                   \
        struct ulb_group_n_block n_block;                                                                    \
        ulb_gemm_blocked(&nest, g, &n_block);                                                                \
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
