/* GEMM of a repacked block format with dot products, for codes that are worth unpacking. These are codes
 * whose bits lie in several bytes: sums of fields take more dot products than codes. With VEX they are also
 * codes of a codebook. The codes of part of a chunk are unpacked (kernels/x86/gemm/block_unpacked.h), and
 * scales become floats. Sums of a group start with ULB_MAGIC. Results equal those of the GEMV bit by bit.
 *
 * Registers: two vectors of rows times four tokens are eight sums of a group and eight of the block. The
 * others hold two vectors of codes, and activations. VEX has 12 sums of a group, of three or four vectors.
 * The shorter side of the tile stays in registers, with one operand of the other side. The sums of the block
 * are kept in memory. Ports: 32 columns of a vector and token take eight dot products, a subtraction and an
 * FMA. Blocks without groups take two FMA. Each vector of unpacked bytes is one store, which an N-block
 * shares.
 *
 * Four tokens share codes that are fields of one byte in registers (kernels/x86/gemm/block_tile.h), which is
 * faster than unpacking to memory. */
#ifndef ULB_KERNELS_X86_GEMM_BLOCK_UNPACKED_VNNI_H
#define ULB_KERNELS_X86_GEMM_BLOCK_UNPACKED_VNNI_H

#include "kernels/x86/gemm/block_unpacked.h"

enum {
    ULB_UNPACKED_STEPS = 4, /* of all slices, of a K-block of blocks without groups, at most */
    ULB_UNPACKED_BLOCKS = ULB_UNPACKED_STEPS * ULB_BLOCK_SLICES,
    ULB_UNPACKED_CODES = ULB_BY_ENCODING(ULB_GEMM_HALF_L1, ULB_GEMM_L1)
};

/* A group, or a block that has none. */
struct ulb_unpacked_unit {
    const uint8_t *w;   /* its codes */
    const uint8_t *ask; /* of L2, by the next pass */
    size_t column;      /* the first */
};

/* What the activations of a token are to the units of a K-block. */
struct ulb_unpacked_token {
    int32_t zeros[ULB_SHORT_GROUPS];  /* their sums times the zero point, with ULB_MAGIC */
    int16_t x_sums[ULB_SHORT_GROUPS]; /* of groups, in the order of minima */
    /* The factors of each block: its scale, scale * -ULB_MAGIC_VALUE, and scale * sum of activations. */
    float x_scale[ULB_UNPACKED_BLOCKS], x_less[ULB_UNPACKED_BLOCKS], x_least[ULB_UNPACKED_BLOCKS];
};

/* A K-block: some groups of a block, or some blocks that have none, in the order in which one token's add
 * up. */
struct ulb_unpacked {
    _Alignas(64) uint8_t codes[ULB_UNPACKED_CODES]; /* of its units, */
    size_t first, end;                              /* from one to another; others are blocks' */
    bool last;                                      /* they end their block */
    const uint8_t *w;                               /* of the panel */
    struct ulb_unpacked_unit units[ULB_SHORT_GROUPS];
    ulb_floats scales[ULB_SHORT_GROUPS][ULB_UNPACKED_ROW_VECTORS]; /* of its groups */
    struct ulb_block_epilogue epilogue[ULB_UNPACKED_BLOCKS];
    struct ulb_unpacked_token tokens[ULB_UNPACKED_N_BLOCK];
    const int8_t *x; /* of the first token; the next one's lie x_stride on */
    size_t x_stride;
    ulb_floats sums[ULB_UNPACKED_N_BLOCK][ULB_UNPACKED_ROW_VECTORS]; /* of a block's parts */
    ulb_floats results[ULB_UNPACKED_N_BLOCK][ULB_UNPACKED_ROW_VECTORS];
    size_t ask_lines; /* by each pass, of a unit's */
};

/* Units of a K-block at most: those that fit, but no more than a block's groups; or of blocks without groups,
 * as many of each slice. */
static inline __attribute__((always_inline)) size_t ulb_unpacked_units(const struct ulb_block_cfg *cfg)
{
    const size_t fit = ULB_UNPACKED_CODES / (ulb_block_vectors(cfg) * ULB_LANES * cfg->group);
    const size_t most = cfg->scales ? cfg->columns / cfg->group : ULB_UNPACKED_BLOCKS;
    const size_t units = fit < most ? fit : most;
    return cfg->scales ? units : units / ULB_BLOCK_SLICES * ULB_BLOCK_SLICES;
}

