/* Several tokens of a repacked block format with AVX2 alone: the codes of a block are staged (see
 * kernels/x86/gemm/block_unpacked.h) as one token's step multiplies them, scales as words; signed ones that
 * are whole bytes of a tile are where they lie.
 *
 * Blocks add up as one token's do (kernels/x86/gemv/block.h). Within a block sums are integers: signed
 * scales, which one token's rows make floats, meet the zero point as minima do, times 4 or 32 at most 4,096
 * in 16 bits. |sum| <= 128 * 63 * 128 * 256 < 2^29; beyond 2^24 the last bits may differ from one token's.
 * Registers: 2 vectors of rows for 4 tokens: 8 sums, 2 of codes, activations, a product.
 * Ports: per vector and token vpmaddubsw and an addition, and as often as 16-bit sums are full vpmaddwd and
 * another: with the ends of blocks 0.66 cycle per 32 weights and token on Zen 4 for Q4_0, 0.81 for Q6_K,
 * which fills sums in 2 steps.
 *
 * Zen 4, cold, 4096x4096, 4 and 16 tokens against one by one: Q4_0, Q4_1 and Q4_K 1.25 and 1.3 times as fast,
 * Q5_0, Q5_1 and Q5_K 1.6 and 1.75, Q6_K 1.55 and 1.85, Q3_K 1.3 and 1.6, Q2_K 1.1 and 1.3, MXFP4 1.4 and
 * 1.6, TQ1_0 1.45 and 2.05, TQ2_0 1.0 and 1.2, Q8_0 1.45 and 1.3, IQ4_NL 1.05 and 1.25; two tokens 1.0
 * to 1.4, Q2_K, TQ2_0 and IQ4_NL .8. The next tile asked for into L1 as well is 1 to 4 % where codes leave
 * room there, elsewhere it costs 3 to 9 %; without a prefetch 16 tokens are .8. */
#ifndef ULB_KERNELS_X86_GEMM_BLOCK_UNPACKED_AVX2_H
#define ULB_KERNELS_X86_GEMM_BLOCK_UNPACKED_AVX2_H

#include "kernels/x86/gemm/tile_u8.h"
#include "kernels/x86/gemm/block_unpacked.h"
#include "kernels/x86/gemm/tile_s16.h"

enum {
    ULB_STAGED_COLUMNS = 256,    /* of a block at most */
    ULB_STAGED_NEAR_CODES = 8192 /* bytes of a block's, beside which L1 has room for the next tile */
};

/* A block of one slice, and what it meets. */
struct ulb_staged {
    _Alignas(64) uint8_t codes[ULB_STAGED_COLUMNS / 4 * ULB_STAGED_ROW_VECTORS * ULB_VEC_BYTES];
    ulb_vec scales[ULB_SHORT_GROUPS][ULB_STAGED_ROW_VECTORS]; /* words, twice in a lane */
    struct ulb_staged_ends ends; /* minima of signed scales: one group after the other */
    union {
        _Alignas(64) int8_t bytes[ULB_STAGED_BLOCK][ULB_STAGED_COLUMNS];
        int16_t words[ULB_STAGED_BLOCK][ULB_WORD_COLUMNS]; /* for signed codes */
    } x;
    int16_t x_sums[ULB_STAGED_BLOCK][ULB_SHORT_GROUPS]; /* of groups, in the order of minima */
    /* Of a block without groups, times the zero point if there is one. */
    int32_t x_sum[ULB_STAGED_BLOCK];
    float x_scale[ULB_STAGED_BLOCK];
    ulb_floats results[ULB_STAGED_BLOCK][ULB_STAGED_ROW_VECTORS];
    const uint8_t *bytes; /* signed codes: those above, or a tile's that are bytes */
    const uint8_t *ask;   /* by each step of a pass */
    size_t ask_bytes;
};

/* Whether codes are signed bytes, of blocks of 32 columns (kernels/x86/gemm/tile_s16.h). */
static inline __attribute__((always_inline)) bool ulb_are_signed(const struct ulb_block_row *row)
{
    return !row->codes->word_steps && !row->codes->operand_steps;
}

/* Steps that fill a 16-bit sum, or a group. */
static inline __attribute__((always_inline)) size_t ulb_staged_steps(const struct ulb_block_row *row)
{
    const size_t words = row->codes->operand_steps ? row->codes->operand_steps : row->codes->word_steps;
    return words < row->group / 4 ? words : row->group / 4;
}

