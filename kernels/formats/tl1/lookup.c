/* TL1 by dot products. vpshufb looks up the code of either column of an index, once for all tokens of a
 * register tile. Unlike table.c, it builds no tables of sums, and reads nothing besides the weights.
 *
 * Codes of both columns add to one accumulator. Results are lossless: integers up to the row's scale.
 * `|sum| <= 2 * 128 * K < 2^31` up to `K = 65,536`.
 * Three slices suffice as streams. Four would slow down 2 and 3 tokens, with four streams of activations for
 * each. Registers: two accumulators for each of four tokens, in EVEX twice as many. The others hold weights,
 * indices, codes, activations, two tables and a mask. */
#include "kernels/formats/tl1/format.h"
#include "kernels/x86/gemm/field_tile.h"

#ifdef ULB_DP_512
#define LAYOUT ulb_tl1_apart_32
#else
#define LAYOUT ulb_tl1_apart_16
#endif

enum {
    COLUMNS = ULB_TL1_COLUMNS,
    SLICES = ULB_TL1_APART_SLICES,
    VECTORS = 2, /* vectors of rows: low nibbles and high nibbles */
    TOKENS = 4,
    SUMS_MAX = ULB_BY_ENCODING(8, 16),
    SETS = ULB_BY_ENCODING(4, 6), /* of accumulators, of one token: chains enough for the latency of dp */
    NEAR = 2048,
    FAR = 3072
};

static const uint8_t tables[COLUMNS][16] = {{0, 0, 0, 1, 1, 1, 2, 2, 2}, {0, 1, 2, 0, 1, 2, 0, 1, 2}};

static inline unsigned sets_of(unsigned tokens)
{
    unsigned fit = SUMS_MAX / (VECTORS * tokens);
    return fit < SETS ? fit : SETS;
}

/* sums[sets][tokens][VECTORS] += products of a vector of weights in slice i. */
static inline __attribute__((always_inline)) void add(const uint8_t *w, struct ulb_tokens_x x,
                                                      unsigned tokens, size_t i, ulb_vec *sums)
{
    ulb_vec packed = ulb_load(w);
    /* Keeps the vector in a register: GCC would load it for each nibble. */
    __asm__("" : "+" ULB_REGISTER(packed));
    ULB_UNROLL(2)
    for (size_t v = 0; v < VECTORS; v++) {
        const ulb_vec index = ulb_and(v ? ulb_shr16(packed, 4) : packed, ulb_all8(0x0F));
        /* 16 registers leave none to keep the activations for the other nibbles. */
        if (ULB_BY_ENCODING(true, false))
            __asm__("" : "+r"(x.at));
        ULB_UNROLL(2)
        for (size_t c = 0; c < COLUMNS; c++) {
            ulb_vec *set = sums + (i * COLUMNS + c) % sets_of(tokens) * tokens * VECTORS;
            const ulb_vec codes = ulb_look_up(ulb_all128(tables[c]), index);
            ULB_UNROLL(4)
            for (unsigned t = 0; t < tokens; t++)
                ulb_dp(&set[t * VECTORS + v], codes, ulb_broadcast4(x.at + c * x.four + t * x.token));
        }
    }
}

/* Step s of every slice, and the next ones of a line. */
static inline __attribute__((always_inline)) void add_slices(struct ulb_prefetch_setting prefetch,
                                                             const struct ulb_tiles *tiles, size_t s,
                                                             size_t steps, struct ulb_tokens_x x,
                                                             unsigned tokens, ulb_vec *sums)
{
    ULB_UNROLL(3)
    for (size_t i = 0; i < SLICES; i++) {
        const uint8_t *w = tiles->w + i * tiles->slice_bytes + s * ULB_VEC_BYTES;
        struct ulb_tokens_x at = x;
        at.at += (i * tiles->steps + s) * COLUMNS * x.four;
        ULB_UNROLL(2)
        for (size_t u = 0; u < steps; u++, at.at += COLUMNS * x.four)
            add(w + u * ULB_VEC_BYTES, at, tokens, i, sums);
        __asm__ volatile("" : "+" ULB_REGISTER(sums[0]));
        ulb_prefetch_line_runtime(w, 0, (struct ulb_line_prefetch){NEAR, prefetch}, FAR);
    }
}

static inline __attribute__((always_inline)) void sum(struct ulb_prefetch_setting prefetch,
                                                      const struct ulb_tiles *tiles, struct ulb_tokens_x x,
                                                      unsigned tokens, ulb_vec *sums)
{
    enum { STEPS = ULB_LINE / ULB_VEC_BYTES };
    const unsigned all = tokens * VECTORS, sets = sets_of(tokens);
    size_t even = tiles->steps / STEPS * STEPS;
    ulb_zero_all(sums, sets * all);
    for (size_t s = 0; s < even; s += STEPS)
        add_slices(prefetch, tiles, s, STEPS, x, tokens, sums);
    if (even < tiles->steps)
        add_slices(prefetch, tiles, even, 1, x, tokens, sums);
    ulb_add_sets(sums, sets, all);
}

static void run(const struct ulb_gemm *g)
{
    static const struct ulb_field_tile_cfg cfg = {.layout = &LAYOUT,
                                                  .vectors = VECTORS,
                                                  .fields = 1,
                                                  .tokens = TOKENS,
                                                  .slices = SLICES,
                                                  .zero_point = ULB_TL1_ZERO_POINT,
                                                  .sum = sum};
    ulb_run_tokens(&cfg, g);
}

/* Per vector of some steps of 32 weights. */
#define STEP (ULB_VEC_BYTES / 8.0)
#define MIX(tokens, chains_)                                                                                 \
    {                                                                                                        \
        .loads = 1 / STEP, .broadcasts = COLUMNS / STEP * (tokens), .prefetches = 0.25, .logic = 2 / STEP,   \
        .shifts = 1 / STEP, .shuffles = 4 / STEP, .dot_products = 4 / STEP * (tokens),                       \
        .vector_bits = ULB_VEC_BITS, .chains = (chains_)                                                     \
    }

const struct ulb_kernel ULB_KERNEL = {
    .abi = ULB_KERNEL_ABI,
    .variant = "lookup",
    .isa = ULB_KERNEL_ISA,
    .needs = ULB_KERNEL_NEEDS,
    .layout = &LAYOUT,
    .activation = ULB_ACT_A8,
    .mr = VECTORS * ULB_LANES,
    .nr = TOKENS,
    .kr = 4 * COLUMNS * SLICES,
    .bytes_per_step = 8,
    .mix = MIX(1, VECTORS *SETS),
    .tile_mix = MIX(TOKENS, SUMS_MAX),
    .prefetch = {.kind = ULB_PREFETCH_TUNABLE},
    .run = run,
};
