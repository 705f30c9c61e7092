/* TL2 by a table of its indices. vpermb turns an index into the code of one of its columns, once for all
 * tokens of a register tile. vpermb ignores the high two bits of its index, and a third if a table repeats
 * its 32 entries. Five vectors of weights are therefore indices in place, and their high bits are three more
 * vectors of indices.
 *
 * Codes of all three columns add to one accumulator. Results are lossless: integers up to the row's scale.
 * `|sum| <= 2 * 128 * K < 2^31` up to `K = 65,536`.
 * Unlike table.c, it builds no tables of sums, and reads nothing besides the weights. Three slices suffice as
 * streams. Registers: four accumulators for each of four tokens, or of one token for each column. The others
 * hold four vectors of activations, four indices, the rest of five vectors of weights, a table, and a vector
 * of codes. */
#include "kernels/formats/tl2/format.h"
#include "kernels/x86/gemm/field_tile.h"

enum {
    BLOCKS = ULB_TL2_FIVES_BLOCKS,
    COLUMNS = ULB_TL2_COLUMNS,
    SLICES = ULB_TL2_FIVES_SLICES,
    INDICES = 2 * BLOCKS, /* vectors of a step, of half of its columns each */
    VECTORS = 5,          /* of weights, that hold them */
    STEP_BYTES = VECTORS * ULB_VEC_BYTES,
    HALF = 4 * COLUMNS,
    TOKENS = 4,
    ZERO_POINT = 1,
    NEAR = 2048,
    FAR = 3072
};

/* Codes, values + 1, by the index with its sign as bit 4. Entries 14 and 15 do not occur. n: see ulb_tl2. */
#define NUMBER(i)     ((i) % 32 < 16 ? 13 + (i) % 16 : 13 + 27 - (i) % 16)
#define CODE(c, i)    (c == 0 ? NUMBER(i) / 9 % 3 : c == 1 ? NUMBER(i) / 3 % 3 : NUMBER(i) % 3)
#define FOUR(c, i)    CODE(c, i), CODE(c, i + 1), CODE(c, i + 2), CODE(c, i + 3)
#define SIXTEEN(c, i) FOUR(c, i), FOUR(c, i + 4), FOUR(c, i + 8), FOUR(c, i + 12)
#define TABLE(c)                                                                                             \
    {                                                                                                        \
        SIXTEEN(c, 0), SIXTEEN(c, 16), SIXTEEN(c, 32), SIXTEEN(c, 48)                                        \
    }

static const _Alignas(64) uint8_t tables[COLUMNS][ULB_VEC_BYTES] = {TABLE(0), TABLE(1), TABLE(2)};

/* bits of the first, the others of the second. */
static inline ulb_vec merge(ulb_vec first, ulb_vec second, int bits)
{
    /* 0xE4: the first operand if the third has a 1, otherwise the second. The first is overwritten. */
    return _mm512_ternarylogic_epi32(first, second, ulb_all8(bits), 0xE4);
}

/* See ulb_tl2_fives. The empty statement keeps GCC from loading weights for each use. */
static inline __attribute__((always_inline)) void load(const uint8_t *w, ulb_vec index[INDICES])
{
    ULB_UNROLL(5)
    for (size_t i = 0; i < VECTORS; i++) {
        index[i] = ulb_load(w + i * ULB_VEC_BYTES);
        __asm__("" : "+v"(index[i]));
    }
    const int low = 0x07, bit4 = 0x10;
    index[5] = merge(ulb_shr16(index[0], 5), ulb_shr16(index[1], 2), low);
    index[6] = merge(ulb_shr16(index[2], 5), ulb_shr16(index[3], 2), low);
    ulb_vec high = merge(ulb_shr16(index[3], 3), ulb_shr16(index[1], 4), bit4);
    index[7] = merge(ulb_shr16(index[4], 5), high, low);
}

/* Sets of accumulators, enough for the latency of dp: a set each, or two, or one for all columns. */
static inline unsigned sets_of(unsigned tokens)
{
    return tokens == 1 ? COLUMNS : tokens == 2 ? 2 : 1;
}