/* Those of vector v of rows for group g, as int32. They have a zero point, which makes minima of them. */
static inline __attribute__((always_inline)) void
ulb_stage_signed_scale(int32_t zero_point, ulb_vec scale, size_t g, size_t v, struct ulb_staged *staged)
{
    const ulb_vec word = ulb_and(scale, ulb_all32(0xFFFF));
    const ulb_vec zero = _mm256_mullo_epi16(word, ulb_all32(zero_point));
    ulb_vec *minima = &staged->ends.minima[g / 2][v];
    staged->scales[g][v] = ulb_or(word, ulb_shl32(scale, 16));
    *minima = g % 2 ? ulb_or(*minima, ulb_shl32(zero, 16)) : zero;
}

/* Scales of vector v of rows for group g, which lie at scales. */
static inline __attribute__((always_inline)) void ulb_stage_scales(const struct ulb_block_row *row,
                                                                   const uint8_t *scales, size_t g, size_t v,
                                                                   struct ulb_staged *staged)
{
    if (row->scales != ULB_SIGNED_SCALES) {
        staged->scales[g][v] = ulb_paired_scale(row, scales, g, v);
        return;
    }
    ulb_stage_signed_scale(row->zero_point, ulb_load_signed_bytes(scales + v * ULB_LANES), g, v, staged);
}

/* All of the block at tile. */
static inline __attribute__((always_inline)) void
ulb_stage_block(const struct ulb_block_row *row, const uint8_t *tile, struct ulb_staged *staged)
{
    const size_t step_bytes = ulb_block_vectors(row) * ULB_VEC_BYTES;
    for (size_t g = 0; g < row->columns / row->group; g++) {
        for (size_t s = 0; row->codes->operand && s < row->group / 4; s++)
            ulb_stage_step(row, row->codes->operand,
                           tile + ulb_codes_at(row, g) + s * row->sets * row->codes->bytes * ULB_VEC_BYTES,
                           staged->codes + (g * row->group / 4 + s) * step_bytes);
        if (!row->scales)
            continue;
        ULB_UNROLL(8)
        for (size_t v = 0; v < ulb_block_vectors(row); v++)
            ulb_stage_scales(row, tile + ulb_scales_at(row, g), g, v, staged);
    }
    ulb_stage_ends(row, tile, &staged->ends);
}

/* sums[2] += products of two vectors of words and two words. One statement: see kernels/x86/gemm/tile_u8.h.
 */
static inline __attribute__((always_inline)) void ulb_add_staged_words(const ulb_vec *words,
                                                                       const int16_t *x2, ulb_vec *sums)
{
    ulb_vec x, product;
    __asm__("vpbroadcastd %[x2], %[x]\n\t"
            "vpmaddwd %[word0], %[x], %[product]\n\tvpaddd %[product], %[sum0], %[sum0]\n\t"
            "vpmaddwd %[word1], %[x], %[x]\n\tvpaddd %[x], %[sum1], %[sum1]"
            : [sum0] "+x"(sums[0]), [sum1] "+x"(sums[1]), [x] "=&x"(x), [product] "=&x"(product)
            : [word0] "m"(words[0]), [word1] "m"(words[1]), [x2] "m"(*(const int16_t(*)[2])x2));
}

/* Group g, for so many vectors of rows from v on, and tokens of the block from t on. */
static inline __attribute__((always_inline)) void ulb_add_staged_group(const struct ulb_block_row *row,
                                                                       struct ulb_staged *staged, size_t g,
                                                                       size_t v, unsigned vectors, size_t t,
                                                                       unsigned tokens, ulb_vec *sums)
{
    const size_t step_bytes = ulb_block_vectors(row) * ULB_VEC_BYTES, steps = ulb_staged_steps(row);
    const bool room = row->columns * ulb_block_vectors(row) * ULB_LANES <= ULB_STAGED_NEAR_CODES;
    struct ulb_byte_steps at = {.w = staged->codes + g * (row->group / 4) * step_bytes + v * ULB_VEC_BYTES,
                                .step_bytes = step_bytes,
                                .x = staged->x.bytes[t] + g * row->group,
                                .x_stride = ULB_STAGED_COLUMNS,
                                .ask = staged->ask,
                                .ask_bytes = staged->ask_bytes,
                                .near = room && row->tile_bytes ? ULB_STAGED_FAR - row->tile_bytes : 0,
                                .asked = !row->tile_bytes};
    /* Else Clang keeps an address for each four activations. */
    __asm__("" : "+r"(at.x));
    for (size_t s = 0; s < row->group / 4; s += steps)
        ulb_add_bytes(&at, vectors, tokens, steps, row->scales ? &staged->scales[g][v] : NULL, sums);
    staged->ask = at.ask;
}

