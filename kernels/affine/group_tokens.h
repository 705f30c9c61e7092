/* Several tokens of groups with a scale each (group_walk.h): a group is a chunk of
 * kernels/x86/plane_tokens.h. Results are added up in the order of one token. */
#ifndef ULB_KERNELS_AFFINE_GROUP_TOKENS_H
#define ULB_KERNELS_AFFINE_GROUP_TOKENS_H

#include "kernels/affine/group_walk.h"
#include "kernels/x86/plane_tokens.h"

/* Tokens from which on that is faster (Zen 5, 4096x4096, cold, 3 tokens against one by one: 4 bits 1.1, 3
 * bits .85 and with 4 .9, with 8 1.35; groups of 32 columns with 4 .9, with 8 1.2). unpacks: takes codes
 * apart first. */
#define ULB_AFFINE_LEAST(columns, unpacks) ((columns) < 64 ? 5 : (unpacks) ? 4 : 3)

#if !ULB_WORD_SUMS

/* A group of a tile's rows and a block of tokens. */
struct ulb_affine_block {
    struct ulb_plane_chunk chunk;
    const uint8_t *scales, *zeros;    /* zeros NULL: there are none */
    int32_t lacking[ULB_PLANE_BLOCK]; /* by token: what sums of products have too much */
    float x_sums[ULB_PLANE_BLOCK];
    float results[ULB_PLANE_BLOCK][ULB_PLANE_ROWS];
};

static inline __attribute__((always_inline)) void ulb_take_affine_sums(void *of, size_t vector, size_t t,
                                                                       unsigned tokens, const ulb_vec *sums)
{
    struct ulb_affine_block *block = of;
    ULB_UNROLL(8)
    for (size_t v = 0; v < ULB_PLANE_PASS_VECTORS; v++) {
        const size_t at = (vector + v) * ULB_LANES;
        const ulb_floats scale = ulb_load_floats(block->scales + at * sizeof(float));
        ULB_UNROLL(3)
        for (size_t i = 0; i < tokens; i++) {
            const ulb_vec lacking = ulb_all32(block->lacking[t + i]);
            ulb_floats part = ulb_to_floats(ulb_sub32(sums[i * ULB_PLANE_PASS_VECTORS + v], lacking));
            if (block->zeros)
                part = ulb_fnma(ulb_to_floats(ulb_load_unsigned_bytes(block->zeros + at)),
                                ulb_load_to_all(&block->x_sums[t + i]), part);
            float *result = &block->results[t + i][at];
            ulb_store_floats(result, ulb_fma(part, scale, ulb_load_floats(result)));
        }
    }
}

/* Functions, else GCC keeps what the rest needs in registers, and sums in memory. */
#define ULB_ADD_AFFINE(bits)                                                                                 \
    static __attribute__((noinline)) void ulb_add_affine_##bits(struct ulb_affine_block *block, size_t n)    \
    {                                                                                                        \
        ulb_pass_chunks(bits, &block->chunk, n, ulb_take_affine_sums, block);                                \
    }
ULB_ADD_AFFINE(2)
ULB_ADD_AFFINE(4)
ULB_ADD_AFFINE(8)

/* results += a group of the tile's rows, whose codes lie at w and whose columns begin at k; next: the group
 * after it. */