/* K-blocks of a block's groups. */
static inline __attribute__((always_inline)) size_t ulb_block_parts(const struct ulb_block_cfg *cfg)
{
    const size_t units = ulb_unpacked_units(cfg);
    return (cfg->columns / cfg->group + units - 1) / units;
}

/* Codes of unit u as the K-block's unit to, and its scales if it is a group of the block at tile. */
static inline __attribute__((always_inline)) void ulb_unpack_unit(const struct ulb_block_cfg *cfg,
                                                                  const uint8_t *tile, size_t u, size_t to,
                                                                  struct ulb_unpacked *unpacked)
{
    const size_t steps = cfg->group / 4, packed = cfg->sets * cfg->codes->bytes * ULB_VEC_BYTES,
                 bytes = ulb_block_vectors(cfg) * ULB_VEC_BYTES;
    for (size_t s = 0; s < steps; s++)
        ulb_unpack_step(cfg, cfg->codes->byte, unpacked->units[u].w + s * packed,
                        unpacked->codes + (to * steps + s) * bytes);
    if (!cfg->scales)
        return;
    ULB_UNROLL(8)
    for (size_t v = 0; v < ulb_block_vectors(cfg); v++)
        unpacked->scales[to][v] = ulb_group_scale(cfg, tile + ulb_scales_at(cfg, u), u, v);
}

/* zeros[8] = zero point * sums, for eight units. */
static inline __attribute__((always_inline)) void ulb_unpack_zeros(int32_t zero_point, __m256i sums,
                                                                   int32_t *zeros)
{
    const __m256i products = _mm256_mullo_epi32(sums, _mm256_set1_epi32(zero_point));
    _mm256_storeu_si256((__m256i *)zeros, _mm256_add_epi32(products, _mm256_set1_epi32(ULB_MAGIC)));
}

/* A token of a block of groups, of which these are 16 sums. */
static inline __attribute__((always_inline)) void ulb_unpack_groups_token(const struct ulb_block_cfg *cfg,
                                                                          const int16_t *sums, float x_scale,
                                                                          struct ulb_unpacked_token *token)
{
    const __m256i all = _mm256_loadu_si256((const __m256i *)sums);
    const __m256i pairs = _mm256_madd_epi16(all, _mm256_set1_epi16(1));
    token->x_scale[0] = x_scale;
    if (cfg->group == ULB_SUM_COLUMNS) {
        const __m128i low = _mm256_castsi256_si128(all), high = _mm256_extracti128_si256(all, 1);
        ulb_unpack_zeros(cfg->zero_point, _mm256_cvtepi16_epi32(low), token->zeros);
        ulb_unpack_zeros(cfg->zero_point, _mm256_cvtepi16_epi32(high), token->zeros + 8);
    } else {
        ulb_unpack_zeros(cfg->zero_point, pairs, token->zeros);
    }
    if (cfg->minima)
        ulb_unpack_x_sums(cfg, sums, token->x_sums);
}

/* Loads 4 bytes of each of up to 4 steps of both slices, step by step. The second slice begins slice_bytes
 * further on. there: mask of the steps that exist. */
static inline __attribute__((always_inline)) __m256i ulb_load_steps(const void *at, size_t slice_bytes,
                                                                    __m128i there)
{
    const char *second = (const char *)at + slice_bytes;
    const __m128i a = _mm_maskload_epi32(at, there),
                  b = _mm_maskload_epi32((const int *)(const void *)second, there);
    return _mm256_setr_m128i(_mm_unpacklo_epi32(a, b), _mm_unpackhi_epi32(a, b));
}