/* sums[tokens][2] += products of a block of signed codes, for 2 vectors of rows from v on. */
static inline __attribute__((always_inline)) void ulb_add_staged_signed(const struct ulb_block_row *row,
                                                                        struct ulb_staged *staged, size_t v,
                                                                        size_t t, unsigned tokens,
                                                                        ulb_vec *sums)
{
    const size_t steps = row->columns / 4;
    const struct ulb_word_steps from = {.w = staged->bytes + v * ULB_VEC_BYTES,
                                        .step_bytes = ulb_block_vectors(row) * ULB_VEC_BYTES,
                                        .x = staged->x.words[t],
                                        .ask = staged->ask,
                                        .ask_bytes = staged->ask_bytes};
    ulb_add_word_steps(&from, steps, ulb_pass_lines(row, ULB_WORD_VECTORS), tokens, sums);
    staged->ask += steps * staged->ask_bytes;
}

/* sums[tokens][vectors] of minima times what they are of. */
static inline __attribute__((always_inline)) void ulb_sum_staged_minima(const struct ulb_block_row *row,
                                                                        const struct ulb_staged *staged,
                                                                        size_t v, unsigned vectors, size_t t,
                                                                        unsigned tokens, ulb_vec *sums)
{
    ulb_zero_all(sums, tokens * vectors);
    for (size_t i = 0; i < row->columns / row->group / 2; i++) {
        ULB_UNROLL(4)
        for (unsigned of = 0; of < tokens; of++)
            ulb_add_staged_words(&staged->ends.minima[i][v], staged->x_sums[t + of] + 2 * i,
                                 sums + of * vectors);
    }
}

/* Result of vector v of rows and token t += a block's sum, less what its minima come to. As one token's: see
 * ulb_finish_block() (kernels/x86/gemv/block.h). */
static inline __attribute__((always_inline)) void ulb_take_staged(const struct ulb_block_row *row,
                                                                  struct ulb_staged *staged, size_t v,
                                                                  size_t t, ulb_vec sum, ulb_vec minima)
{
    const ulb_floats x_scale = ulb_all_floats(staged->x_scale[t]);
    ulb_floats *result = &staged->results[t][v],
               all = ulb_fma(ulb_to_floats(sum), ulb_mul(staged->ends.d[v], x_scale), *result);
    if (row->minima) {
        const float factor = (float)(1 << row->codes->shift(v % row->codes->rows));
        const ulb_floats scaled = ulb_mul(ulb_to_floats(minima), x_scale);
        all = ulb_fnma(staged->ends.dmin[v], ulb_mul(scaled, ulb_all_floats(factor)), all);
    }
    *result = all;
}

/* All groups of a block. */
static inline __attribute__((always_inline)) void ulb_pass_staged(const struct ulb_block_row *row,
                                                                  struct ulb_staged *staged, size_t v,
                                                                  unsigned vectors, size_t t, unsigned tokens)
{
    const bool zeros = row->zero_point + row->codes->operand_origin;
    ulb_vec sums[ULB_BYTE_TOKENS * ULB_BYTE_VECTORS], minima[ULB_BYTE_TOKENS * ULB_BYTE_VECTORS];
    ulb_zero_all(sums, tokens * vectors);
    if (ulb_are_signed(row))
        ulb_add_staged_signed(row, staged, v, t, tokens, sums);
    for (size_t g = 0; !ulb_are_signed(row) && g < row->columns / row->group; g++)
        ulb_add_staged_group(row, staged, g, v, vectors, t, tokens, sums);
    if (row->minima > ULB_ONE_MINIMUM || row->scales == ULB_SIGNED_SCALES)
        ulb_sum_staged_minima(row, staged, v, vectors, t, tokens, minima);
    ULB_UNROLL(8)
    for (unsigned i = 0; i < tokens * vectors; i++) {
        const size_t of = t + i / vectors, at = v + i % vectors;
        const ulb_vec x_sum = ulb_all32(staged->x_sum[of]);
        if (row->scales == ULB_SIGNED_SCALES)
            sums[i] = ulb_sub32(sums[i], minima[i]);
        else if (!row->scales && zeros)
            sums[i] = ulb_sub32(sums[i], ulb_shl32(x_sum, row->codes->shift(at % row->codes->rows)));
        ulb_take_staged(row, staged, at, of, sums[i], row->minima == ULB_ONE_MINIMUM ? x_sum : minima[i]);
    }
}

