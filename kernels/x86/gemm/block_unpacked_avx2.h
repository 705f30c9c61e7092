/* GEMM of a repacked block format with AVX2 alone. The codes of a block are unpacked as the GEMV multiplies
 * them (kernels/x86/gemm/block_unpacked.h), and scales become words. Signed codes that are whole bytes stay
 * in place.
 *
 * Blocks add up as in the GEMV (kernels/x86/gemv/block.h). Inside a block all sums are integers. The GEMV
 * converts signed scales to floats. Here they also multiply the zero point, 4 or 32, like minima.
 * `scale * zero_point <= 4,096`, which fits 16 bits.
 * `|sum| <= 128 * 63 * 128 * 256 < 2^29`.
 * Beyond 2^24 the last bits may differ from the GEMV.
 *
 * Registers: two vectors of rows times four tokens are eight sums. Two hold codes, one activations, one a
 * product. Ports: each vector and token takes a vpmaddubsw and an addition. Whenever the 16-bit sums are
 * full, it takes a vpmaddwd and another addition.
 *
 * The next tile is prefetched into L1 too if the codes of a block leave room there. Without a prefetch the
 * kernels are slower (docs/measurements/kernels.md). */
#ifndef ULB_KERNELS_X86_GEMM_BLOCK_UNPACKED_AVX2_H
#define ULB_KERNELS_X86_GEMM_BLOCK_UNPACKED_AVX2_H

#include "kernels/x86/gemm/tile_u8.h"
#include "kernels/x86/gemm/block_unpacked.h"
#include "kernels/x86/gemm/tile_s16.h"

enum {
    ULB_UNPACKED_COLUMNS = 256,    /* of a block at most */
    ULB_UNPACKED_NEAR_CODES = 8192 /* bytes of codes that leave L1 room for the next tile */
};

/* A block of one slice, and what it meets. */
struct ulb_unpacked {
    _Alignas(64) uint8_t codes[ULB_UNPACKED_COLUMNS / 4 * ULB_UNPACKED_ROW_VECTORS * ULB_VEC_BYTES];
    ulb_vec scales[ULB_SHORT_GROUPS][ULB_UNPACKED_ROW_VECTORS]; /* words, twice in a lane */
    struct ulb_block_epilogue epilogue; /* minima of signed scales: one group after the other */
    union {
        _Alignas(64) int8_t bytes[ULB_UNPACKED_N_BLOCK][ULB_UNPACKED_COLUMNS];
        int16_t words[ULB_UNPACKED_N_BLOCK][ULB_S16_COLUMNS]; /* for signed codes */
    } x;
    int16_t x_sums[ULB_UNPACKED_N_BLOCK][ULB_SHORT_GROUPS]; /* of groups, in the order of minima */
    /* Sums of activations of a block without groups, times the zero point if there is one. */
    int32_t x_sum[ULB_UNPACKED_N_BLOCK];
    float x_scale[ULB_UNPACKED_N_BLOCK];
    ulb_floats results[ULB_UNPACKED_N_BLOCK][ULB_UNPACKED_ROW_VECTORS];
    const uint8_t *w;     /* of the panel */
    const uint8_t *bytes; /* signed codes: the array above, or the bytes of a tile */
    const uint8_t *ask;   /* by each step of a pass */
    size_t ask_bytes;
};

/* Whether codes are signed bytes of blocks of 32 columns (kernels/x86/gemm/tile_s16.h). */
static inline __attribute__((always_inline)) bool ulb_are_signed(const struct ulb_block_cfg *cfg)
{
    return !cfg->codes->s16_steps && !cfg->codes->operand_steps;
}

/* Steps that fill a 16-bit sum, or a group. */
static inline __attribute__((always_inline)) size_t ulb_unpacked_steps(const struct ulb_block_cfg *cfg)
{
    const size_t words = cfg->codes->operand_steps ? cfg->codes->operand_steps : cfg->codes->s16_steps;
    return words < cfg->group / 4 ? words : cfg->group / 4;
}

/* Unpacks the scales of vector v of rows for group g, as int32. Their zero point turns into minima. */
static inline __attribute__((always_inline)) void
ulb_unpack_signed_scale(int32_t zero_point, ulb_vec scale, size_t g, size_t v, struct ulb_unpacked *unpacked)
{
    const ulb_vec word = ulb_and(scale, ulb_all32(0xFFFF));
    const ulb_vec zero = _mm256_mullo_epi16(word, ulb_all32(zero_point));
    ulb_vec *minima = &unpacked->epilogue.minima[g / 2][v];
    unpacked->scales[g][v] = ulb_or(word, ulb_shl32(scale, 16));
    *minima = g % 2 ? ulb_or(*minima, ulb_shl32(zero, 16)) : zero;
}

