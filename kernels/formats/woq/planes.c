/* A scale for each row, and activations with a zero point.
 * `sum (c - z) (x - zx) = D - z X - zx R`.
 * D is the dot product of the codes, X the sum of the activations, and R the precomputed sum of the row's
 * weights. The subtracted terms take 64 bits, once per row.
 * `|D| <= 255 * 127 * K < 2^31` up to `K = 65,536`.
 *
 * Registers: eight sums. At 256 bits they are eight chains on two ports. */
#include "kernels/microkernel.h"
#include "kernels/formats/woq/format.h"
#include "kernels/x86/gemm/planes.h"

#include <string.h>

#ifdef ULB_DP_512
#define LAYOUT(of) ulb_##of##_plane_128
#else
#define LAYOUT(of) ulb_##of##_plane_64
#endif

enum {
    SLICES = 2,
    NEAR = 2048,
    CHUNK = 8,   /* steps of a slice before the next slice */
    K_BLOCK = 32 /* of several tokens */
};

/* Constants of a kernel. */
struct woq {
    const struct ulb_layout *layout;
    unsigned bits, zeros;
};

/* sums += some steps of each slice, from step s on. */
static inline __attribute__((always_inline)) void
add_chunk(const struct woq *a, const struct ulb_tiles *tiles, size_t s, size_t steps, ulb_vec *sums)
{
    ULB_UNROLL(2)
    for (size_t i = 0; i < SLICES; i++)
        ulb_sum_plane(a->bits, tiles->w + i * tiles->slice_bytes + s * ulb_plane_step(a->bits),
                      tiles->x + (i * tiles->steps + s) * 4, steps,
                      (struct ulb_line_prefetch){NEAR, ulb_prefetch_setting(*tiles->prefetch)}, sums);
}

/* Dot products of all of K, codes as they are. */
static inline __attribute__((always_inline)) void sum_tile(const struct woq *a, const struct ulb_tiles *tiles,
                                                           int32_t *dots)
{
    const size_t whole = tiles->steps / CHUNK * CHUNK;
    ulb_vec sums[ULB_PLANE_VECTORS];
    ulb_zero_all(sums, ULB_PLANE_VECTORS);
    for (size_t s = 0; s < whole; s += CHUNK)
        add_chunk(a, tiles, s, CHUNK, sums);
    add_chunk(a, tiles, whole, tiles->steps - whole, sums);
    ulb_separate_plane(a->bits, sums);
    ulb_store_all(dots, sums, ULB_PLANE_VECTORS);
}

/* bias: what dots lack of codes times the sum of x. */
static inline __attribute__((always_inline)) void epilogue(const struct woq *a, const struct ulb_gemm *g,
                                                           size_t m, size_t rows, size_t n,
                                                           const int32_t *dots, int32_t bias)
{
    const float *scale = ulb_row_scales(g, a->layout) + m, *zeros = ulb_row_zeros(g, a->layout) + m;
    const float *row_sums = ulb_row_sums(g, a->layout) + m;
    int64_t x_sum = g->x_sum[n], x_zero = g->x_zero[n];
    int32_t offset = (a->zeros ? 0 : 1 << (a->bits - 1)) - bias;
    for (size_t i = 0; i < rows; i++) {
        int64_t zero = offset + (a->zeros ? (int32_t)zeros[i] : 0);
        int64_t sum = dots[i] - zero * x_sum - x_zero * (int32_t)row_sums[i];
        g->y[n * g->y_stride + m + i] = (float)sum * scale[i] * g->x_scale[n];
    }
}