/* A token of up to 8 blocks without groups: their scales, and the sums of their activations. */
static inline __attribute__((always_inline)) void ulb_unpack_blocks_token(const struct ulb_block_cfg *cfg,
                                                                          __m256 x_scale, __m256i sums,
                                                                          struct ulb_unpacked_token *token)
{
    if (cfg->powers)
        x_scale = _mm256_mul_ps(x_scale, _mm256_set1_ps(0.5f));
    ulb_unpack_zeros(cfg->scales_sums ? -cfg->zero_point : cfg->zero_point, sums, token->zeros);
    _mm256_storeu_ps(token->x_scale, x_scale);
    _mm256_storeu_ps(token->x_less, _mm256_mul_ps(x_scale, _mm256_set1_ps(-(float)ULB_MAGIC_VALUE)));
    _mm256_storeu_ps(token->x_least, _mm256_mul_ps(x_scale, _mm256_cvtepi32_ps(sums)));
}

/* Token t of the block, of some steps from step s on, whose blocks of 32 columns have no groups. */
static inline __attribute__((always_inline)) void ulb_unpack_steps_token(const struct ulb_block_cfg *cfg,
                                                                         const struct ulb_gemm_block *block,
                                                                         size_t t, size_t s, size_t steps,
                                                                         struct ulb_unpacked_token *token)
{
    const struct ulb_gemm *g = block->g;
    const __m128i there = _mm_cmpgt_epi32(_mm_set1_epi32((int)steps), _mm_setr_epi32(0, 1, 2, 3));
    const size_t slice = block->steps * 4, n = block->n + t;
    const __m256i halves = ulb_load_steps(g->x_sums + n * g->x_sums_stride + 2 * s, slice, there);
    const __m256i x_scale = ulb_load_steps(g->x_scale + n * g->x_scale_stride + s, slice, there);
    ulb_unpack_blocks_token(cfg, _mm256_castsi256_ps(x_scale),
                            _mm256_madd_epi16(halves, _mm256_set1_epi16(1)), token);
}

/* Activations of the tokens of a tile, which are `stride` apart. Each has an address of its own: steps then
 * need no addition for it. */
struct ulb_unpacked_x {
    const int8_t *of[ULB_UNPACKED_TOKENS_MAX];
};

static inline __attribute__((always_inline)) struct ulb_unpacked_x
ulb_unpacked_x(const int8_t *x, size_t stride, unsigned tokens)
{
    struct ulb_unpacked_x all;
    ULB_UNROLL(4)
    for (unsigned i = 0; i < tokens; i++) {
        all.of[i] = x + i * stride;
        __asm__("" : "+r"(all.of[i]));
    }
    return all;
}

/* sums[tokens][vectors] += step s: what there is less of, vectors or tokens, is held. */
static inline __attribute__((always_inline)) void ulb_add_unpacked_step(size_t vectors, const uint8_t *w,
                                                                        const struct ulb_unpacked_x *x,
                                                                        size_t s, unsigned tokens,
                                                                        ulb_vec *sums)
{
    ulb_vec held[ULB_UNPACKED_TOKENS_MAX];
    if (vectors > ULB_UNPACKED_TOKENS(vectors)) {
        ULB_UNROLL(4)
        for (unsigned i = 0; i < tokens; i++)
            held[i] = ulb_broadcast4(x->of[i] + 4 * s);
        ULB_UNROLL(4)
        for (size_t v = 0; v < vectors; v++) {
            const ulb_vec codes = ulb_load(w + v * ULB_VEC_BYTES);
            ULB_UNROLL(4)
            for (unsigned i = 0; i < tokens; i++)
                ulb_dp(&sums[i * vectors + v], codes, held[i]);
        }
        return;
    }
    ULB_UNROLL(4)
    for (size_t v = 0; v < vectors; v++)
        held[v] = ulb_load(w + v * ULB_VEC_BYTES);
    ULB_UNROLL(4)
    for (unsigned i = 0; i < tokens; i++) {
        const ulb_vec x4 = ulb_broadcast4(x->of[i] + 4 * s);
        ULB_UNROLL(4)
        for (size_t v = 0; v < vectors; v++)
            ulb_dp(&sums[i * vectors + v], held[v], x4);
    }
}