/* sums[sets][tokens][blocks] += products of the indices of half of a step's columns, with activations x.
 * Prefetches ahead of some lines of the step, from `line`; prefetches stand next to look-ups, see
 * kernels/x86/gemv/k_slices.h. */
static inline __attribute__((always_inline)) void add(const ulb_vec index[BLOCKS], struct ulb_tokens_x x,
                                                      unsigned tokens, const uint8_t *w, size_t line,
                                                      struct ulb_prefetch_setting prefetch, ulb_vec *sums)
{
    ULB_UNROLL(3)
    for (unsigned c = 0; c < COLUMNS; c++) {
        ulb_vec four[TOKENS], *set = sums + c % sets_of(tokens) * tokens * BLOCKS;
        const ulb_vec table = ulb_load(tables[c]);
        ULB_UNROLL(4)
        for (unsigned t = 0; t < tokens; t++)
            four[t] = ulb_broadcast4(x.at + c * x.four + t * x.token);
        ULB_UNROLL(4)
        for (unsigned b = 0; b < BLOCKS; b++) {
            const ulb_vec codes = _mm512_permutexvar_epi8(index[b], table);
            ULB_UNROLL(4)
            for (unsigned t = 0; t < tokens; t++)
                ulb_dp(&set[t * BLOCKS + b], codes, four[t]);
            if (b == c && line + c < VECTORS) {
                __asm__ volatile("" : "+v"(set[b]));
                ulb_prefetch_line_runtime(w, (line + c) * ULB_LINE,
                                          (struct ulb_line_prefetch){NEAR, prefetch}, FAR);
            }
        }
    }
}

static inline __attribute__((always_inline)) void sum(struct ulb_prefetch_setting prefetch,
                                                      const struct ulb_tiles *tiles, struct ulb_tokens_x x,
                                                      unsigned tokens, ulb_vec *sums)
{
    const unsigned all = tokens * BLOCKS, sets = sets_of(tokens);
    ulb_zero_all(sums, sets * all);
    for (size_t s = 0; s < tiles->steps; s++) {
        ULB_UNROLL(3)
        for (size_t i = 0; i < SLICES; i++) {
            const uint8_t *w = tiles->w + i * tiles->slice_bytes + s * STEP_BYTES;
            struct ulb_tokens_x at = x;
            at.at += (i * tiles->steps + s) * 2 * COLUMNS * x.four;
            ulb_vec index[INDICES];
            load(w, index);
            add(index, at, tokens, w, 0, prefetch, sums);
            at.at += COLUMNS * x.four;
            add(index + BLOCKS, at, tokens, w, COLUMNS, prefetch, sums);
        }
    }
    ulb_add_sets(sums, sets, all);
}

static void run(const struct ulb_gemm *g)
{
    static const struct ulb_field_tile_cfg cfg = {.layout = &ulb_tl2_fives,
                                                  .vectors = BLOCKS,
                                                  .fields = 1,
                                                  .tokens = TOKENS,
                                                  .slices = SLICES,
                                                  .zero_point = ZERO_POINT,
                                                  .sum = sum};
    ulb_run_tokens(&cfg, g);
}

#define MIX(tokens, sums)                                                                                    \
    {                                                                                                        \
        .loads = 5 / 48.0, .broadcasts = 6 / 48.0 * (tokens), .prefetches = 10 / 48.0, .logic = 4 / 48.0,    \
        .shifts = 7 / 48.0, .permutes = 24 / 48.0, .dot_products = 0.5 * (tokens), .vector_bits = 512,       \
        .chains = BLOCKS * (sums)                                                                            \
    }

const struct ulb_kernel ULB_KERNEL = {
    .abi = ULB_KERNEL_ABI,
    .variant = "permute",
    .isa = ULB_KERNEL_ISA,
    .needs = ULB_KERNEL_NEEDS,
    .layout = &ulb_tl2_fives,
    .activation = ULB_ACT_A8,
    .mr = BLOCKS * ULB_LANES,
    .nr = TOKENS,
    .kr = 2 * HALF * SLICES,
    .bytes_per_step = 20.0 / 3,
    .mix = MIX(1, COLUMNS),
    .tile_mix = MIX(TOKENS, TOKENS),
    .prefetch = {.kind = ULB_PREFETCH_TUNABLE},
    .run = run,
};