/* One token. */
static inline __attribute__((always_inline)) void run_one(const struct woq *a, const struct ulb_gemm *g)
{
    struct ulb_tiles tiles = {.slice_bytes = ulb_layout_slice_bytes(a->layout, g->m, g->k),
                              .steps = ulb_layout_steps(a->layout, g->k),
                              .prefetch = &g->prefetch};
    size_t batch = ulb_batch(g, a->layout, ULB_PLANE_ROWS);
    for (size_t m = g->m0; m < g->m1; m += batch) {
        size_t rows = ulb_batch_end(g, m, batch) - m;
        for (size_t n = 0; n < g->n; n++) {
            int32_t dots[ULB_BATCH_ROWS];
            tiles.x = (const int8_t *)g->x + n * g->x_stride;
            for (size_t i = 0; i < rows; i += ULB_PLANE_ROWS) {
                tiles.w =
                    (const uint8_t *)g->w + (m + i) / ULB_PLANE_ROWS * tiles.steps * ulb_plane_step(a->bits);
                sum_tile(a, &tiles, dots + i);
            }
            epilogue(a, g, m, rows, n, dots, a->bits == 8 ? ULB_PLANE_BIAS_8 : 0);
        }
    }
}

/* A tile's rows and a block of tokens. */
struct n_block {
    struct ulb_plane_k_block k_block;
    const uint8_t *w; /* of the panel */
    int32_t dots[ULB_GEMM_N_BLOCK][ULB_PLANE_ROWS];
};

static inline __attribute__((always_inline)) void take_sums(void *of, size_t vector, size_t t,
                                                            unsigned tokens, const ulb_vec *sums)
{
    struct n_block *n_block = of;
    ULB_UNROLL(24)
    for (size_t i = 0; i < tokens * ULB_PLANE_PASS_VECTORS; i++) {
        int32_t *dots =
            &n_block->dots[t + i / ULB_PLANE_PASS_VECTORS][(vector + i % ULB_PLANE_PASS_VECTORS) * ULB_LANES];
        ulb_store(dots, ulb_add32(ulb_load(dots), sums[i]));
    }
}

static inline __attribute__((always_inline)) void all_4(struct n_block *n_block, size_t t, unsigned tokens)
{
    ulb_pass_plane_k_block(4, &n_block->k_block, t, tokens, take_sums, n_block);
}

ULB_GEMM_PASSES(add_k_block_4, struct n_block, ULB_PLANE_TOKENS, all_4)

#if !ULB_S16_SUMS

static inline __attribute__((always_inline)) void all_8(struct n_block *n_block, size_t t, unsigned tokens)
{
    ulb_pass_plane_k_block(8, &n_block->k_block, t, tokens, take_sums, n_block);
}

ULB_GEMM_PASSES(add_k_block_8, struct n_block, ULB_PLANE_TOKENS, all_8)

#endif

/* With 16-bit sums: of nibbles. */
static inline __attribute__((always_inline)) void
add_k_block(const void *of, const struct ulb_gemm_block *block, void *state, size_t t, unsigned tokens)
{
#if !ULB_S16_SUMS
    const struct woq *a = of;
    if (a->bits == 8) {
        add_k_block_8(of, block, state, t, tokens);
        return;
    }
#endif
    add_k_block_4(of, block, state, t, tokens);
}

/* K-blocks of a slice. */
static inline size_t slice_blocks(const struct ulb_gemm_block *block)
{
    return (block->steps + K_BLOCK - 1) / K_BLOCK;
}

static inline __attribute__((always_inline)) size_t begin(const void *of, const struct ulb_gemm_block *block,
                                                          void *state)
{
    const struct woq *a = of;
    struct n_block *n_block = state;
    n_block->w =
        (const uint8_t *)block->g->w + block->m / ULB_PLANE_ROWS * block->steps * ulb_plane_step(a->bits);
    n_block->k_block.parts = a->bits == 8 ? ULB_PLANE_PARTS(8) : ULB_PLANE_PARTS(4);
    n_block->k_block.part_bits = ULB_PLANE_PART_BITS(4);
    n_block->k_block.x_stride = block->g->x_stride;
    memset(n_block->dots, 0, block->tokens * sizeof *n_block->dots);
    return SLICES * slice_blocks(block);
}

/* Unpacks the codes of a K-block with 16-bit sums; else they are used in place. */
static inline __attribute__((always_inline)) const uint8_t *codes(const struct woq *a, const uint8_t *w,
                                                                  struct ulb_plane_k_block *k_block)
{
#if ULB_S16_SUMS
    if (a->bits == 8)
        ulb_unpack_halves(8, w, k_block->steps, k_block->codes);
    else
        ulb_unpack_planes(4, w, k_block->steps, k_block->codes);
    return k_block->codes[0][0];
#else
    (void)a, (void)k_block;
    return w;
#endif
}