/* sums[tokens][vectors] of unit u, vectors of rows from v; x: the first token's. */
static inline __attribute__((always_inline)) void
ulb_sum_unit(const struct ulb_block_cfg *cfg, struct ulb_unpacked *unpacked, size_t u, size_t v,
             const struct ulb_unpacked_token *token, const int8_t *x, unsigned tokens, ulb_vec *sums)
{
    const size_t step_bytes = ulb_block_vectors(cfg) * ULB_VEC_BYTES,
                 vectors = ULB_UNPACKED_VECTORS(ulb_block_vectors(cfg));
    const uint8_t *w = unpacked->codes + (u - unpacked->first) * (cfg->group / 4) * step_bytes +
                       v * ULB_VEC_BYTES,
                  *ask = unpacked->units[u].ask;
    const struct ulb_unpacked_x all =
        ulb_unpacked_x(x + unpacked->units[u].column, unpacked->x_stride, tokens);
    ULB_UNROLL(12)
    for (size_t i = 0; i < tokens * vectors; i++)
        sums[i] = ulb_all32(cfg->scales_sums ? token[i / vectors].zeros[u] : ULB_MAGIC);
    for (size_t s = 0; s < cfg->group / 4; s++, w += step_bytes)
        ulb_add_unpacked_step(vectors, w, &all, s, tokens, sums);
    /* Keeps GCC from holding sums in memory inside the loop. */
    if (ULB_BY_ENCODING(true, false)) {
        ULB_UNROLL(12)
        for (size_t i = 0; i < tokens * vectors; i++)
            __asm__("" : "+x"(sums[i]));
    }
    for (size_t line = 0; line < unpacked->ask_lines; line++, ask += ULB_LINE)
        ulb_prefetch_l2(ask, 0);
    unpacked->units[u].ask = ask;
}

/* all[vectors] += unit u of a token, vectors of rows from v: as ulb_end_group() and ulb_epilogue_block() make
 * it of one token's. */
static inline __attribute__((always_inline)) void
ulb_end_unit(const struct ulb_block_cfg *cfg, const struct ulb_unpacked *unpacked, size_t u, size_t v,
             size_t vectors, const struct ulb_unpacked_token *token, const ulb_vec *sums, ulb_floats *all)
{
    const ulb_floats zero = ulb_as_floats(ulb_all32(cfg->zero_point ? token->zeros[u] : ULB_MAGIC)),
                     *scales = unpacked->scales[u - unpacked->first] + v;
    const struct ulb_block_epilogue *epilogue = &unpacked->epilogue[cfg->scales ? 0 : u];
    ULB_UNROLL(4)
    for (size_t i = 0; i < vectors; i++) {
        if (cfg->scales) {
            all[i] = ulb_fma(ulb_sub(ulb_as_floats(sums[i]), zero), scales[i], all[i]);
        } else {
            const ulb_floats x_scale = ulb_all_floats(token->x_scale[u]);
            if (cfg->scales_sums)
                all[i] = ulb_fma(ulb_fma(ulb_as_floats(sums[i]), x_scale, ulb_all_floats(token->x_less[u])),
                                 epilogue->d[v + i], all[i]);
            else
                all[i] = ulb_fma(ulb_sub(ulb_as_floats(sums[i]), zero), ulb_mul(epilogue->d[v + i], x_scale),
                                 all[i]);
            if (cfg->minima)
                all[i] = ulb_fnma(epilogue->dmin[v + i], ulb_all_floats(token->x_least[u]), all[i]);
        }
        if (ULB_BY_ENCODING(true, false))
            __asm__("" : "+m"(all[i]));
    }
}

/* minima[tokens][vectors] of a block times sums of activations, for vectors of rows from v. */
static inline __attribute__((always_inline)) void
ulb_sum_minima_of_tile(const struct ulb_block_cfg *cfg, const struct ulb_block_epilogue *epilogue, size_t v,
                       const struct ulb_unpacked_token *token, unsigned tokens, ulb_vec *minima)
{
    const size_t vectors = ULB_UNPACKED_VECTORS(ulb_block_vectors(cfg));
    ulb_zero_all(minima, tokens * vectors);
    for (size_t i = 0; i < cfg->columns / cfg->group / 2; i++) {
        ulb_vec held[ULB_UNPACKED_TOKENS_MAX];
        ULB_UNROLL(4)
        for (size_t j = 0; j < vectors; j++)
            held[j] = epilogue->minima[i][v + j];
        ULB_UNROLL(4)
        for (unsigned t = 0; t < tokens; t++) {
            const ulb_vec sums = ulb_broadcast4(token[t].x_sums + 2 * i);
            ULB_UNROLL(4)
            for (size_t j = 0; j < vectors; j++)
                ulb_dp_s16(&minima[t * vectors + j], held[j], sums);
        }
    }
}

