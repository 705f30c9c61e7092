/* bf16 GEMM by tdpbf16ps. The rows of the left operand are tokens. The right operand is 16 pairs of columns
 * of 16 rows of weights. Both are read in place. 2 x 2 tiles of sums are 32 tokens by 32 rows.
 *
 * Pairs are multiplied and added like FMA, even and odd columns separately. Values below 2^-126 are flushed
 * to 0 (Intel SDM, TDPBF16PS). Four products of 16 cycles load four tiles of 16 lines. Columns after the last
 * whole 32 are copied and padded with zeros: memory after the weights may hold NaN. */
#include "kernels/formats/bf16/format.h"
#include "kernels/microkernel.h"
#include "kernels/x86/simd/amx_tiles.h"

#include <string.h>

enum {
    ROWS = 32,
    TOKENS = 2 * ULB_TILE_ROWS,
    TOKENS_OF_BLOCK = 4 * TOKENS, /* activations stay in L2: 1 MiB of 4096 columns */
    PAIR_BYTES = 4 * ROWS,        /* a pair of columns of all rows */
    PAIRS = 16,                   /* of a tile */
    BLOCK_BYTES = PAIRS * PAIR_BYTES,
    NEAR = 2048
};

/* Sums are tmm0-3, tokens tmm4 and tmm5, weights tmm6 and tmm7. lower: there are tokens in tmm5. */
static inline void multiply(const uint8_t *w, const uint16_t *x, size_t x_bytes, bool lower)
{
    const uint8_t *second = w + 64;
    const char *below = (const char *)x + ULB_TILE_ROWS * x_bytes;
    size_t stride = PAIR_BYTES;
    __asm__ volatile(
        "tileloadd (%[x],%[x_bytes],1), %%tmm4\n\t"
        "tileloadd (%[w],%[stride],1), %%tmm6\n\t"
        "tileloadd (%[second],%[stride],1), %%tmm7\n\t"
        "tdpbf16ps %%tmm6, %%tmm4, %%tmm0\n\t"
        "tdpbf16ps %%tmm7, %%tmm4, %%tmm1"
        :
        : [x] "r"(x), [x_bytes] "r"(x_bytes), [w] "r"(w), [second] "r"(second), [stride] "r"(stride)
        : "memory");
    if (lower)
        __asm__ volatile("tileloadd (%[below],%[x_bytes],1), %%tmm5\n\t"
                         "tdpbf16ps %%tmm6, %%tmm5, %%tmm2\n\t"
                         "tdpbf16ps %%tmm7, %%tmm5, %%tmm3"
                         :
                         : [below] "r"(below), [x_bytes] "r"(x_bytes)
                         : "memory");
}

/* The block of weights NEAR bytes after one. */
static inline void ask(const uint8_t *w)
{
    ULB_UNROLL(32)
    for (size_t line = 0; line < BLOCK_BYTES; line += 64)
        __builtin_prefetch(w + NEAR + line, 0, 3);
}

static inline void store(float (*sums)[ROWS], bool lower)
{
    size_t line = sizeof *sums;
    __asm__ volatile("tilestored %%tmm0, (%[at],%[line],1)\n\t"
                     "tilestored %%tmm1, 64(%[at],%[line],1)"
                     :
                     : [at] "r"(sums), [line] "r"(line)
                     : "memory");
    if (lower)
        __asm__ volatile("tilestored %%tmm2, (%[at],%[line],1)\n\t"
                         "tilestored %%tmm3, 64(%[at],%[line],1)"
                         :
                         : [at] "r"(sums + ULB_TILE_ROWS), [line] "r"(line)
                         : "memory");
}

/* A row of tiles and some tokens, at most TOKENS. cold: its weights are in no cache yet. */
static void run_tile(const struct ulb_gemm *g, size_t row, size_t token, size_t tokens, bool cold)
{
    const size_t steps = ulb_layout_steps(&ulb_bf16_vnni2, g->k), whole = steps / PAIRS, left = steps % PAIRS;
    const uint8_t *w = (const uint8_t *)g->w + row / ROWS * steps * PAIR_BYTES;
    const uint16_t *x = (const uint16_t *)g->x + token * g->x_stride;
    const bool lower = tokens > ULB_TILE_ROWS;
    float sums[TOKENS][ROWS];
    ulb_amx_zero();
    for (size_t i = 0; i < whole; i++) {
        if (cold)
            ask(w + i * BLOCK_BYTES);
        multiply(w + i * BLOCK_BYTES, x + 2 * PAIRS * i, g->x_stride * sizeof *x, lower);
    }
    if (left > 0) {
        uint8_t last[BLOCK_BYTES] = {0};
        memcpy(last, w + whole * BLOCK_BYTES, left * PAIR_BYTES);
        multiply(last, x + 2 * PAIRS * whole, g->x_stride * sizeof *x, lower);
    }
    store(sums, lower);
    for (size_t n = 0; n < tokens; n++)
        memcpy(g->y + (token + n) * g->y_stride + row, sums[n], ulb_rows_left(g, row, ROWS) * sizeof(float));
}

/* Rows [m0, m1) for some tokens, a row of tiles at a time, whose weights stay in L2. */
static void run_tokens(const struct ulb_gemm *g, size_t token, size_t tokens)
{
    size_t configured = 0;
    for (size_t row = g->m0; row < g->m1; row += ROWS) {
        for (size_t i = 0; i < tokens; i += TOKENS) {
            size_t each = tokens - i < TOKENS ? tokens - i : TOKENS;
            if (each != configured)
                ulb_amx_configure(each, false);
            configured = each;
            run_tile(g, row, token + i, each, i == 0);
        }
    }
}

static void run(const struct ulb_gemm *g)
{
    for (size_t token = 0; token < g->n; token += TOKENS_OF_BLOCK)
        run_tokens(g, token, g->n - token < TOKENS_OF_BLOCK ? g->n - token : TOKENS_OF_BLOCK);
    ulb_amx_release();
}

const struct ulb_kernel ULB_KERNEL = {
    .abi = ULB_KERNEL_ABI,
    .variant = "tile",
    .isa = ULB_KERNEL_ISA,
    .needs = ULB_KERNEL_NEEDS,
    .layout = &ulb_bf16_vnni2,
    .activation = ULB_ACT_BF16,
    .mr = ROWS,
    .nr = TOKENS,
    .kr = 2 * PAIRS,
    .bytes_per_step = 64,
    .tolerance = ULB_FLOAT_TOLERANCE,
    .run = run,
};
