/* bf16 for four tokens at once by bfmmla: two rows of four weights times two tokens of four activations,
 * twice the work of a bfdot. Written once for NEON and for SVE of any length; each 128 bits of SVE are one
 * such product. Activations are split into three bfloat16 (kernels/formats/bf16/parts.h), 16 tokens and a
 * K-block at a time. They stay in L1 while all rows use them. The layout has the columns of a K-block for all
 * rows before the next K-block. Weights are therefore read in order, once for 16 tokens.
 *
 * Errors are as in kernels/formats/bf16/dot_arm.c: bfmmla is two bfdot. Registers: four accumulators for each
 * pair of tokens and part, 24 in all. Each gets one product a step, which hides a latency of 6. The others
 * are four vectors of weights and one of activations. */
#include "kernels/arm/simd/vec.h"
#include "kernels/formats/bf16/format.h"
#include "kernels/formats/bf16/parts.h"
#include "kernels/microkernel.h"

#define LAYOUT ULB_BY_ISA(ulb_bf16_pairs_8, ulb_bf16_pairs_32)

enum {
    ROWS = ULB_BY_ISA(8, 32),
    COLUMNS = ULB_BF16_PAIRS_COLUMNS,
    STEP_BYTES = 2 * COLUMNS * ROWS,
    VECTORS = 4,
    STEPS = ULB_BF16_PAIRS_STEPS, /* most of a block */
    TOKENS = 16,
    TOKEN_PAIRS = 2,
    NEAR = 1024
};

/* A block of columns of some tokens; each 128 bits the operand of a product. */
struct parts {
    uint16_t of[ULB_BF16_PARTS][TOKENS / 2][STEPS][2][COLUMNS];
};

/* Token t of a block; zeros after its columns. */
static void cut(const float *x, size_t columns, size_t steps, size_t t, struct parts *parts)
{
    for (size_t k = 0; k < steps * COLUMNS; k++) {
        float rest = k < columns ? x[k] : 0;
        for (size_t p = 0; p < ULB_BF16_PARTS; p++)
            parts->of[p][t / 2][k / COLUMNS][t % 2][k % COLUMNS] = ulb_bf16_part(&rest);
    }
}

#define EACH(X) X(0) X(1) X(2) X(3)

/* Sums of a pass: of the first pair of tokens by part a, b, c, of the second d, e, f. */
#define DECLARE(i)                                                                                           \
    const ulb_mask mask##i = ulb_bytes_left(at + (i)*ulb_vec_bytes(), STEP_BYTES);                           \
    ulb_floats a##i = ulb_all_floats(0), b##i = a##i, c##i = a##i, d##i = a##i, e##i = a##i, f##i = a##i;
#define WEIGHTS(i) const ulb_bytes w##i = ulb_load(mask##i, w + (i)*ulb_vec_bytes());
/* The barrier keeps a compiler from loading all activations first, for which there are no registers. */
#define MULTIPLY(set, x)                                                                                     \
    {                                                                                                        \
        __asm__ volatile("" : : : "memory");                                                                 \
        const ulb_bytes activations = x;                                                                     \
        set##0 = ulb_bfmultiply(set##0, w0, activations);                                                    \
        set##1 = ulb_bfmultiply(set##1, w1, activations);                                                    \
        set##2 = ulb_bfmultiply(set##2, w2, activations);                                                    \
        set##3 = ulb_bfmultiply(set##3, w3, activations);                                                    \
    }
