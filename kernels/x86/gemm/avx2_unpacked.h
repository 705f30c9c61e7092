/* GEMM with AVX2 alone, for kernels that read K in K-blocks of a fixed number of columns of a slice. A
 * K-block stays in L1 with its activations. Its codes are unpacked to bytes there. The register tiles of an
 * N-block then iterate over it, and their results are kept next to it. Bytes are signed
 * (kernels/x86/gemm/tile_s16.h) or unsigned (kernels/x86/gemm/tile_u8.h). A group with its own scale is a
 * K-block. K-blocks come in the same order as in the GEMV.
 *
 * Groups of int2 are excluded, because N calls of the GEMV are faster (docs/measurements/kernels.md). */
#ifndef ULB_KERNELS_X86_GEMM_AVX2_UNPACKED_H
#define ULB_KERNELS_X86_GEMM_AVX2_UNPACKED_H

#include "kernels/gemm_blocked.h"
#include "kernels/group_sums.h"
#include "kernels/x86/gemm/tile_u8.h"
#include "kernels/x86/simd/vec_float.h"
#include "kernels/x86/gemv/k_slices.h"
#include "kernels/x86/gemm/tile_s16.h"

#include <string.h>

enum {
    ULB_K_BLOCK_TOKENS = 4,  /* of both register tiles */
    ULB_K_BLOCK_VECTORS = 2, /* of rows */
    ULB_K_BLOCK_ROW_VECTORS = 8,
    ULB_K_BLOCK_STEPS_MAX = 32, /* each of 4 columns */
    ULB_K_BLOCK_ASKS = 2 /* lines in a step of signed bytes: at least a pass's part of it and of scales */
};

/* A K-block of `steps` steps at w. Each pass prefetches part of every step, beginning at `ask`. */
struct ulb_k_block {
    const uint8_t *w, *ask;
    const uint8_t *bytes; /* of its steps: at w, or taken out of them */
    size_t steps, ask_bytes;
};

/* *result += a K-block's sums of vector v of rows. */
typedef void ulb_take_k_block_fn(const struct ulb_k_block *k_block, size_t v, ulb_vec sums, ulb_vec *result);

/* All constants. */
struct ulb_k_block_cfg {
    const struct ulb_layout *layout;
    size_t slices, vectors;   /* of rows in a tile */
    size_t steps, step_bytes; /* of a K-block, but for the last of a slice */
    size_t before;            /* bytes of scales before a K-block's steps */
    size_t full;              /* steps that 16-bit sums of unsigned bytes hold; 0: bytes are signed */
    int32_t zero_point;       /* of the sums of K-blocks with scales */
    /* A step's bytes, [vectors], from w; NULL: they are such. */
    void (*unpack)(const uint8_t *w, uint8_t *bytes);
    ulb_take_k_block_fn *take;
    /* y of a block's rows, of its token t. */
    void (*epilogue)(const struct ulb_gemm_block *block, size_t t, const ulb_vec *results);
};

/* The K-block and its activations, from the first token. For signed bytes they are packed as 16 bits, columns
 * 0, 2, 1, 3 of each four. Then come the corrections of the sums, and the results so far. */
struct ulb_n_block {
    struct ulb_k_block k_block;
    const uint8_t *w; /* of the panel */
    _Alignas(64) uint8_t bytes[ULB_K_BLOCK_STEPS_MAX * ULB_K_BLOCK_ROW_VECTORS * ULB_VEC_BYTES];
    _Alignas(64) int16_t words[ULB_GEMM_N_BLOCK][ULB_S16_COLUMNS];
    const int8_t *x;
    size_t x_stride;
    int32_t lacking[ULB_GEMM_N_BLOCK];
    ulb_vec results[ULB_GEMM_N_BLOCK][ULB_K_BLOCK_ROW_VECTORS];
};

/* K-blocks with scales are always whole. */
static inline __attribute__((always_inline)) size_t ulb_k_block_steps(const struct ulb_k_block_cfg *cfg,
                                                                      const struct ulb_k_block *k_block)
{
    return cfg->before ? cfg->steps : k_block->steps;
}