/* Scales of vector v of rows for group g, which lie at scales. */
static inline __attribute__((always_inline)) void ulb_unpack_scales(const struct ulb_block_cfg *cfg,
                                                                    const uint8_t *scales, size_t g, size_t v,
                                                                    struct ulb_unpacked *unpacked)
{
    if (cfg->scales != ULB_SIGNED_SCALES) {
        unpacked->scales[g][v] = ulb_paired_scale(cfg, scales, g, v);
        return;
    }
    ulb_unpack_signed_scale(cfg->zero_point, ulb_load_signed_bytes(scales + v * ULB_LANES), g, v, unpacked);
}

/* All of the block at tile. */
static inline __attribute__((always_inline)) void
ulb_unpack_block(const struct ulb_block_cfg *cfg, const uint8_t *tile, struct ulb_unpacked *unpacked)
{
    const size_t step_bytes = ulb_block_vectors(cfg) * ULB_VEC_BYTES;
    for (size_t g = 0; g < cfg->columns / cfg->group; g++) {
        for (size_t s = 0; cfg->codes->operand && s < cfg->group / 4; s++)
            ulb_unpack_step(cfg, cfg->codes->operand,
                            tile + ulb_codes_at(cfg, g) + s * cfg->sets * cfg->codes->bytes * ULB_VEC_BYTES,
                            unpacked->codes + (g * cfg->group / 4 + s) * step_bytes);
        if (!cfg->scales)
            continue;
        ULB_UNROLL(8)
        for (size_t v = 0; v < ulb_block_vectors(cfg); v++)
            ulb_unpack_scales(cfg, tile + ulb_scales_at(cfg, g), g, v, unpacked);
    }
    ulb_load_epilogue(cfg, tile, &unpacked->epilogue);
}

/* sums[2] += products of two vectors of words and two words. One statement: see kernels/x86/gemm/tile_u8.h.
 */
static inline __attribute__((always_inline)) void ulb_add_unpacked_s16(const ulb_vec *words,
                                                                       const int16_t *x2, ulb_vec *sums)
{
    ulb_vec x, product;
    __asm__("vpbroadcastd %[x2], %[x]\n\t"
            "vpmaddwd %[word0], %[x], %[product]\n\tvpaddd %[product], %[sum0], %[sum0]\n\t"
            "vpmaddwd %[word1], %[x], %[x]\n\tvpaddd %[x], %[sum1], %[sum1]"
            : [sum0] "+x"(sums[0]), [sum1] "+x"(sums[1]), [x] "=&x"(x), [product] "=&x"(product)
            : [word0] "m"(words[0]), [word1] "m"(words[1]), [x2] "m"(*(const int16_t(*)[2])x2));
}

/* Group g, for some vectors of rows from v, and tokens of the block from t. */
static inline __attribute__((always_inline)) void
ulb_add_unpacked_group(const struct ulb_block_cfg *cfg, struct ulb_unpacked *unpacked, size_t g, size_t v,
                       unsigned vectors, size_t t, unsigned tokens, ulb_vec *sums)
{
    const size_t step_bytes = ulb_block_vectors(cfg) * ULB_VEC_BYTES, steps = ulb_unpacked_steps(cfg);
    const bool room = cfg->columns * ulb_block_vectors(cfg) * ULB_LANES <= ULB_UNPACKED_NEAR_CODES;
    struct ulb_byte_steps at = {.w = unpacked->codes + g * (cfg->group / 4) * step_bytes + v * ULB_VEC_BYTES,
                                .step_bytes = step_bytes,
                                .x = unpacked->x.bytes[t] + g * cfg->group,
                                .x_stride = ULB_UNPACKED_COLUMNS,
                                .ask = unpacked->ask,
                                .ask_bytes = unpacked->ask_bytes,
                                .l1_distance = room && cfg->tile_bytes ? ULB_GEMM_FAR - cfg->tile_bytes : 0,
                                .asked = !cfg->tile_bytes};
    /* Keeps one pointer: Clang would keep one address register for every four activations. */
    __asm__("" : "+r"(at.x));
    for (size_t s = 0; s < cfg->group / 4; s += steps)
        ulb_add_bytes(&at, vectors, tokens, steps, cfg->scales ? &unpacked->scales[g][v] : NULL, sums);
    unpacked->ask = at.ask;
}

