/* GEMM of a repacked block format with dot products, for codes so short that their product with the scale of
 * their group fits a byte. The codes of a block are multiplied as they are unpacked. Their sum is then one
 * over all groups, which the scale of the block multiplies once. Sums are exact, so that results equal those
 * of the GEMV bit by bit.
 *
 * Unsigned scales: `code * scale <= 3 * 15 = 45`.
 * Signed scales: `(code - 4) * scale` is from `-4 * 31` to `-4 * -32`; 127 more is from 3 to 255.
 * `|sum| <= 128 * 128 * 256 = 2^22`, which a sum that starts with ULB_MAGIC holds.
 *
 * Ports: 32 columns of a vector and token take eight dot products and nothing else. A block takes a
 * subtraction, a product and an FMA, and minima take dot products of their own. */
#ifndef ULB_KERNELS_X86_GEMM_BLOCK_FOLDED_H
#define ULB_KERNELS_X86_GEMM_BLOCK_FOLDED_H

#include "kernels/x86/gemm/block_unpacked_vnni.h"

enum {
    ULB_FOLDED_ORIGIN = 127, /* of products with signed scales */
    ULB_FOLDED_COLUMNS = 256 /* of a block */
};

/* A block. tokens: zeros[0] is what sums start with. */
struct ulb_folded {
    _Alignas(64) uint8_t codes[ULB_GEMM_L1]; /* products */
    _Alignas(64) int8_t x[ULB_UNPACKED_N_BLOCK][ULB_FOLDED_COLUMNS];
    struct ulb_block_epilogue epilogue;
    struct ulb_unpacked_token tokens[ULB_UNPACKED_N_BLOCK];
    ulb_floats results[ULB_UNPACKED_N_BLOCK][ULB_UNPACKED_ROW_VECTORS];
    const uint8_t *w, *ask; /* of the panel; what the next pass prefetches into L2, */
    size_t ask_lines;       /* so many lines */
};

/* The scale of a group in each lane of a vector of rows, as two words, and what makes products unsigned, in
 * each byte. */
struct ulb_fold {
    ulb_vec scale, origin;
};

/* Group g, of which only the lowest bit matters, whose scales lie at scales. */
static inline __attribute__((always_inline)) struct ulb_fold
ulb_load_fold(const struct ulb_block_cfg *cfg, const uint8_t *scales, size_t g, size_t v)
{
    const ulb_vec scale = ulb_group_scale_integer(cfg, scales, g, v);
    struct ulb_fold fold = {ulb_or(ulb_and(scale, ulb_all32(0xFFFF)), ulb_shl32(scale, 16)), ulb_zero()};
    if (cfg->scales == ULB_SIGNED_SCALES) {
        const ulb_vec zero = ulb_mul16(scale, ulb_all32(cfg->zero_point)),
                      byte = ulb_and(ulb_sub32(ulb_all32(ULB_FOLDED_ORIGIN), zero), ulb_all32(0xFF)),
                      pair = ulb_or(byte, ulb_shl32(byte, 8));
        fold.origin = ulb_or(pair, ulb_shl32(pair, 16));
    }
    return fold;
}

/* Bytes of codes times the scale. A word holds two codes: products with unsigned scales do not carry into
 * each other, signed ones do. */
static inline __attribute__((always_inline)) ulb_vec
ulb_fold_codes(const struct ulb_block_cfg *cfg, ulb_vec codes, const struct ulb_fold *fold)
{
    const ulb_vec even = ulb_all32(0x00FF00FF);
    if (cfg->scales != ULB_SIGNED_SCALES)
        return ulb_mul16(codes, fold->scale);
    const ulb_vec low = ulb_and(ulb_mul16(ulb_and(codes, even), fold->scale), even),
                  high = ulb_mul16(ulb_and(codes, ulb_all32((int32_t)0xFF00FF00)), fold->scale);
    return ulb_add8(ulb_or(low, high), fold->origin);
}

/* The products of group g + i, g even and i a constant, of the block at tile, at `to`. */
static inline __attribute__((always_inline)) void
ulb_fold_group(const struct ulb_block_cfg *cfg, const uint8_t *tile, size_t g, size_t i, uint8_t *to)
{
    const struct ulb_codes *codes = cfg->codes;
    const uint8_t *w = tile + ulb_codes_at(cfg, g + i), *scales = tile + ulb_scales_at(cfg, g + i);
    const size_t vectors = ulb_block_vectors(cfg);
    struct ulb_fold folds[ULB_UNPACKED_ROW_VECTORS];
    ULB_UNROLL(8)
    for (size_t v = 0; v < vectors; v++)
        folds[v] = ulb_load_fold(cfg, scales, i, v);
    for (size_t s = 0; s < cfg->group / 4; s++) {
        ULB_UNROLL(8)
        for (size_t v = 0; v < vectors; v++, to += ULB_VEC_BYTES) {
            ulb_vec packed[ULB_BLOCK_BYTES_MAX];
            const uint8_t *at = w + (s * cfg->sets + v / codes->rows) * codes->bytes * ULB_VEC_BYTES;
            ULB_UNROLL(5)
            for (size_t b = 0; b < codes->bytes; b++)
                packed[b] = ulb_load(at + b * ULB_VEC_BYTES);
            ulb_store(to, ulb_fold_codes(cfg, codes->byte(packed, v % codes->rows), &folds[v]));
        }
    }
}