/* sums[tokens][2] of signed bytes of vectors of rows from vector, for tokens of the N-block from t. */
static inline __attribute__((always_inline)) void
ulb_sum_signed_k_block(const struct ulb_k_block_cfg *cfg, const struct ulb_k_block *k_block, size_t vector,
                       size_t t, unsigned tokens, const struct ulb_n_block *n_block, ulb_vec *sums)
{
    const struct ulb_s16_steps from = {.w = k_block->bytes + vector * ULB_VEC_BYTES,
                                       .step_bytes = cfg->vectors * ULB_VEC_BYTES,
                                       .x = n_block->words[t],
                                       .ask = k_block->ask,
                                       .ask_bytes = k_block->ask_bytes};
    ulb_add_s16_steps(&from, ulb_k_block_steps(cfg, k_block), ULB_K_BLOCK_ASKS, tokens, sums);
}

/* sums[tokens][vectors] of unsigned ones. */
static inline __attribute__((always_inline)) void
ulb_sum_unsigned_k_block(const struct ulb_k_block_cfg *cfg, const struct ulb_k_block *k_block, size_t vector,
                         unsigned vectors, size_t t, unsigned tokens, const struct ulb_n_block *n_block,
                         ulb_vec *sums)
{
    const size_t steps = ulb_k_block_steps(cfg, k_block);
    size_t s = 0;
    struct ulb_byte_steps at = {.w = k_block->bytes + vector * ULB_VEC_BYTES,
                                .step_bytes = cfg->vectors * ULB_VEC_BYTES,
                                .x = n_block->x + t * n_block->x_stride,
                                .x_stride = n_block->x_stride,
                                .ask = k_block->ask,
                                .ask_bytes = k_block->ask_bytes};
    /* Keeps one pointer: Clang would keep one address register for every four activations. */
    __asm__("" : "+r"(at.x));
    for (; s + cfg->full <= steps; s += cfg->full)
        ulb_add_bytes(&at, vectors, tokens, cfg->full, NULL, sums);
    for (; s < steps; s++)
        ulb_add_bytes(&at, vectors, tokens, 1, NULL, sums);
}

/* A K-block of some vectors of rows from vector. */
static inline __attribute__((always_inline)) void
ulb_pass_vectors(const struct ulb_k_block_cfg *cfg, const struct ulb_k_block *k_block, size_t vector,
                 unsigned vectors, size_t t, unsigned tokens, struct ulb_n_block *n_block)
{
    ulb_vec sums[ULB_K_BLOCK_TOKENS * ULB_K_BLOCK_VECTORS];
    ulb_zero_all(sums, tokens * vectors);
    if (cfg->full)
        ulb_sum_unsigned_k_block(cfg, k_block, vector, vectors, t, tokens, n_block, sums);
    else
        ulb_sum_signed_k_block(cfg, k_block, vector, t, tokens, n_block, sums);
    ULB_UNROLL(8)
    for (size_t i = 0; i < tokens * vectors; i++) {
        const size_t of = t + i / vectors, v = vector + i % vectors;
        if (cfg->zero_point)
            sums[i] = ulb_sub32(sums[i], ulb_all32(n_block->lacking[of]));
        cfg->take(k_block, v, sums[i], &n_block->results[of][v]);
    }
}

/* A pass over all rows of the K-block. */
static inline __attribute__((always_inline)) void
ulb_pass_k_block(const struct ulb_k_block_cfg *cfg, struct ulb_n_block *n_block, size_t t, unsigned tokens)
{
    struct ulb_k_block *k_block = &n_block->k_block;
    size_t v = 0;
    for (; v + ULB_K_BLOCK_VECTORS <= cfg->vectors; v += ULB_K_BLOCK_VECTORS) {
        ulb_pass_vectors(cfg, k_block, v, ULB_K_BLOCK_VECTORS, t, tokens, n_block);
        k_block->ask += k_block->steps * k_block->ask_bytes;
    }
    if (cfg->vectors % ULB_K_BLOCK_VECTORS)
        ulb_pass_vectors(cfg, k_block, v, 1, t, tokens, n_block);
}