/* The slices come one after the other. */
static inline __attribute__((always_inline)) void stage(const void *of, const struct ulb_gemm_block *block,
                                                        void *state, size_t k)
{
    const struct woq *a = of;
    struct n_block *n_block = state;
    const struct ulb_gemm *g = block->g;
    struct ulb_plane_k_block *k_block = &n_block->k_block;
    const size_t steps = block->steps, step = ulb_plane_step(a->bits), slice = k >= slice_blocks(block),
                 first = (k - slice * slice_blocks(block)) * K_BLOCK;
    const uint8_t *w = n_block->w + slice * block->slice_bytes + first * step;
    k_block->steps = steps - first < K_BLOCK ? steps - first : K_BLOCK;
    k_block->x = (const int8_t *)g->x + block->n * g->x_stride + 4 * (slice * steps + first);
    k_block->w = codes(a, w, k_block);
    ulb_share_plane_prefetches(k_block, w + (ULB_S16_SUMS ? ULB_GEMM_FAR : k_block->steps * step),
                               k_block->steps * step, block->tokens);
}

static inline __attribute__((always_inline)) void finish(const void *of, const struct ulb_gemm_block *block,
                                                         void *state)
{
    struct n_block *n_block = state;
    for (size_t t = 0; t < block->tokens; t++)
        epilogue(of, block->g, block->m, ulb_rows_left(block->g, block->m, ULB_PLANE_ROWS), block->n + t,
                 n_block->dots[t], 0);
}

static inline __attribute__((always_inline)) void run_tokens(const struct woq *a, const struct ulb_gemm *g)
{
    const struct ulb_gemm_nest nest = {.cfg = a,
                                       .layout = a->layout,
                                       .rows = ULB_PLANE_ROWS,
                                       .n_block = ULB_GEMM_N_BLOCK,
                                       .least = 2,
                                       .tile = ULB_PLANE_TOKENS,
                                       .begin = begin,
                                       .stage = stage,
                                       .pass = add_k_block,
                                       .finish = finish};
    struct n_block n_block;
    ulb_gemm_blocked(&nest, g, &n_block);
}

#define ROW(of, bits_, zeros_)                                                                               \
    static const struct woq cfg_##of = {&LAYOUT(of), bits_, zeros_};                                         \
    static __attribute__((noinline)) void tokens_##of(const struct ulb_gemm *g)                              \
    {                                                                                                        \
        run_tokens(&cfg_##of, g);                                                                            \
    }                                                                                                        \
    static void run_##of(const struct ulb_gemm *g)                                                           \
    {                                                                                                        \
        if (ULB_PLANE_TILE(bits_) == 1 || g->n == 1)                                                         \
            run_one(&cfg_##of, g);                                                                           \
        else                                                                                                 \
            tokens_##of(g);                                                                                  \
    }                                                                                                        \
    ULB_KERNEL_VARIANT(of) = {                                                                               \
        ULB_PLANE_FIELDS(LAYOUT(of), run_##of),                                                              \
        .variant = "plane",                                                                                  \
        .nr = ULB_PLANE_TILE(bits_),                                                                         \
        .kr = SLICES * 4,                                                                                    \
        .bytes_per_step = 4 * (bits_),                                                                       \
        .mix = {ULB_CODES_MIX(bits_, 0), .loads = (bits_) / 8.0 * ULB_VECTORS_PER_STEP,                      \
                .vector_bits = ULB_VEC_BITS, .chains = ULB_PLANE_VECTORS},                                   \
        .tile_mix = {ULB_PLANE_TILE_MIX(bits_)},                                                             \
        .prefetch = {.kind = ULB_PREFETCH_TUNABLE, .max_n = ULB_PLANE_TILE(bits_) > 1 ? 1 : 0},              \
    };

ULB_WOQ(ROW)
