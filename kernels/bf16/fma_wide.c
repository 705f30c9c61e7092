/* bf16 by single-precision FMA: a shift makes the even column a float, a mask the odd one. Written once for
 * 256 and 512 bits, on the same buffer.
 *
 * Per 2 columns of a tile of 32 rows: 2 broadcasts, then for each vector a load, a shift, an and, and 2 FMA.
 * Even and odd columns have accumulators of their own, which two address streams share: at 256 bits 8, which
 * hides FMA latency 4 on two ports: 2 cycles per 32 weights; at 512 bits 4, and 8 FMA in chains of 2 take 8
 * cycles per 128 weights: 2 per 32, with 64 bytes read for each.
 *
 * 512 bits: 4 tokens share shifts and ands (kernels/x86/float_tokens.h): 16 sums, 8 activations; 16 FMA and 4
 * others on two ports are 10 cycles: 1.25 per 32 weights and token. 16 registers hold too few tokens' sums
 * for a gain. */
#include "kernels/bf16/format.h"
#include "kernels/row.h"
#include "kernels/x86/float_tokens.h"

enum {
    ROWS = 32,
    STEP_BYTES = 4 * ROWS,
    VECTORS = ROWS / ULB_LANES,
    PREFETCH = 1024,
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

static inline void step(const uint8_t *w, const float *x, ulb_floats *even, ulb_floats *odd)
{
    ulb_floats x0 = ulb_load_to_all(x), x1 = ulb_load_to_all(x + 1);
    for (int i = 0; i < VECTORS; i++) {
        ulb_floats values[2];
        load(w + i * ULB_VEC_BYTES, values);
        even[i] = ulb_fma(values[0], x0, even[i]);
        odd[i] = ulb_fma(values[1], x1, odd[i]);
    }
    _mm_prefetch((const char *)w + PREFETCH, _MM_HINT_T0);
    _mm_prefetch((const char *)w + PREFETCH + 64, _MM_HINT_T0);
}

static inline void tile(const uint8_t *w, const float *x, size_t steps, float *y)
{
    ulb_floats even[VECTORS], odd[VECTORS];
    for (int i = 0; i < VECTORS; i++)
        even[i] = odd[i] = ulb_no_floats();
    size_t half = steps / 2;
    const uint8_t *w2 = w + half * STEP_BYTES;
    const float *x2 = x + half * 2;
    for (size_t s = 0; s < half; s++) {
        step(w + s * STEP_BYTES, x + s * 2, even, odd);
        step(w2 + s * STEP_BYTES, x2 + s * 2, even, odd);
    }
    if (steps % 2)
        step(w2 + half * STEP_BYTES, x2 + half * 2, even, odd);
    for (int i = 0; i < VECTORS; i++)
        ulb_store_floats(y + i * ULB_LANES, even[i] + odd[i]);
}

#define TOKENS_ROW(streams_)                                                                                 \
    {                                                                                                        \
        .rows = ROWS, .vector_bytes = ULB_VEC_BYTES, .step_bytes = STEP_BYTES, .streams = (streams_),        \
        .columns = 2, .vectors = PASS_VECTORS, .tokens = TOKENS, .load = load, .add = ulb_add_product        \
    }
static const struct ulb_float_tokens tokens = TOKENS_ROW(2), rest = TOKENS_ROW(1);

static __attribute__((noinline)) void run_tokens(const struct ulb_gemm *g)
{
    ulb_run_float_tokens(&tokens, &rest, &ulb_bf16_vnni2, g);
}

static void run(const struct ulb_gemm *g)
{
    if (TOKENS == 1 || g->n == 1)
        ulb_run_float_tiles(g, &ulb_bf16_vnni2, tile);
    else
        run_tokens(g);
}

#define MIX(tokens_, chains_)                                                                                \
    {                                                                                                        \
        .loads = 512.0 / ULB_VEC_BITS, .broadcasts = (tokens_), .prefetches = 1,                             \
        .logic = 512.0 / ULB_VEC_BITS, .shifts = 512.0 / ULB_VEC_BITS,                                       \
        .fmas = 1024.0 / ULB_VEC_BITS * (tokens_), .vector_bits = ULB_VEC_BITS, .chains = (chains_)          \
    }

const struct ulb_kernel ULB_ROW = {
    .abi = ULB_KERNEL_ABI,
    .variant = "fma",
    .isa = ULB_ROW_ISA,
    .needs = ULB_ROW_NEEDS,
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