#define STORE(i)                                                                                             \
    {                                                                                                        \
        const size_t first = at / 4 + (i)*ulb_lanes();                                                       \
        if (first < 2 * ROWS) {                                                                              \
            const ulb_mask left = ulb_lanes_left(first, 2 * ROWS);                                           \
            ulb_store_floats(left, sums[0] + first, ulb_add_floats(a##i, ulb_add_floats(b##i, c##i)));       \
            if (token_pairs > 1)                                                                             \
                ulb_store_floats(left, sums[1] + first, ulb_add_floats(d##i, ulb_add_floats(e##i, f##i)));   \
        }                                                                                                    \
    }
#define PART(p, pair) ulb_load16(parts->of[p][pair][s])

/* sums[pair]`[rows][2]`: a block's, of some pairs of tokens from first, for the rows from byte at of a step
 * on. */
static inline __attribute__((always_inline)) void pass(const uint8_t *w, const struct parts *parts,
                                                       size_t steps, size_t first_pair, size_t token_pairs,
                                                       size_t at, float (*sums)[2 * ROWS])
{
    EACH(DECLARE)
    w += at;
    for (size_t s = 0; s < steps; s++, w += STEP_BYTES) {
        EACH(WEIGHTS)
        MULTIPLY(a, PART(0, first_pair))
        MULTIPLY(b, PART(1, first_pair))
        MULTIPLY(c, PART(2, first_pair))
        if (token_pairs > 1) {
            MULTIPLY(d, PART(0, first_pair + 1))
            MULTIPLY(e, PART(1, first_pair + 1))
            MULTIPLY(f, PART(2, first_pair + 1))
        }
        for (size_t line = 0; at == 0 && line < STEP_BYTES; line += 64)
            __builtin_prefetch(w + line + NEAR, 0, 3);
    }
    EACH(STORE)
}

/* Computes one row of tiles and one K-block for tokens [t, t + tokens) of parts. y belongs to the first of
 * these tokens. y += the K-block, or y = the K-block if it is the first. */
static inline __attribute__((always_inline)) void add_tile(const struct ulb_gemm *g, const uint8_t *w,
                                                           const struct parts *parts, size_t steps, size_t t,
                                                           size_t tokens, size_t token_pairs, size_t row,
                                                           int first, float *y)
{
    float sums[TOKEN_PAIRS][2 * ROWS];
    const size_t rows = ulb_rows_left(g, row, ROWS);
    for (size_t at = 0; at < STEP_BYTES; at += VECTORS * ulb_vec_bytes())
        pass(w, parts, steps, t / 2, token_pairs, at, sums);
    for (size_t i = 0; i < tokens; i++, y += g->y_stride) {
        for (size_t m = 0; m < rows; m++)
            y[row + m] = (first ? 0 : y[row + m]) + sums[i / 2][2 * m + i % 2];
    }
}

/* One block of columns, its weights at w, for tokens [n, n + tokens), whose parts they are. */
static void add_block(const struct ulb_gemm *g, const uint8_t *w, const struct parts *parts, size_t steps,
                      size_t n, size_t tokens, int first)
{
    for (size_t row = g->m0; row < g->m1; row += ROWS) {
        const uint8_t *tiles = w + row / ROWS * steps * STEP_BYTES;
        for (size_t t = 0; t < tokens; t += 2 * TOKEN_PAIRS) {
            float *y = g->y + (n + t) * g->y_stride;
            if (tokens - t > 2)
                add_tile(g, tiles, parts, steps, t,
                         tokens - t < 2 * TOKEN_PAIRS ? tokens - t : 2 * TOKEN_PAIRS, TOKEN_PAIRS, row, first,
                         y);
            else
                add_tile(g, tiles, parts, steps, t, tokens - t, 1, row, first, y);
        }
    }
}

static void run(const struct ulb_gemm *g)
{
    const size_t blocks = ulb_layout_slices(&LAYOUT, g->k);
    struct parts parts;
    for (size_t n = 0; n < g->n; n += TOKENS) {
        const size_t tokens = g->n - n < TOKENS ? g->n - n : TOKENS;
        for (size_t b = 0; b < blocks; b++) {
            const struct ulb_slice block = ulb_layout_slice(&LAYOUT, g->m, g->k, b);
            const size_t begin = block.first * COLUMNS, columns = g->k > begin ? g->k - begin : 0;
            for (size_t t = 0; t < (tokens + 1) / 2 * 2; t++)
                cut((const float *)g->x + (n + t) * g->x_stride + begin, t < tokens ? columns : 0,
                    block.steps, t, &parts);
            add_block(g, (const uint8_t *)g->w + block.offset, &parts, block.steps, n, tokens, b == 0);
        }
    }
}

/* Instructions for some pairs of tokens. */
#define MIX(token_pairs)                                                                                     \
    {                                                                                                        \
        .loads = 4 + ULB_BF16_PARTS * (token_pairs), .prefetches = 1,                                        \
        .matrix_products = 4 * ULB_BF16_PARTS * (token_pairs), .vector_bits = 128,                           \
        .chains = VECTORS * ULB_BF16_PARTS * (token_pairs)                                                   \
    }

const struct ulb_kernel ULB_KERNEL = {
    .abi = ULB_KERNEL_ABI,
    .variant = "dotn",
    .isa = ULB_KERNEL_ISA,
    .needs = ULB_KERNEL_NEEDS,
    .layout = &LAYOUT,
    .activation = ULB_ACT_F32,
    .mr = ROWS,
    .nr = 2 * TOKEN_PAIRS,
    .kr = COLUMNS,
    .bytes_per_step = 64,
    .tolerance = 4 * ULB_FLOAT_TOLERANCE,
    .mix = MIX(1), /* of one token: a pair, half of whose results are dropped */
    .tile_mix = MIX(TOKEN_PAIRS),
    .run = run,
};