static inline __attribute__((always_inline)) void
ulb_add_affine_group(const struct ulb_affine_row *a, const struct ulb_gemm *g, const uint8_t *w,
                     const uint8_t *next, size_t k, size_t n, size_t tokens, struct ulb_affine_block *block)
{
    const int32_t offset = (a->zero ? 0 : 1 << (a->bits - 1)) - a->bias;
    block->scales = w + ULB_PLANE_ROWS * a->columns * a->bits / 8;
    block->zeros = a->zero ? block->scales + ULB_PLANE_ROWS * sizeof(float) : NULL;
    for (size_t t = 0; t < tokens; t++) {
        const int16_t *x_sums = g->x_sums + (n + t) * g->x_sums_stride + k / ULB_SUM_COLUMNS;
        const int32_t x_sum = ulb_sum_of_x(x_sums, a->columns);
        block->lacking[t] = offset * x_sum;
        block->x_sums[t] = (float)x_sum;
    }
    block->chunk.steps = a->columns / 4;
    block->chunk.parts = a->parts;
    block->chunk.part_bits = a->part_bits;
    block->chunk.next = next;
    block->chunk.next_bytes = a->layout->tile_bytes;
    block->chunk.w = a->unpack ? block->chunk.codes[0][0] : w;
    if (a->unpack)
        a->unpack(a->bits, w, a->columns / 4, block->chunk.codes);
    ulb_pack_bytes(g, n, tokens, k, a->columns, &block->chunk);
    if (a->unpack || a->bits == 8)
        ulb_add_affine_8(block, tokens);
    else if (a->bits == 4)
        ulb_add_affine_4(block, tokens);
    else
        ulb_add_affine_2(block, tokens);
}

/* Rows of the tile from row m on, of tokens [n, n + tokens). */
static inline __attribute__((always_inline)) void ulb_run_affine_block(const struct ulb_affine_row *a,
                                                                       const struct ulb_gemm *g, size_t m,
                                                                       size_t n, size_t tokens)
{
    const size_t steps = ulb_layout_steps(a->layout, g->k), tile_bytes = a->layout->tile_bytes;
    const size_t slice_bytes = ulb_layout_slice_bytes(a->layout, g->m, g->k);
    const uint8_t *w = (const uint8_t *)g->w + m / ULB_PLANE_ROWS * steps * tile_bytes;
    struct ulb_affine_block block;
    memset(block.results, 0, tokens * sizeof *block.results);
    for (size_t i = 0; i < ULB_PLANE_SLICES * steps; i++) {
        const size_t slice = i % ULB_PLANE_SLICES, s = i / ULB_PLANE_SLICES;
        const uint8_t *at = w + slice * slice_bytes + s * tile_bytes;
        ulb_add_affine_group(a, g, at, ulb_next_tile(at, slice, slice_bytes, tile_bytes),
                             (slice * steps + s) * a->columns, n, tokens, &block);
    }
    for (size_t t = 0; t < tokens; t++)
        ulb_finish_affine(a, g, m, m + ulb_rows_left(g, m, ULB_PLANE_ROWS), n + t, block.results[t]);
}

static inline __attribute__((always_inline)) void ulb_run_affine_tokens(const struct ulb_affine_row *a,
                                                                        const struct ulb_gemm *g)
{
    for (size_t m = g->m0; m < g->m1; m += ULB_PLANE_ROWS) {
        for (size_t n = 0; n < g->n; n += ULB_PLANE_BLOCK)
            ulb_run_affine_block(a, g, m, n, g->n - n < ULB_PLANE_BLOCK ? g->n - n : ULB_PLANE_BLOCK);
    }
}

#endif

/* Function walk_<of> of a struct ulb_affine_row. */
#if ULB_WORD_SUMS
#define ULB_AFFINE_WALK(of, ...)                                                                             \
    static void walk_##of(const struct ulb_gemm *g)                                                          \
    {                                                                                                        \
        static const struct ulb_affine_row row = {__VA_ARGS__};                                              \
        ulb_run_affine(&row, g);                                                                             \
    }
#else
#define ULB_AFFINE_WALK(of, ...)                                                                             \
    static const struct ulb_affine_row row_##of = {__VA_ARGS__};                                             \
    static __attribute__((noinline)) void tokens_##of(const struct ulb_gemm *g)                              \
    {                                                                                                        \
        ulb_run_affine_tokens(&row_##of, g);                                                                 \
    }                                                                                                        \
    static void walk_##of(const struct ulb_gemm *g)                                                          \
    {                                                                                                        \
        if ((row_##of.unpack || ULB_PLANE_TILE(row_##of.bits) > 1) &&                                        \
            g->n >= ULB_AFFINE_LEAST(row_##of.columns, row_##of.unpack != NULL))                             \
            tokens_##of(g);                                                                                  \
        else                                                                                                 \
            ulb_run_affine(&row_##of, g);                                                                    \
    }
#endif

#endif