/* A ulb_pass_staged_fn. */
#define ULB_STAGED_PASS(name, row, tokens)                                                                   \
    static __attribute__((noinline)) void name(struct ulb_staged *staged, size_t t)                          \
    {                                                                                                        \
        size_t v = 0;                                                                                        \
        for (; v + ULB_BYTE_VECTORS <= ulb_block_vectors(&(row)); v += ULB_BYTE_VECTORS)                     \
            ulb_pass_staged(&(row), staged, v, ULB_BYTE_VECTORS, t, tokens);                                 \
        if (ulb_block_vectors(&(row)) % ULB_BYTE_VECTORS)                                                    \
            ulb_pass_staged(&(row), staged, v, 1, t, tokens);                                                \
    }

/* Activations of block b of tokens from n on. */
static inline __attribute__((always_inline)) void ulb_pack_staged(const struct ulb_block_row *row,
                                                                  const struct ulb_gemm *g, size_t n,
                                                                  size_t tokens, size_t b,
                                                                  struct ulb_staged *staged)
{
    const int32_t zero_point = row->zero_point + row->codes->operand_origin;
    for (size_t t = 0; t < tokens; t++) {
        const int16_t *x_sums = g->x_sums + (n + t) * g->x_sums_stride + b * row->columns / ULB_SUM_COLUMNS;
        const float scale = g->x_scale[(n + t) * g->x_scale_stride + (row->activation == ULB_ACT_A8 ? 0 : b)];
        const int8_t *x = (const int8_t *)g->x + (n + t) * g->x_stride + b * row->columns;
        if (ulb_are_signed(row))
            ulb_pack_words(x, row->columns / 4, staged->x.words[t]);
        else
            ulb_copy_columns(staged->x.bytes[t], x, row->columns);
        staged->x_scale[t] = row->powers ? scale / 2 : scale;
        if (row->scales)
            ulb_stage_x_sums(row, x_sums, staged->x_sums[t]);
        else if (zero_point || row->minima)
            staged->x_sum[t] = (zero_point ? zero_point : 1) * ulb_sum_of_x(x_sums, row->columns);
    }
}

/* results += block b, whose tile is at w, for tokens from n on. */
static inline __attribute__((always_inline)) void
ulb_add_staged_block(const struct ulb_block_row *row, ulb_pass_staged_fn *const passes[],
                     const struct ulb_gemm *g, const uint8_t *w, size_t n, size_t tokens, size_t b,
                     struct ulb_staged *staged)
{
    staged->ask = w + ULB_STAGED_FAR;
    staged->bytes = row->codes->operand ? staged->codes : w;
    ulb_stage_block(row, w, staged);
    ulb_pack_staged(row, g, n, tokens, b, staged);
    ulb_pass_tokens(passes, ULB_STAGED_TOKENS(ulb_block_vectors(row)), tokens, staged);
}

static inline __attribute__((always_inline)) void ulb_run_staged_block(const struct ulb_block_row *row,
                                                                       ulb_pass_staged_fn *const passes[],
                                                                       const struct ulb_gemm *g, size_t m,
                                                                       size_t n, size_t tokens)
{
    const size_t rows = ulb_block_vectors(row) * ULB_LANES, steps = ulb_layout_steps(row->layout, g->k);
    const size_t slice_bytes = ulb_layout_slice_bytes(row->layout, g->m, g->k);
    const uint8_t *w = (const uint8_t *)g->w + m / rows * steps * row->layout->tile_bytes;
    struct ulb_staged staged;
    staged.ask_bytes = ulb_staged_ask(row, tokens, ULB_BYTE_VECTORS);
    memset(staged.results, 0, tokens * sizeof *staged.results);
    for (size_t s = 0; s < steps; s++, w += row->tile_bytes) {
        for (size_t i = 0; i < ULB_BLOCK_SLICES; i++)
            ulb_add_staged_block(row, passes, g, w + i * slice_bytes, n, tokens, i * steps + s, &staged);
    }
    for (size_t t = 0; t < tokens; t++) {
        float y[ULB_TILE_ROWS_MAX];
        ulb_store_results(row, staged.results[t], y);
        memcpy(g->y + (n + t) * g->y_stride + m, y, ulb_rows_left(g, m, rows) * sizeof *y);
    }
}

#endif
