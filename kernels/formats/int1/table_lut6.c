/* int1 by exact tables of 64 entries: see kernels/formats/int1/lut6.h, and for several tokens
 * kernels/formats/int1/lut6_gemm.h.
 *
 * Three slices of K at a time are address streams. Slices are short (288 columns), so that their tables, 21
 * bytes a column, stay in L1 with the weights. Larger tables are slower from memory, though not in L1. Each
 * core builds its own tables.
 *
 * Registers: two blocks of 64 rows share the loads of tables: four byte sums, four word sums, eight indices.
 * 32-bit sums are kept in memory. */
#include "kernels/formats/int1/lut6_gemm.h"

enum {
    BURSTS = ULB_LUT6_PAIRS / ULB_INT1_LUT6_SLICES, /* of a pair of steps of each slice, that words hold */
    PREFETCH = 1536
};

/* Adds one or two steps of each of the three slices. */
static inline __attribute__((always_inline)) void burst(struct ulb_prefetch_setting prefetch, size_t steps,
                                                        const uint8_t *w, const uint8_t *table,
                                                        const struct ulb_tiles *tiles, __m512i words[1][2][2])
{
    ULB_UNROLL(3)
    for (int i = 0; i < ULB_INT1_LUT6_SLICES; i++) {
        ulb_lut6_chunk(prefetch, true, PREFETCH, 1, steps, w, table, 0, words);
        w += tiles->slice_bytes;
        table += tiles->steps * ULB_LUT6_TABLES;
    }
}

/* Sums of v over three slices, for one row of tiles. */
static inline __attribute__((always_inline)) void sum_tiles_as(struct ulb_prefetch_setting prefetch,
                                                               const struct ulb_tiles *tiles,
                                                               const uint8_t *tables, int32_t *sums)
{
    __m512i words[1][2][2];
    ulb_lut6_clear(words[0]);
    for (size_t s = 0; s < tiles->steps;) {
        size_t full = tiles->steps - s < 2 * BURSTS ? tiles->steps : s + 2 * BURSTS;
        for (; s + 2 <= full; s += 2)
            burst(prefetch, 2, tiles->w + s * ULB_LUT6_STEP, tables + s * ULB_LUT6_TABLES, tiles, words);
        if (s < full)
            burst(prefetch, 1, tiles->w + s * ULB_LUT6_STEP, tables + s * ULB_LUT6_TABLES, tiles, words);
        ulb_lut6_widen(words[0], sums);
        s = full;
    }
}

/* Three code variants: see kernels/x86/gemv/k_slices.h. */
static inline void sum_tiles(const struct ulb_tiles *tiles, const uint8_t *tables, int32_t *sums)
{
    ULB_SPECIALISE_PREFETCH(*tiles->prefetch, sum_tiles_as(prefetch, tiles, tables, sums));
}

static inline void dots_of_sums(const int32_t *sums, int32_t *dots)
{
    for (int i = 0; i < ULB_LUT6_ROWS; i++)
        dots[i] = ulb_lut6_dot(sums[i]);
}

static const struct ulb_lut_cfg cfg = {.layout = &ulb_int1_lut6,
                                       .rows = ULB_LUT6_ROWS,
                                       .sums = ULB_LUT6_ROWS,
                                       .columns = ULB_LUT6_COLUMNS,
                                       .slices = ULB_INT1_LUT6_SLICES,
                                       .step_bytes = ULB_LUT6_STEP,
                                       .table_bytes = ULB_LUT6_TABLES,
                                       .zero_point = -1,
                                       .build = ulb_lut6_build,
                                       .sum = sum_tiles,
                                       .dots_of_sums = dots_of_sums};

static __attribute__((noinline)) void run_one(const struct ulb_gemm *g)
{
    ulb_run_tables(g, &cfg);
}

static void run(const struct ulb_gemm *g)
{
    if (g->n == 1)
        run_one(g);
    else
        ulb_lut6_run_tokens(g, &cfg);
}

/* Instructions for some tokens. A step has 96 times 32 weights. Words are widened once for `pairs` pairs of
 * steps. */
#define LUT6_MIX(tokens, pairs)                                                                              \
    {                                                                                                        \
        .loads = (6 + 8 * (tokens)) / 96.0, .prefetches = 6 / 96.0, .logic = 4 / 96.0, .shifts = 6 / 96.0,   \
        .adds = (14 + 2 + 4.0 / (pairs)) / 96 * (tokens), .shuffles = 2.0 / (pairs) / 96 * (tokens),         \
        .transposes = 2 / 96.0 * (tokens), .permutes = (16 + 4.0 / (pairs)) / 96 * (tokens),                 \
        .maddubs = 2 / 96.0 * (tokens), .vector_bits = 512                                                   \
    }

const struct ulb_kernel ULB_KERNEL = {
    .abi = ULB_KERNEL_ABI,
    .variant = "table",
    .isa = ULB_KERNEL_ISA,
    .needs = ULB_KERNEL_NEEDS,
    .layout = &ulb_int1_lut6,
    .activation = ULB_ACT_A8,
    .mr = ULB_LUT6_ROWS,
    .nr = 2,
    .kr = ULB_LUT6_COLUMNS,
    .bytes_per_step = 4,
    .mix = LUT6_MIX(1, 3 * BURSTS),
    .tile_mix = LUT6_MIX(2, ULB_INT1_LUT6_STEPS / 2),
    .uses_lut = true,
    .prefetch = {.kind = ULB_PREFETCH_TUNABLE},
    .run = run,
};