/* sums[tokens][2] += products of a block of signed codes, for two vectors of rows from v. */
static inline __attribute__((always_inline)) void ulb_add_unpacked_signed(const struct ulb_block_cfg *cfg,
                                                                          struct ulb_unpacked *unpacked,
                                                                          size_t v, size_t t, unsigned tokens,
                                                                          ulb_vec *sums)
{
    const size_t steps = cfg->columns / 4;
    const struct ulb_s16_steps from = {.w = unpacked->bytes + v * ULB_VEC_BYTES,
                                       .step_bytes = ulb_block_vectors(cfg) * ULB_VEC_BYTES,
                                       .x = unpacked->x.words[t],
                                       .ask = unpacked->ask,
                                       .ask_bytes = unpacked->ask_bytes};
    ulb_add_s16_steps(&from, steps, ulb_pass_lines(cfg, ULB_S16_VECTORS), tokens, sums);
    unpacked->ask += steps * unpacked->ask_bytes;
}

/* sums[tokens][vectors] of minima times what they are of. */
static inline __attribute__((always_inline)) void
ulb_sum_unpacked_minima(const struct ulb_block_cfg *cfg, const struct ulb_unpacked *unpacked, size_t v,
                        unsigned vectors, size_t t, unsigned tokens, ulb_vec *sums)
{
    ulb_zero_all(sums, tokens * vectors);
    for (size_t i = 0; i < cfg->columns / cfg->group / 2; i++) {
        ULB_UNROLL(4)
        for (unsigned of = 0; of < tokens; of++)
            ulb_add_unpacked_s16(&unpacked->epilogue.minima[i][v], unpacked->x_sums[t + of] + 2 * i,
                                 sums + of * vectors);
    }
}

/* Result of vector v of rows and token t += the sum of a block, less its minima. As in the GEMV: see
 * ulb_epilogue_block() (kernels/x86/gemv/block.h). */
static inline __attribute__((always_inline)) void ulb_take_unpacked(const struct ulb_block_cfg *cfg,
                                                                    struct ulb_unpacked *unpacked, size_t v,
                                                                    size_t t, ulb_vec sum, ulb_vec minima)
{
    const ulb_floats x_scale = ulb_all_floats(unpacked->x_scale[t]);
    ulb_floats *result = &unpacked->results[t][v],
               all = ulb_fma(ulb_to_floats(sum), ulb_mul(unpacked->epilogue.d[v], x_scale), *result);
    if (cfg->minima) {
        const float factor = (float)(1 << cfg->codes->shift(v % cfg->codes->rows));
        const ulb_floats scaled = ulb_mul(ulb_to_floats(minima), x_scale);
        all = ulb_fnma(unpacked->epilogue.dmin[v], ulb_mul(scaled, ulb_all_floats(factor)), all);
    }
    *result = all;
}

/* All groups of a block. */
static inline __attribute__((always_inline)) void ulb_pass_unpacked_vectors(const struct ulb_block_cfg *cfg,
                                                                            struct ulb_unpacked *unpacked,
                                                                            size_t v, unsigned vectors,
                                                                            size_t t, unsigned tokens)
{
    const bool zeros = cfg->zero_point + cfg->codes->operand_origin;
    ulb_vec sums[ULB_BYTE_TOKENS * ULB_BYTE_VECTORS], minima[ULB_BYTE_TOKENS * ULB_BYTE_VECTORS];
    ulb_zero_all(sums, tokens * vectors);
    if (ulb_are_signed(cfg))
        ulb_add_unpacked_signed(cfg, unpacked, v, t, tokens, sums);
    for (size_t g = 0; !ulb_are_signed(cfg) && g < cfg->columns / cfg->group; g++)
        ulb_add_unpacked_group(cfg, unpacked, g, v, vectors, t, tokens, sums);
    if (cfg->minima > ULB_ONE_MINIMUM || cfg->scales == ULB_SIGNED_SCALES)
        ulb_sum_unpacked_minima(cfg, unpacked, v, vectors, t, tokens, minima);
    ULB_UNROLL(8)
    for (unsigned i = 0; i < tokens * vectors; i++) {
        const size_t of = t + i / vectors, at = v + i % vectors;
        const ulb_vec x_sum = ulb_all32(unpacked->x_sum[of]);
        if (cfg->scales == ULB_SIGNED_SCALES)
            sums[i] = ulb_sub32(sums[i], minima[i]);
        else if (!cfg->scales && zeros)
            sums[i] = ulb_sub32(sums[i], ulb_shl32(x_sum, cfg->codes->shift(at % cfg->codes->rows)));
        ulb_take_unpacked(cfg, unpacked, at, of, sums[i], cfg->minima == ULB_ONE_MINIMUM ? x_sum : minima[i]);
    }
}