/* *result += the sum of a block of groups, less its minima, for vector v of rows. */
static inline __attribute__((always_inline)) void
ulb_end_block(const struct ulb_block_cfg *cfg, const struct ulb_block_epilogue *epilogue, size_t v,
              const struct ulb_unpacked_token *token, ulb_floats sum, ulb_vec minima, ulb_floats *result)
{
    const ulb_floats x_scale = ulb_all_floats(token->x_scale[0]);
    ulb_floats all = ulb_fma(sum, ulb_mul(epilogue->d[v], x_scale), *result);
    if (cfg->minima)
        all = ulb_fnma(epilogue->dmin[v], ulb_mul(ulb_to_floats(minima), x_scale), all);
    *result = all;
}

/* All units, for some vectors of rows from v and tokens of the block from t. */
static inline __attribute__((always_inline)) void ulb_pass_units(const struct ulb_block_cfg *cfg,
                                                                 struct ulb_unpacked *unpacked, size_t v,
                                                                 size_t t, unsigned tokens)
{
    const struct ulb_unpacked_token *token = unpacked->tokens + t;
    const int8_t *x = unpacked->x + t * unpacked->x_stride;
    const size_t vectors = ULB_UNPACKED_VECTORS(ulb_block_vectors(cfg));
    ulb_floats(*at)[ULB_UNPACKED_ROW_VECTORS] = (cfg->scales ? unpacked->sums : unpacked->results) + t;
    ulb_floats all[ULB_UNPACKED_SUMS];
    __asm__("" : "+r"(token)); /* keeps GCC from holding one address for each token */
    ULB_UNROLL(12)
    for (size_t i = 0; i < tokens * vectors; i++)
        all[i] = cfg->scales && unpacked->first == 0 ? ulb_no_floats() : at[i / vectors][v + i % vectors];
    for (size_t u = unpacked->first; u < unpacked->end; u++) {
        ulb_vec sums[ULB_UNPACKED_SUMS];
        ulb_sum_unit(cfg, unpacked, u, v, token, x, tokens, sums);
        ULB_UNROLL(4)
        for (unsigned i = 0; i < tokens; i++)
            ulb_end_unit(cfg, unpacked, u, v, vectors, &token[i], sums + i * vectors, all + i * vectors);
    }
    ulb_vec minima[ULB_UNPACKED_SUMS];
    if (cfg->scales && cfg->minima && unpacked->last)
        ulb_sum_minima_of_tile(cfg, unpacked->epilogue, v, token, tokens, minima);
    ULB_UNROLL(12)
    for (size_t i = 0; i < tokens * vectors; i++) {
        if (cfg->scales && unpacked->last)
            ulb_end_block(cfg, unpacked->epilogue, v + i % vectors, &token[i / vectors], all[i],
                          cfg->minima ? minima[i] : ulb_zero(),
                          &unpacked->results[t + i / vectors][v + i % vectors]);
        else
            at[i / vectors][v + i % vectors] = all[i];
    }
}

/* All vectors of rows. */
static inline __attribute__((always_inline)) void
ulb_pass_unpacked(const struct ulb_block_cfg *cfg, struct ulb_unpacked *unpacked, size_t t, unsigned tokens)
{
    const size_t vectors = ULB_UNPACKED_VECTORS(ulb_block_vectors(cfg));
    for (size_t v = 0; v < ulb_block_vectors(cfg); v += vectors)
        ulb_pass_units(cfg, unpacked, v, t, tokens);
}

/* Lines that each pass prefetches of so many bytes, so that all passes over some tokens prefetch them once.
 */
