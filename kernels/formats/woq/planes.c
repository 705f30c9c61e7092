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
    int32_t dots[ULB_PLANE_N_BLOCK][ULB_PLANE_ROWS];
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

/* Functions of their own: inlined, GCC keeps the sums in memory. */
static __attribute__((noinline)) void add_k_block_4(struct n_block *n_block, size_t tokens)
{
    ulb_pass_plane_k_blocks(4, &n_block->k_block, tokens, take_sums, n_block);
}

#if ULB_S16_SUMS

/* dots += the products of a K-block, whose codes lie at w, with 16-bit sums of its nibbles. */
static inline __attribute__((always_inline)) void add_k_block(const struct woq *a, const uint8_t *w,
                                                              size_t tokens, struct n_block *n_block)
{
    if (a->bits == 8)
        ulb_unpack_halves(8, w, n_block->k_block.steps, n_block->k_block.codes);
    else
        ulb_unpack_planes(4, w, n_block->k_block.steps, n_block->k_block.codes);
    n_block->k_block.w = n_block->k_block.codes[0][0];
    add_k_block_4(n_block, tokens);
}

#else

static __attribute__((noinline)) void add_k_block_8(struct n_block *n_block, size_t tokens)
{
    ulb_pass_plane_k_blocks(8, &n_block->k_block, tokens, take_sums, n_block);
}

/* dots += the products of a K-block, whose codes are used in place. */
static inline __attribute__((always_inline)) void add_k_block(const struct woq *a, const uint8_t *w,
                                                              size_t tokens, struct n_block *n_block)
{
    n_block->k_block.w = w;
    if (a->bits == 4)
        add_k_block_4(n_block, tokens);
    else
        add_k_block_8(n_block, tokens);
}

#endif

/* Dot products of all of K of a tile's rows, which begin at w, and tokens from n. */
static inline __attribute__((always_inline)) void sum_tokens(const struct woq *a, const struct ulb_gemm *g,
                                                             const uint8_t *w, size_t n, size_t tokens,
                                                             struct n_block *n_block)
{
    const size_t steps = ulb_layout_steps(a->layout, g->k), step = ulb_plane_step(a->bits);
    const size_t slice_bytes = ulb_layout_slice_bytes(a->layout, g->m, g->k);
    memset(n_block->dots, 0, tokens * sizeof *n_block->dots);
    n_block->k_block.parts = a->bits == 8 ? ULB_PLANE_PARTS(8) : ULB_PLANE_PARTS(4);
    n_block->k_block.part_bits = ULB_PLANE_PART_BITS(4);
    for (size_t at = 0; at < SLICES * steps; at += n_block->k_block.steps) {
        const uint8_t *from = w + at / steps * slice_bytes + at % steps * step;
        const size_t left = steps - at % steps;
        n_block->k_block.steps = left < K_BLOCK ? left : K_BLOCK;
        n_block->k_block.next = from + (ULB_S16_SUMS ? ULB_PLANE_FAR : n_block->k_block.steps * step);
        n_block->k_block.next_bytes = n_block->k_block.steps * step;
        n_block->k_block.x = (const int8_t *)g->x + n * g->x_stride + 4 * at;
        n_block->k_block.x_stride = g->x_stride;
        add_k_block(a, from, tokens, n_block);
    }
}

static inline __attribute__((always_inline)) void run_tokens(const struct woq *a, const struct ulb_gemm *g)
{
    const size_t row_bytes = ulb_layout_steps(a->layout, g->k) * ulb_plane_step(a->bits);
    for (size_t m = g->m0; m < g->m1; m += ULB_PLANE_ROWS) {
        for (size_t n = 0; n < g->n; n += ULB_PLANE_N_BLOCK) {
            const size_t tokens = g->n - n < ULB_PLANE_N_BLOCK ? g->n - n : ULB_PLANE_N_BLOCK;
            struct n_block n_block;
            sum_tokens(a, g, (const uint8_t *)g->w + m / ULB_PLANE_ROWS * row_bytes, n, tokens, &n_block);
            for (size_t t = 0; t < tokens; t++)
                epilogue(a, g, m, ulb_rows_left(g, m, ULB_PLANE_ROWS), n + t, n_block.dots[t], 0);
        }
    }
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