/* A block, for some vectors of rows from v and tokens of the N-block from t. */
static inline __attribute__((always_inline)) void ulb_pass_folded_vectors(const struct ulb_block_cfg *cfg,
                                                                          struct ulb_folded *folded, size_t v,
                                                                          size_t t, unsigned tokens)
{
    const size_t step_bytes = ulb_block_vectors(cfg) * ULB_VEC_BYTES,
                 vectors = ULB_UNPACKED_VECTORS(ulb_block_vectors(cfg));
    const struct ulb_unpacked_token *token = folded->tokens + t;
    const uint8_t *w = folded->codes + v * ULB_VEC_BYTES;
    const struct ulb_unpacked_x x = ulb_unpacked_x(folded->x[t], ULB_FOLDED_COLUMNS, tokens);
    ulb_vec sums[ULB_UNPACKED_SUMS];
    __asm__("" : "+r"(token)); /* keeps GCC from holding one address for each token */
    ULB_UNROLL(12)
    for (size_t i = 0; i < tokens * vectors; i++)
        sums[i] = ulb_all32(token[i / vectors].zeros[0]);
    for (size_t s = 0; s < ULB_FOLDED_COLUMNS / 4; s++, w += step_bytes)
        ulb_add_unpacked_step(vectors, w, &x, s, tokens, sums);
    for (size_t line = 0; line < folded->ask_lines; line++, folded->ask += ULB_LINE)
        ulb_prefetch_l2(folded->ask, 0);
    ulb_vec minima[ULB_UNPACKED_SUMS];
    if (cfg->minima)
        ulb_sum_minima_of_tile(cfg, &folded->epilogue, v, token, tokens, minima);
    ULB_UNROLL(12)
    for (size_t i = 0; i < tokens * vectors; i++) {
        const ulb_floats sum = ulb_less(sums[i], ulb_all32(ULB_MAGIC));
        ulb_floats *result = &folded->results[t + i / vectors][v + i % vectors];
        ulb_end_block(cfg, &folded->epilogue, v + i % vectors, &token[i / vectors], sum,
                      cfg->minima ? minima[i] : ulb_zero(), result);
    }
}

/* All vectors of rows. */
static inline __attribute__((always_inline)) void
ulb_pass_folded(const struct ulb_block_cfg *cfg, struct ulb_folded *folded, size_t t, unsigned tokens)
{
    const size_t vectors = ULB_UNPACKED_VECTORS(ulb_block_vectors(cfg));
    for (size_t v = 0; v < ulb_block_vectors(cfg); v += vectors)
        ulb_pass_folded_vectors(cfg, folded, v, t, tokens);
}

static inline __attribute__((always_inline)) size_t
ulb_begin_folded(const void *of, const struct ulb_gemm_block *block, void *state)
{
    const struct ulb_block_cfg *cfg = of;
    struct ulb_folded *folded = state;
    const size_t rows = ulb_block_vectors(cfg) * ULB_LANES;
    folded->w = (const uint8_t *)block->g->w + block->m / rows * block->steps * cfg->tile_bytes;
    folded->ask_lines = ulb_unpacked_lines(cfg, cfg->tile_bytes, block->tokens);
    memset(folded->results, 0, block->tokens * sizeof *folded->results);
    return ULB_BLOCK_SLICES * block->steps;
}

/* A block of columns is a K-block; those of the slices alternate. */
static inline __attribute__((always_inline)) void
ulb_stage_folded(const struct ulb_block_cfg *cfg, const struct ulb_gemm_block *block, void *state, size_t k)
{
    struct ulb_folded *folded = state;
    const size_t group_bytes = cfg->group * ulb_block_vectors(cfg) * ULB_LANES;
    const uint8_t *tile =
        folded->w + k / ULB_BLOCK_SLICES * cfg->tile_bytes + k % ULB_BLOCK_SLICES * block->slice_bytes;
    folded->ask = tile + ULB_GEMM_FAR;
    ulb_load_epilogue(cfg, tile, &folded->epilogue);
    /* Two groups at a time: which of two scales in a byte a group has is then a constant. */
    for (size_t g = 0; g < cfg->columns / cfg->group; g += 2) {
        ULB_UNROLL(2)
        for (size_t i = 0; i < 2; i++)
            ulb_fold_group(cfg, tile, g, i, folded->codes + (g + i) * group_bytes);
    }
}

static inline __attribute__((always_inline)) void
ulb_pack_folded(const void *of, const struct ulb_gemm_block *block, void *state, size_t k)
{
    const struct ulb_block_cfg *cfg = of;
    struct ulb_folded *folded = state;
    const struct ulb_gemm *g = block->g;
    const size_t b = k % ULB_BLOCK_SLICES * block->steps + k / ULB_BLOCK_SLICES;
    for (size_t t = 0; t < block->tokens; t++) {
        const size_t n = block->n + t;
        const int16_t *sums = g->x_sums + n * g->x_sums_stride + b * (ULB_FOLDED_COLUMNS / ULB_SUM_COLUMNS);
        struct ulb_unpacked_token *token = &folded->tokens[t];
        const int8_t *x = (const int8_t *)g->x + n * g->x_stride + b * ULB_FOLDED_COLUMNS;
        ulb_copy_columns(folded->x[t], x, ULB_FOLDED_COLUMNS);
        ulb_prefetch_x(x + ULB_FOLDED_COLUMNS, ULB_FOLDED_COLUMNS);
        token->x_scale[0] = g->x_scale[n * g->x_scale_stride + b];
        token->zeros[0] = ULB_MAGIC;
        if (cfg->scales == ULB_SIGNED_SCALES)
            token->zeros[0] -= ULB_FOLDED_ORIGIN * ulb_sum_of_x(sums, ULB_FOLDED_COLUMNS);
        if (cfg->minima)
            ulb_unpack_x_sums(cfg, sums, token->x_sums);
    }
}

static inline __attribute__((always_inline)) void
ulb_finish_folded(const void *of, const struct ulb_gemm_block *block, void *state)
{
    const struct ulb_folded *folded = state;
    ulb_store_unpacked(of, block, folded->results);
}

#endif