static inline __attribute__((always_inline)) size_t ulb_unpacked_lines(const struct ulb_block_cfg *cfg,
                                                                       size_t bytes, size_t tokens)
{
    const size_t vectors = ulb_block_vectors(cfg),
                 passes = ulb_gemm_tiles(tokens, ULB_UNPACKED_TOKENS(vectors)) *
                          ulb_gemm_tiles(vectors, ULB_UNPACKED_VECTORS(vectors));
    return ulb_gemm_share(bytes, passes * ULB_LINE);
}

static inline __attribute__((always_inline)) size_t
ulb_begin_unpacked(const void *of, const struct ulb_gemm_block *block, void *state)
{
    const struct ulb_block_cfg *cfg = of;
    struct ulb_unpacked *unpacked = state;
    const struct ulb_gemm *g = block->g;
    const size_t rows = ulb_block_vectors(cfg) * ULB_LANES, steps = block->steps,
                 k_block_steps = ulb_unpacked_units(cfg) / ULB_BLOCK_SLICES;
    unpacked->w = (const uint8_t *)g->w + block->m / rows * steps * cfg->layout->tile_bytes;
    unpacked->x = (const int8_t *)g->x + block->n * g->x_stride;
    unpacked->x_stride = g->x_stride;
    unpacked->ask_lines =
        ulb_unpacked_lines(cfg, cfg->tile_bytes / (cfg->columns / cfg->group), block->tokens);
    memset(unpacked->results, 0, block->tokens * sizeof *unpacked->results);
    return cfg->scales ? ULB_BLOCK_SLICES * steps * ulb_block_parts(cfg)
                       : (steps + k_block_steps - 1) / k_block_steps;
}

/* Finds some of the groups of a block, whose tile is at w, and which is block b of a row. */
static inline __attribute__((always_inline)) void ulb_find_groups(const struct ulb_block_cfg *cfg,
                                                                  const uint8_t *w, size_t b, size_t part,
                                                                  struct ulb_unpacked *unpacked)
{
    const size_t groups = cfg->columns / cfg->group, most = ulb_unpacked_units(cfg);
    unpacked->first = part * most;
    unpacked->last = part + 1 == ulb_block_parts(cfg);
    unpacked->end = unpacked->last ? groups : unpacked->first + most;
    for (size_t u = unpacked->first; u < unpacked->end; u++)
        unpacked->units[u] =
            (struct ulb_unpacked_unit){.w = w + ulb_codes_at(cfg, u),
                                       .ask = w + ULB_GEMM_FAR + u * cfg->tile_bytes / groups,
                                       .column = b * cfg->columns + u * cfg->group};
    if (part == 0)
        ulb_load_epilogue(cfg, w, unpacked->epilogue);
}

/* Finds some steps of both slices from step s, for blocks without groups. */
static inline __attribute__((always_inline)) void ulb_find_blocks(const struct ulb_block_cfg *cfg,
                                                                  const struct ulb_gemm_block *block,
                                                                  size_t s, struct ulb_unpacked *unpacked)
{
    const size_t steps = block->steps, most = ulb_unpacked_units(cfg), left = (steps - s) * ULB_BLOCK_SLICES;
    unpacked->first = 0;
    unpacked->end = left < most ? left : most;
    for (size_t u = 0; u < unpacked->end; u++) {
        const size_t slice = u % ULB_BLOCK_SLICES, step = s + u / ULB_BLOCK_SLICES;
        const uint8_t *w = unpacked->w + slice * block->slice_bytes + step * cfg->tile_bytes;
        unpacked->units[u] = (struct ulb_unpacked_unit){
            .w = w, .ask = w + ULB_GEMM_FAR, .column = (slice * steps + step) * cfg->columns};
        ulb_load_epilogue(cfg, w, &unpacked->epilogue[u]);
    }
}

/* Where K-block k of groups lies: block b of a row, and which part of its groups. */
static inline __attribute__((always_inline)) size_t ulb_block_of(const struct ulb_block_cfg *cfg,
                                                                 const struct ulb_gemm_block *block, size_t k)
{
    const size_t i = k / ulb_block_parts(cfg);
    return i % ULB_BLOCK_SLICES * block->steps + i / ULB_BLOCK_SLICES;
}

