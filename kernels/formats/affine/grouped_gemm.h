/* Several tokens of groups with a scale each (kernels/formats/affine/grouped_gemv.h): a group is a K-block of
 * kernels/x86/gemm/planes.h. Results are added up in the order of one token. */
#ifndef ULB_KERNELS_FORMATS_AFFINE_GROUPED_GEMM_H
#define ULB_KERNELS_FORMATS_AFFINE_GROUPED_GEMM_H

#include "kernels/formats/affine/grouped_gemv.h"
#include "kernels/x86/gemm/planes.h"

#include <string.h>

/* Fewest tokens for which the GEMM is faster than the GEMV. unpacks: the codes are unpacked first. */
#define ULB_AFFINE_LEAST(bits, columns, unpacks)                                                             \
    ULB_BY_SUMS((bits) < 3 ? 5 : 2, (columns) < 64 ? 5 : (unpacks) ? 4 : 3)

/* A group of a tile's rows and a block of tokens. */
struct ulb_affine_n_block {
    struct ulb_plane_k_block k_block;
    const uint8_t *w;                  /* of the panel */
    const uint8_t *scales, *zeros;     /* zeros NULL: there are none */
    int32_t lacking[ULB_GEMM_N_BLOCK]; /* by token: what sums of products have too much */
    float x_sums[ULB_GEMM_N_BLOCK];
    float results[ULB_GEMM_N_BLOCK][ULB_PLANE_ROWS];
};

/* zeros: whether there are zero points. With AVX2 alone it is a constant in two code variants: a branch at
 * every sum would keep the sums in memory. With 32 registers the branch costs less than longer code. */
static inline __attribute__((always_inline)) void
ulb_take_affine_sums_as(bool zeros, struct ulb_affine_n_block *n_block, size_t vector, size_t t,
                        unsigned tokens, const ulb_vec *sums)
{
    ULB_UNROLL(8)
    for (size_t v = 0; v < ULB_PLANE_PASS_VECTORS; v++) {
        const size_t at = (vector + v) * ULB_LANES;
        const ulb_floats scale = ulb_load_floats(n_block->scales + at * sizeof(float));
        ULB_UNROLL(4)
        for (size_t i = 0; i < tokens; i++) {
            const ulb_vec lacking = ulb_all32(n_block->lacking[t + i]);
            ulb_floats part = ulb_to_floats(ulb_sub32(sums[i * ULB_PLANE_PASS_VECTORS + v], lacking));
            if (ULB_S16_SUMS ? zeros : n_block->zeros != NULL)
                part = ulb_fnma(ulb_to_floats(ulb_load_unsigned_bytes(n_block->zeros + at)),
                                ulb_load_to_all(&n_block->x_sums[t + i]), part);
            float *result = &n_block->results[t + i][at];
            ulb_store_floats(result, ulb_fma(part, scale, ulb_load_floats(result)));
        }
    }
}

static inline __attribute__((always_inline)) void ulb_take_affine_sums(void *of, size_t vector, size_t t,
                                                                       unsigned tokens, const ulb_vec *sums)
{
    struct ulb_affine_n_block *n_block = of;
    __asm__(
        ""
        : "+r"(n_block)); /* keeps GCC from holding the addresses of all results, some in vector registers */
    if (!ULB_S16_SUMS || n_block->zeros)
        ulb_take_affine_sums_as(true, n_block, vector, t, tokens, sums);
    else
        ulb_take_affine_sums_as(false, n_block, vector, t, tokens, sums);
}