/* take of groups in tiles of some vectors of rows, whose scales lie before their steps. */
static inline __attribute__((always_inline)) void
ulb_take_group(size_t vectors, const struct ulb_k_block *k_block, size_t v, ulb_vec sums, ulb_vec *result)
{
    ulb_add_scaled((ulb_floats *)(void *)result, sums,
                   (const float *)(const void *)(k_block->w - (vectors - v) * ULB_VEC_BYTES));
}

/* epilogue of tiles of some rows, whose results have their weights' scales. */
static inline __attribute__((always_inline)) void
ulb_epilogue_scaled(const struct ulb_gemm_block *block, size_t t, size_t rows, const ulb_vec *results)
{
    const struct ulb_gemm *g = block->g;
    const size_t n = block->n + t;
    ulb_scale_rows(g->y + n * g->y_stride + block->m, (const float *)(const void *)results,
                   ulb_rows_left(g, block->m, rows), g->x_scale[n]);
}

/* take and epilogue of rows with one scale. */
static inline __attribute__((always_inline)) void ulb_take_sums(const struct ulb_k_block *k_block, size_t v,
                                                                ulb_vec sums, ulb_vec *result)
{
    (void)k_block, (void)v;
    *result = ulb_add32(*result, sums);
}

static inline __attribute__((always_inline)) void ulb_epilogue_sums(const struct ulb_gemm_block *block,
                                                                    size_t t, size_t rows,
                                                                    const ulb_vec *results,
                                                                    int32_t zero_point)
{
    ulb_epilogue_tile(block->g, block->scales, block->m, rows, block->n + t,
                      (const int32_t *)(const void *)results, zero_point);
}

/* unpack of some vectors of bytes with several fields each, of neighbouring vectors of rows. */
static inline __attribute__((always_inline)) void ulb_unpack_fields(size_t vectors, size_t fields,
                                                                    const uint8_t *w, uint8_t *bytes)
{
    const unsigned bits = (unsigned)(8 / fields);
    ULB_UNROLL(8)
    for (size_t i = 0; i < vectors * fields; i++) {
        const ulb_vec packed = ulb_load(w + i / fields * ULB_VEC_BYTES);
        const ulb_vec field = ulb_shr16(packed, (unsigned)(i % fields) * bits);
        ulb_store(bytes + i * ULB_VEC_BYTES, ulb_and(field, ulb_all8((1 << bits) - 1)));
    }
}

/* Steps of four columns of a slice. */
static inline size_t ulb_slice_steps(const struct ulb_k_block_cfg *cfg, const struct ulb_gemm_block *block)
{
    return block->steps * (cfg->layout->tile_k / 4);
}

static inline __attribute__((always_inline)) size_t
ulb_begin_k_blocks(const void *of, const struct ulb_gemm_block *block, void *state)
{
    const struct ulb_k_block_cfg *cfg = of;
    struct ulb_n_block *n_block = state;
    const struct ulb_gemm *g = block->g;
    const size_t all = ulb_slice_steps(cfg, block);
    const size_t k_block_bytes = cfg->steps * cfg->step_bytes + cfg->before;
    const size_t passes = ulb_gemm_tiles(block->tokens, ULB_K_BLOCK_TOKENS) *
                          ((cfg->vectors + ULB_K_BLOCK_VECTORS - 1) / ULB_K_BLOCK_VECTORS);
    n_block->w = (const uint8_t *)g->w +
                 block->m / (cfg->vectors * ULB_LANES) * ulb_layout_row_bytes(cfg->layout, g->k);
    n_block->k_block.ask_bytes = ulb_gemm_share(k_block_bytes / cfg->steps, passes);
    memset(n_block->results, 0, block->tokens * sizeof *n_block->results);
    return (all + cfg->steps - 1) / cfg->steps * cfg->slices;
}