static inline __attribute__((always_inline)) void
ulb_stage_unpacked(const void *of, const struct ulb_gemm_block *block, void *state, size_t k)
{
    const struct ulb_block_cfg *cfg = of;
    struct ulb_unpacked *unpacked = state;
    const size_t i = k / ulb_block_parts(cfg);
    const uint8_t *tile =
        unpacked->w + i % ULB_BLOCK_SLICES * block->slice_bytes + i / ULB_BLOCK_SLICES * cfg->tile_bytes;
    if (cfg->scales)
        ulb_find_groups(cfg, tile, ulb_block_of(cfg, block, k), k % ulb_block_parts(cfg), unpacked);
    else
        ulb_find_blocks(cfg, block, k * (ulb_unpacked_units(cfg) / ULB_BLOCK_SLICES), unpacked);
    for (size_t u = unpacked->first; u < unpacked->end; u++)
        ulb_unpack_unit(cfg, tile, u, u - unpacked->first, unpacked);
}

/* Prefetches some columns of a token into L2. A K-block has too few of them side by side for the CPU's own
 * prefetchers, and activations of many tokens come from L3 for each panel. */
static inline __attribute__((always_inline)) void ulb_prefetch_x(const int8_t *x, size_t columns)
{
    for (size_t line = 0; line < columns; line += ULB_LINE)
        ulb_prefetch_l2((const uint8_t *)x, line);
}

/* A token of the steps of both slices from step s on. */
static inline __attribute__((always_inline)) void
ulb_pack_steps_token(const struct ulb_block_cfg *cfg, const struct ulb_gemm_block *block, size_t t, size_t s,
                     struct ulb_unpacked *unpacked, struct ulb_unpacked_token *token)
{
    const struct ulb_gemm *g = block->g;
    const size_t steps = unpacked->end / ULB_BLOCK_SLICES;
    const int8_t *next = (const int8_t *)g->x + (block->n + t) * g->x_stride + (s + steps) * cfg->columns;
    ulb_unpack_steps_token(cfg, block, t, s, steps, token);
    ULB_UNROLL(2)
    for (size_t slice = 0; slice < ULB_BLOCK_SLICES; slice++)
        ulb_prefetch_x(next + slice * block->steps * cfg->columns, steps * cfg->columns);
}

static inline __attribute__((always_inline)) void
ulb_pack_unpacked(const void *of, const struct ulb_gemm_block *block, void *state, size_t k)
{
    const struct ulb_block_cfg *cfg = of;
    struct ulb_unpacked *unpacked = state;
    const struct ulb_gemm *g = block->g;
    const size_t b = ulb_block_of(cfg, block, k), first = b * cfg->columns;
    if (cfg->scales && unpacked->first > 0)
        return;
    for (size_t t = 0; t < block->tokens; t++) {
        const size_t n = block->n + t;
        if (!cfg->scales) {
            ulb_pack_steps_token(cfg, block, t, k * (ulb_unpacked_units(cfg) / ULB_BLOCK_SLICES), unpacked,
                                 &unpacked->tokens[t]);
            continue;
        }
        ulb_unpack_groups_token(cfg, g->x_sums + n * g->x_sums_stride + first / ULB_SUM_COLUMNS,
                                g->x_scale[n * g->x_scale_stride + b], &unpacked->tokens[t]);
        ulb_prefetch_x((const int8_t *)g->x + n * g->x_stride + first + cfg->columns, cfg->columns);
    }
}

/* Stores the results of a panel. */
static inline __attribute__((always_inline)) void
ulb_store_unpacked(const struct ulb_block_cfg *cfg, const struct ulb_gemm_block *block,
                   const ulb_floats (*results)[ULB_UNPACKED_ROW_VECTORS])
{
    const struct ulb_gemm *g = block->g;
    const size_t left = ulb_rows_left(g, block->m, ulb_block_vectors(cfg) * ULB_LANES);
    for (size_t t = 0; t < block->tokens; t++)
        memcpy(g->y + (block->n + t) * g->y_stride + block->m, results[t], left * sizeof *g->y);
}

static inline __attribute__((always_inline)) void
ulb_finish_unpacked(const void *of, const struct ulb_gemm_block *block, void *state)
{
    const struct ulb_unpacked *unpacked = state;
    ulb_store_unpacked(of, block, unpacked->results);
}

#endif