/* Function ulb_add_affine_<bits>, a pass. */
#define ULB_ADD_AFFINE(bits)                                                                                 \
    static inline __attribute__((always_inline)) void ulb_all_affine_##bits(                                 \
        struct ulb_affine_n_block *n_block, size_t t, unsigned tokens)                                       \
    {                                                                                                        \
        ulb_pass_plane_k_block(bits, &n_block->k_block, t, tokens, ulb_take_affine_sums, n_block);           \
    }                                                                                                        \
    ULB_GEMM_PASSES(ulb_add_affine_##bits, struct ulb_affine_n_block, ULB_PLANE_TOKENS, ulb_all_affine_##bits)
ULB_ADD_AFFINE(4)
#if ULB_S16_SUMS
ULB_ADD_AFFINE(5)
ULB_ADD_AFFINE(6)
ULB_ADD_AFFINE(7)
#else
ULB_ADD_AFFINE(2)
ULB_ADD_AFFINE(8)
#endif

/* The pass for planes of this many bits; also 8 bits for unpacked codes. With 16-bit sums: for bytes of this
 * many bits. */
static inline __attribute__((always_inline)) void
ulb_pass_affine(const void *of, const struct ulb_gemm_block *block, void *state, size_t t, unsigned tokens)
{
    const struct ulb_affine_cfg *a = of;
#if ULB_S16_SUMS
    if (a->part_bits == 7)
        ulb_add_affine_7(of, block, state, t, tokens);
    else if (a->part_bits == 6)
        ulb_add_affine_6(of, block, state, t, tokens);
    else if (a->part_bits == 5)
        ulb_add_affine_5(of, block, state, t, tokens);
    else
        ulb_add_affine_4(of, block, state, t, tokens);
#else
    if (a->unpack || a->bits == 8)
        ulb_add_affine_8(of, block, state, t, tokens);
    else if (a->bits == 4)
        ulb_add_affine_4(of, block, state, t, tokens);
    else
        ulb_add_affine_2(of, block, state, t, tokens);
#endif
}

static inline __attribute__((always_inline)) size_t
ulb_begin_affine(const void *of, const struct ulb_gemm_block *block, void *state)
{
    const struct ulb_affine_cfg *a = of;
    struct ulb_affine_n_block *n_block = state;
    n_block->w =
        (const uint8_t *)block->g->w + block->m / ULB_PLANE_ROWS * block->steps * a->layout->tile_bytes;
    n_block->k_block.parts = a->parts;
    n_block->k_block.part_bits = a->part_bits;
    n_block->k_block.steps = a->columns / 4;
    n_block->k_block.x_stride = block->g->x_stride;
    memset(n_block->results, 0, block->tokens * sizeof *n_block->results);
    return ULB_PLANE_SLICES * block->steps;
}

/* A group is a K-block; the groups of the slices alternate. */
static inline __attribute__((always_inline)) void
ulb_stage_affine(const void *of, const struct ulb_gemm_block *block, void *state, size_t k)
{
    const struct ulb_affine_cfg *a = of;
    struct ulb_affine_n_block *n_block = state;
    const size_t slice = k % ULB_PLANE_SLICES, tile_bytes = a->layout->tile_bytes,
                 slice_bytes = block->slice_bytes;
    const uint8_t *w = n_block->w + slice * slice_bytes + k / ULB_PLANE_SLICES * tile_bytes;
    n_block->scales = w + ULB_PLANE_ROWS * a->columns * a->bits / 8;
    n_block->zeros = a->zero ? n_block->scales + ULB_PLANE_ROWS * sizeof(float) : NULL;
    n_block->k_block.w = a->unpack ? n_block->k_block.codes[0][0] : w;
    if (a->unpack)
        a->unpack(a->bits, w, a->columns / 4, n_block->k_block.codes);
    ulb_share_plane_prefetches(
        &n_block->k_block, ULB_S16_SUMS ? w + ULB_GEMM_FAR : ulb_next_tile(w, slice, slice_bytes, tile_bytes),
        tile_bytes, block->tokens);
}

/* Finds the activations of a group, and their sums. */
static inline __attribute__((always_inline)) void
ulb_meet_affine(const void *of, const struct ulb_gemm_block *block, void *state, size_t i)
{
    const struct ulb_affine_cfg *a = of;
    struct ulb_affine_n_block *n_block = state;
    const struct ulb_gemm *g = block->g;
    const int32_t offset = (a->zero ? 0 : 1 << (a->bits - 1)) - (a->bits == 8 ? 0 : a->bias);
    const size_t k = (i % ULB_PLANE_SLICES * block->steps + i / ULB_PLANE_SLICES) * a->columns;
    n_block->k_block.x = (const int8_t *)g->x + block->n * g->x_stride + k;
    for (size_t t = 0; t < block->tokens; t++) {
        const int16_t *x_sums = g->x_sums + (block->n + t) * g->x_sums_stride + k / ULB_SUM_COLUMNS;
        const int32_t x_sum = ulb_sum_of_x(x_sums, a->columns);
        n_block->lacking[t] = offset * x_sum;
        n_block->x_sums[t] = (float)x_sum;
    }
}

static inline __attribute__((always_inline)) void
ulb_finish_affine(const void *of, const struct ulb_gemm_block *block, void *state)
{
    const struct ulb_affine_cfg *a = of;
    struct ulb_affine_n_block *n_block = state;
    const size_t m = block->m;
    for (size_t t = 0; t < block->tokens; t++)
        ulb_epilogue_affine(a, block->g, m, m + ulb_rows_left(block->g, m, ULB_PLANE_ROWS), block->n + t,
                            n_block->results[t]);
}

static inline __attribute__((always_inline)) void ulb_run_affine_tokens(const struct ulb_affine_cfg *a,
                                                                        const struct ulb_gemm *g)
{
    const struct ulb_gemm_nest nest = {.cfg = a,
                                       .layout = a->layout,
                                       .rows = ULB_PLANE_ROWS,
                                       .n_block = ULB_GEMM_N_BLOCK,
                                       .least = 2,
                                       .tile = ULB_PLANE_TOKENS,
                                       .begin = ulb_begin_affine,
                                       .stage = ulb_stage_affine,
                                       .pack_x = ulb_meet_affine,
                                       .pass = ulb_pass_affine,
                                       .finish = ulb_finish_affine};
    struct ulb_affine_n_block n_block;
    ulb_gemm_blocked(&nest, g, &n_block);
}

/* Function run_affine_<of> of a struct ulb_affine_cfg. */
#define ULB_AFFINE_RUN(of, ...)                                                                              \
    static const struct ulb_affine_cfg cfg_##of = {__VA_ARGS__};                                             \
    static __attribute__((noinline)) void tokens_##of(const struct ulb_gemm *g)                              \
    {                                                                                                        \
        ulb_run_affine_tokens(&cfg_##of, g);                                                                 \
    }                                                                                                        \
    static void run_affine_##of(const struct ulb_gemm *g)                                                    \
    {                                                                                                        \
        if ((cfg_##of.unpack || ULB_PLANE_TILE(cfg_##of.bits) > 1) &&                                        \
            g->n >= ULB_AFFINE_LEAST(cfg_##of.bits, cfg_##of.columns, cfg_##of.unpack != NULL))              \
            tokens_##of(g);                                                                                  \
        else                                                                                                 \
            ulb_run_affine(&cfg_##of, g);                                                                    \
    }

#endif
