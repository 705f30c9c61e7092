/* bf16 by single-precision FMA: a shift makes the even column a float, a mask the odd one. Written once for
 * 256 and 512 bits, on the same buffer.
 *
 * Two columns of a tile of 32 rows take two broadcasts. Each vector then takes a load, a shift, an AND and
 * two FMA. Even and odd columns have their own accumulators. The address streams, parts of K, share them. At
 * 256 bits 8 accumulators hide a latency of 4 on two ports. At 512 bits a row of tiles has only 4, so that
 * two rows of tiles are read side by side.
 *
 * Four address streams are faster than two. Prefetches are not tunable: the choice would take branches for
 * every line, which is only 32 weights.
 *
 * At 512 bits 4 tokens share shifts and ANDs (kernels/x86/gemm/float.h): 16 sums, eight activations. 16
 * registers hold the sums of too few tokens for a gain. */
#include "kernels/formats/bf16/format.h"
#include "kernels/microkernel.h"
#include "kernels/x86/gemm/float.h"

enum {
    ROWS = 32,
    STEP_BYTES = 4 * ROWS,
    VECTORS = ROWS / ULB_LANES,
    TILE_PAIRS = ULB_BY_WIDTH(false, true), /* rows of tiles side by side */
    STREAMS = TILE_PAIRS ? 2 : 4,
    NEAR = 1024,
    PASS_VECTORS = 2,
    TOKENS = ULB_BY_ENCODING(1, 4)
};

/* Even and odd column of a vector of rows. */
static inline __attribute__((always_inline)) void load(const uint8_t *w, ulb_floats *values)
{
    ulb_vec pair = ulb_load(w);
    values[0] = ulb_as_floats(ulb_shl32(pair, 16));
    values[1] = ulb_as_floats(ulb_and(pair, ulb_all32((int32_t)0xFFFF0000)));
}

/* Step s of row i of tiles: sums[0] of even columns, sums[1] of odd ones. */
static inline __attribute__((always_inline)) void step(const struct ulb_tiles *tiles, size_t i,
                                                       const float *x, size_t s, ulb_floats (*sums)[VECTORS])
{
    const uint8_t *w = tiles->w + i * tiles->tile_distance + s * STEP_BYTES;
    ulb_floats x0 = ulb_load_to_all(x + 2 * s), x1 = ulb_load_to_all(x + 2 * s + 1);
    ULB_UNROLL(4)
    for (size_t v = 0; v < VECTORS; v++) {
        ulb_floats values[2];
        load(w + v * ULB_VEC_BYTES, values);
        sums[0][v] = ulb_fma(values[0], x0, sums[0][v]);
        sums[1][v] = ulb_fma(values[1], x1, sums[1][v]);
        if (v * ULB_VEC_BYTES % ULB_LINE == 0) {
            __asm__ volatile("" : "+v"(sums[1][v])); /* keeps compilers from moving prefetches together */
            ulb_prefetch_line_l1(w, v * ULB_VEC_BYTES, (struct ulb_line_prefetch){NEAR, ULB_OWN_PREFETCH});
        }
    }
}

static inline __attribute__((always_inline)) void sum(const struct ulb_tiles *tiles, size_t count,
                                                      const void *x, float (*y)[ULB_TILE_ROWS_MAX])
{
    const size_t part = tiles->steps / STREAMS;
    ulb_floats sums[2][2][VECTORS];
    ULB_UNROLL(16)
    for (size_t v = 0; v < count * 2 * VECTORS; v++)
        sums[v / VECTORS / 2][v / VECTORS % 2][v % VECTORS] = ulb_no_floats();
    for (size_t s = 0; s < part; s++) {
        ULB_UNROLL(4)
        for (size_t i = 0; i < STREAMS * count; i++)
            step(tiles, i % count, x, i / count * part + s, sums[i % count]);
    }
    for (size_t s = STREAMS * part; s < tiles->steps; s++) {
        ULB_UNROLL(2)
        for (size_t i = 0; i < count; i++)
            step(tiles, i, x, s, sums[i]);
    }
    ULB_UNROLL(8)
    for (size_t v = 0; v < count * VECTORS; v++)
        ulb_store_floats(y[v / VECTORS] + v % VECTORS * ULB_LANES,
                         sums[v / VECTORS][0][v % VECTORS] + sums[v / VECTORS][1][v % VECTORS]);
}

#define TOKENS_CFG(streams_)                                                                                 \
    {                                                                                                        \
        .rows = ROWS, .vector_bytes = ULB_VEC_BYTES, .step_bytes = STEP_BYTES, .streams = (streams_),        \
        .columns = 2, .vectors = PASS_VECTORS, .tokens = TOKENS, .load = load, .add = ulb_add_product        \
    }
static const struct ulb_float_cfg whole = TOKENS_CFG(STREAMS), rest = TOKENS_CFG(1);
ULB_FLOAT_PASSES(pass_whole, whole, TOKENS)
ULB_FLOAT_PASSES(pass_rest, rest, TOKENS)
static const struct ulb_float_gemm gemm = {&whole,          &rest, pass_whole,     pass_rest,
                                           &ulb_bf16_vnni2, 1,     ulb_stream_runs};

static __attribute__((noinline)) void run_tokens(const struct ulb_gemm *g)
{
    ulb_run_float_gemm(&gemm, g, g->x_stride);
}

static void run(const struct ulb_gemm *g)
{
    if (TOKENS == 1 || g->n == 1)
        ulb_run_float_tiles(g, &ulb_bf16_vnni2, TILE_PAIRS, sizeof(float), sum);
    else
        run_tokens(g);
}

#define MIX(tokens_, chains_)                                                                                \
    {                                                                                                        \
        .loads = 512.0 / ULB_VEC_BITS, .broadcasts = (tokens_), .prefetches = 1,                             \
        .logic = 512.0 / ULB_VEC_BITS, .shifts = 512.0 / ULB_VEC_BITS,                                       \
        .fmas = 1024.0 / ULB_VEC_BITS * (tokens_), .vector_bits = ULB_VEC_BITS, .chains = (chains_)          \
    }

const struct ulb_kernel ULB_KERNEL = {
    .abi = ULB_KERNEL_ABI,
    .variant = "fma",
    .isa = ULB_KERNEL_ISA,
    .needs = ULB_KERNEL_NEEDS,
    .layout = &ulb_bf16_vnni2,
    .activation = ULB_ACT_F32,
    .mr = ROWS,
    .nr = TOKENS,
    .kr = 2,
    .bytes_per_step = 64,
    .tolerance = ULB_FLOAT_TOLERANCE,
    .mix = MIX(1, 2 * VECTORS),
    .tile_mix = MIX(TOKENS, 2 * PASS_VECTORS * TOKENS),
    .run = run,
};