static inline __attribute__((always_inline)) void
ulb_stage_k_block(const void *of, const struct ulb_gemm_block *block, void *state, size_t k)
{
    const struct ulb_k_block_cfg *cfg = of;
    struct ulb_n_block *n_block = state;
    struct ulb_k_block *k_block = &n_block->k_block;
    const size_t slice = k % cfg->slices, at = k / cfg->slices,
                 left = ulb_slice_steps(cfg, block) - at * cfg->steps;
    k_block->w = n_block->w + at * (cfg->steps * cfg->step_bytes + cfg->before) + slice * block->slice_bytes +
                 cfg->before;
    k_block->steps = left < cfg->steps ? left : cfg->steps;
    k_block->ask = k_block->w + ULB_GEMM_FAR;
    k_block->bytes = cfg->unpack ? n_block->bytes : k_block->w;
    for (size_t s = 0; cfg->unpack && s < k_block->steps; s++)
        cfg->unpack(k_block->w + s * cfg->step_bytes, n_block->bytes + s * cfg->vectors * ULB_VEC_BYTES);
}

static inline __attribute__((always_inline)) void
ulb_pack_k_block(const void *of, const struct ulb_gemm_block *block, void *state, size_t k_block)
{
    const struct ulb_k_block_cfg *cfg = of;
    struct ulb_n_block *n_block = state;
    const struct ulb_gemm *g = block->g;
    const size_t k =
        4 * (k_block % cfg->slices * ulb_slice_steps(cfg, block) + k_block / cfg->slices * cfg->steps);
    n_block->x = (const int8_t *)g->x + block->n * g->x_stride + k;
    n_block->x_stride = g->x_stride;
    for (size_t t = 0; t < block->tokens; t++) {
        if (!cfg->full)
            ulb_pack_s16(n_block->x + t * g->x_stride, n_block->k_block.steps, n_block->words[t]);
        if (cfg->zero_point)
            n_block->lacking[t] =
                cfg->zero_point *
                ulb_sum_of_x(g->x_sums + (block->n + t) * g->x_sums_stride + k / ULB_SUM_COLUMNS,
                             4 * cfg->steps);
    }
}

static inline __attribute__((always_inline)) void
ulb_finish_k_blocks(const void *of, const struct ulb_gemm_block *block, void *state)
{
    const struct ulb_k_block_cfg *cfg = of;
    const struct ulb_n_block *n_block = state;
    for (size_t t = 0; t < block->tokens; t++)
        cfg->epilogue(block, t, n_block->results[t]);
}

/* A function run_tokens() of a kernel, for at least two. */
#define ULB_K_BLOCK_RUN(cfg_)                                                                                \
    static inline __attribute__((always_inline)) void all(struct ulb_n_block *n_block, size_t t,             \
                                                          unsigned tokens)                                   \
    {                                                                                                        \
        ulb_pass_k_block(&(cfg_), n_block, t, tokens);                                                       \
    }                                                                                                        \
    ULB_GEMM_PASSES(pass, struct ulb_n_block, ULB_K_BLOCK_TOKENS, all)                                       \
    static __attribute__((noinline)) void run_tokens(const struct ulb_gemm *g)                               \
    {                                                                                                        \
        const struct ulb_gemm_nest nest = {.cfg = &(cfg_),                                                   \
                                           .layout = (cfg_).layout,                                          \
                                           .rows = (cfg_).vectors * ULB_LANES,                               \
                                           .n_block = ULB_GEMM_N_BLOCK,                                      \
                                           .least = 2,                                                       \
                                           .tile = ULB_K_BLOCK_TOKENS,                                       \
                                           .begin = ulb_begin_k_blocks,                                      \
                                           .stage = ulb_stage_k_block,                                       \
                                           .pack_x = ulb_pack_k_block,                                       \
                                           .pass = pass,                                                     \
                                           .finish = ulb_finish_k_blocks};                                   \
        struct ulb_n_block n_block;                                                                          \
        ulb_gemm_blocked(&nest, g, &n_block);                                                                \
    }

#endif