/* All vectors of rows. */
static inline __attribute__((always_inline)) void
ulb_pass_unpacked(const struct ulb_block_cfg *cfg, struct ulb_unpacked *unpacked, size_t t, unsigned tokens)
{
    size_t v = 0;
    for (; v + ULB_BYTE_VECTORS <= ulb_block_vectors(cfg); v += ULB_BYTE_VECTORS)
        ulb_pass_unpacked_vectors(cfg, unpacked, v, ULB_BYTE_VECTORS, t, tokens);
    if (ulb_block_vectors(cfg) % ULB_BYTE_VECTORS)
        ulb_pass_unpacked_vectors(cfg, unpacked, v, 1, t, tokens);
}

/* Activations of block b of tokens from n. */
static inline __attribute__((always_inline)) void ulb_pack_block(const struct ulb_block_cfg *cfg,
                                                                 const struct ulb_gemm *g, size_t n,
                                                                 size_t tokens, size_t b,
                                                                 struct ulb_unpacked *unpacked)
{
    const int32_t zero_point = cfg->zero_point + cfg->codes->operand_origin;
    for (size_t t = 0; t < tokens; t++) {
        const int16_t *x_sums = g->x_sums + (n + t) * g->x_sums_stride + b * cfg->columns / ULB_SUM_COLUMNS;
        const float scale = g->x_scale[(n + t) * g->x_scale_stride + (cfg->activation == ULB_ACT_A8 ? 0 : b)];
        const int8_t *x = (const int8_t *)g->x + (n + t) * g->x_stride + b * cfg->columns;
        if (ulb_are_signed(cfg))
            ulb_pack_s16(x, cfg->columns / 4, unpacked->x.words[t]);
        else
            ulb_copy_columns(unpacked->x.bytes[t], x, cfg->columns);
        unpacked->x_scale[t] = cfg->powers ? scale / 2 : scale;
        if (cfg->scales)
            ulb_unpack_x_sums(cfg, x_sums, unpacked->x_sums[t]);
        else if (zero_point || cfg->minima)
            unpacked->x_sum[t] = (zero_point ? zero_point : 1) * ulb_sum_of_x(x_sums, cfg->columns);
    }
}

static inline __attribute__((always_inline)) size_t
ulb_begin_unpacked(const void *of, const struct ulb_gemm_block *block, void *state)
{
    const struct ulb_block_cfg *cfg = of;
    struct ulb_unpacked *unpacked = state;
    const size_t rows = ulb_block_vectors(cfg) * ULB_LANES;
    unpacked->w = (const uint8_t *)block->g->w + block->m / rows * block->steps * cfg->layout->tile_bytes;
    unpacked->ask_bytes = ulb_unpacked_ask(cfg, block->tokens, ULB_BYTE_VECTORS);
    memset(unpacked->results, 0, block->tokens * sizeof *unpacked->results);
    return ULB_BLOCK_SLICES * block->steps;
}

/* A block of columns is a K-block; those of the slices alternate. */
static inline __attribute__((always_inline)) void
ulb_stage_unpacked(const void *of, const struct ulb_gemm_block *block, void *state, size_t k)
{
    const struct ulb_block_cfg *cfg = of;
    struct ulb_unpacked *unpacked = state;
    const uint8_t *w =
        unpacked->w + k / ULB_BLOCK_SLICES * cfg->tile_bytes + k % ULB_BLOCK_SLICES * block->slice_bytes;
    unpacked->ask = w + ULB_GEMM_FAR;
    unpacked->bytes = cfg->codes->operand ? unpacked->codes : w;
    ulb_unpack_block(cfg, w, unpacked);
}

static inline __attribute__((always_inline)) void
ulb_pack_unpacked(const void *of, const struct ulb_gemm_block *block, void *state, size_t k)
{
    const struct ulb_block_cfg *cfg = of;
    ulb_pack_block(cfg, block->g, block->n, block->tokens,
                   k % ULB_BLOCK_SLICES * block->steps + k / ULB_BLOCK_SLICES, state);
}

static inline __attribute__((always_inline)) void
ulb_finish_unpacked(const void *of, const struct ulb_gemm_block *block, void *state)
{
    const struct ulb_block_cfg *cfg = of;
    const struct ulb_unpacked *unpacked = state;
    const struct ulb_gemm *g = block->g;
    const size_t left = ulb_rows_left(g, block->m, ulb_block_vectors(cfg) * ULB_LANES);
    for (size_t t = 0; t < block->tokens; t++) {
        float y[ULB_TILE_ROWS_MAX];
        ulb_store_results(cfg, unpacked->results[t], y);
        memcpy(g->y + (block->n + t) * g->y_stride + block->m, y, left * sizeof *y);
    }
}

#endif
