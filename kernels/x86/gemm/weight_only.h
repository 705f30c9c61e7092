/* GEMM of codes or levels with floating activations, in the order of kernels/x86/gemv/weight_only.h. The
 * activations of a K-block lie packed in L1, next to its codes, while the register tiles of an N-block
 * iterate over them. One code converted to single precision serves all tokens of a tile.
 *
 * Columns come in the order of the GEMV. Codes and sums carry powers of two, which the activations divide
 * out. These powers round nothing above 2^-100, so that results do not depend on N. Each pass prefetches its
 * part of the K-block that is read next into L2, not the next K-block of the same tile, which is slower.
 *
 * Tiles of rows share packed activations, because packing takes a good part of the time. More tiles than
 * ULB_WEIGHT_ONLY_TILES gain little and slow down NF4 and short groups.
 *
 * At 512 bits 4 vectors of rows times four tokens are 16 sums. 16 FMA share four masks and four conversions.
 * At 256 bits a tile is two vectors times four tokens. */
#ifndef ULB_KERNELS_X86_GEMM_WEIGHT_ONLY_H
#define ULB_KERNELS_X86_GEMM_WEIGHT_ONLY_H

#include "kernels/activations.h"
#include "kernels/gemm_blocked.h"
#include "kernels/gguf_block.h"
#include "kernels/microkernel.h"
#include "kernels/x86/gemv/weight_only_bf16dot.h"
#include "kernels/x86/simd/dot.h"
#include "kernels/x86/gemv/weight_only_lut.h"

#include <string.h>

enum {
    ULB_WEIGHT_ONLY_TILES = 4,                         /* of rows that share packed activations */
    ULB_WEIGHT_ONLY_TOKENS = 4,                        /* of a register tile */
    ULB_WEIGHT_ONLY_PASS_VECTORS = ULB_BY_WIDTH(2, 4), /* of rows */
    ULB_WEIGHT_ONLY_SUMS = ULB_WEIGHT_ONLY_TOKENS * ULB_WEIGHT_ONLY_PASS_VECTORS,
    ULB_WEIGHT_ONLY_COLUMNS_MAX = 256,
    ULB_WEIGHT_ONLY_SLICES = 2
};

/* Fewest tokens for which this is faster than N calls of the GEMV. */
#define ULB_WEIGHT_ONLY_LEAST(levels) ULB_BY_WIDTH((levels) ? 2 : 3, 2)

/* Constants of a kernel. */
struct ulb_weight_only_cfg {
    const struct ulb_layout *layout;
    unsigned bits;
    bool zeros;  /* zero points are stored; without, codes are counted from the middle, if they are numbers */
    bool levels; /* codes are indices of the format's codebook; otherwise they are numbers */
    bool bf16_pairs; /* pairs of columns are multiplied in bfloat16; otherwise each column in single precision
                      */
    size_t group;    /* columns of a group; 0: a scale for each row */
    enum ulb_activation kind;
};

/* Rows of some tiles, an N-block and a K-block. A K-block is some turns, each of some steps of four columns
 * of each slice. */
struct ulb_weight_only_n_block {
    /* Activations in the order of the K-block, divided by the powers of two of the codes; or pairs of
     * bfloat16. */
    float x[ULB_GEMM_N_BLOCK_FLOATS][ULB_WEIGHT_ONLY_COLUMNS_MAX];
    __m128 x_sums[ULB_GEMM_N_BLOCK_FLOATS]; /* of the group's activations, or of all there were */
    float x_sum[ULB_GEMM_N_BLOCK_FLOATS];   /* sum of a token's activations in a group */
    /* Results of groups, or sums of the codes of a row. */
    float results[ULB_WEIGHT_ONLY_TILES][ULB_GEMM_N_BLOCK_FLOATS][ULB_WEIGHT_ONLY_ROWS];
    struct ulb_tiles panel;        /* the first tile's weights */
    size_t tiles;                  /* of the panel */
    const uint8_t *w_first, *next; /* the K-block of the first tile; what is read after the last tile's */
    size_t turns, steps, first;    /* of the K-block; its first step in a slice */
    size_t pass, passes;           /* over a tile's K-block: so many before, so many in all */
    size_t packed;                 /* activations or pairs of them, in x */
    const float *levels;
    /* The tile of the current pass. */
    float (*sums)[ULB_WEIGHT_ONLY_ROWS]; /* results */
    const uint8_t *w[ULB_WEIGHT_ONLY_SLICES];
    ptrdiff_t ahead;               /* bytes to what is read next */
    const uint8_t *scales, *zeros; /* of a group; zeros NULL: there are none */
};

/* Activations of a step, as they are packed. */
static inline unsigned ulb_weight_only_columns(const struct ulb_weight_only_cfg *cfg)
{
    return cfg->bf16_pairs ? ULB_BF16_PAIRS_OF_STEP : 4;
}

/* Slices that add to the same sums. */
static inline size_t ulb_weight_only_slices(const struct ulb_weight_only_cfg *cfg)
{
    return cfg->group ? 1 : ULB_WEIGHT_ONLY_SLICES;
}

/* Steps of a slice before the next slice. Pairs are slower with more steps and with fewer. */
static inline size_t ulb_weight_only_turn(const struct ulb_weight_only_cfg *cfg)
{
    return cfg->bf16_pairs ? 2 : 4;
}

/* Field f of byte c (0 to 2) of the lanes at w. Lanes and mask come from memory for each column: compilers
 * would keep the lanes or masks of all columns in registers, which 256 bits lack, and a sum or an activation
 * in memory. */
static inline __attribute__((always_inline)) ulb_vec ulb_load_field_of_lanes(unsigned bits, const uint8_t *w,
                                                                             unsigned c, unsigned f)
{
    static const ulb_vec bytes[3] = {ULB_INTS(0xFFU), ULB_INTS(0xFF00U), ULB_INTS(0xFF0000U)};
    static const ulb_vec nibbles[3][2] = {{ULB_INTS(0x0FU), ULB_INTS(0xF0U)},
                                          {ULB_INTS(0x0F00U), ULB_INTS(0xF000U)},
                                          {ULB_INTS(0x0F0000U), ULB_INTS(0xF00000U)}};
    const ulb_vec *mask = bits == 8 ? &bytes[c] : &nibbles[c][f];
    ulb_vec field;
    __asm__(ULB_WEIGHT_ONLY_MOVE " %[w], %[field]\n\t" ULB_WEIGHT_ONLY_AND " %[mask], %[field], %[field]"
            : [field] "=&v"(field)
            : [w] "m"(*(const uint8_t(*)[ULB_VEC_BYTES])w), [mask] "m"(*mask));
    return field;
}

/* Column or pair c, field f of a vector of bytes. In single precision the first three columns are 2^(8 c)
 * times too large, and an upper nibble another 16 times. */
static inline __attribute__((always_inline)) ulb_floats
ulb_weight_only_value(const struct ulb_weight_only_cfg *cfg, const float *levels, const uint8_t *w,
                      unsigned c, unsigned f)
{
    const uint32_t field = ((1u << cfg->bits) - 1) << 4 * f;
    if (cfg->bf16_pairs)
        return ulb_weight_only_pair(ulb_load_pair_table(), w, c, f);
    if (!cfg->levels && c < 3 && ULB_BY_WIDTH(true, false))
        return ulb_to_floats(ulb_load_field_of_lanes(cfg->bits, w, c, f));
    ulb_vec lane = ulb_load(w);
    if (cfg->levels)
        return ulb_look_up_codebook(levels, ulb_shr32(lane, 8 * c + 4 * f));
    if (c == 3)
        lane = ulb_shr32(lane, 24);
    return ulb_to_floats(ulb_and(lane, ulb_all32((int32_t)(c < 3 ? field << 8 * c : field))));
}

/* sums[tokens][vectors] += column or pair c of a step. */
static inline __attribute__((always_inline)) void ulb_add_token_column(const struct ulb_weight_only_cfg *cfg,
                                                                       const float *levels, const uint8_t *w,
                                                                       const float *x, unsigned c,
                                                                       unsigned tokens, ulb_floats *sums)
{
    const unsigned fields = 8 / cfg->bits;
    ulb_floats ones[ULB_WEIGHT_ONLY_TOKENS];
    ULB_UNROLL(4)
    for (size_t t = 0; t < tokens; t++)
        ones[t] = ulb_load_to_all(x + t * ULB_WEIGHT_ONLY_COLUMNS_MAX + c);
    ULB_UNROLL(4)
    for (unsigned v = 0; v < ULB_WEIGHT_ONLY_PASS_VECTORS; v++) {
        const ulb_floats value =
            ulb_weight_only_value(cfg, levels, w + v / fields * ULB_VEC_BYTES, c, v % fields);
        ULB_UNROLL(4)
        for (size_t t = 0; t < tokens; t++) {
            ulb_floats *sum = &sums[t * ULB_WEIGHT_ONLY_PASS_VECTORS + v];
            if (cfg->bf16_pairs)
                ulb_add_pair(sum, value, ones[t]);
            else
                ulb_add_product(sum, value, ones[t]);
        }
    }
}

/* The K-block for some vectors of rows from vector, and tokens from t: columns or pairs [c, end) of its
 * steps. Lines [first, last) of a step are prefetched, of the next K-block. */
static inline __attribute__((always_inline)) void ulb_sum_weight_only_k_block(
    const struct ulb_weight_only_cfg *cfg, const struct ulb_weight_only_n_block *n_block, size_t vector,
    size_t t, unsigned tokens, unsigned c, unsigned end, size_t first, size_t last, ulb_floats *sums)
{
    const size_t step = cfg->bits * ULB_VEC_BYTES, at = vector * cfg->bits / 8 * ULB_VEC_BYTES;
    const size_t steps = n_block->steps;
    const float *x = n_block->x[t];
    for (size_t turn = 0; turn < n_block->turns; turn++) {
        ULB_UNROLL(2)
        for (size_t i = 0; i < ulb_weight_only_slices(cfg); i++) {
            const uint8_t *w = n_block->w[i] + turn * steps * step;
            for (size_t s = 0; s < steps; s++, w += step, x += ulb_weight_only_columns(cfg)) {
                ULB_UNROLL(4)
                for (unsigned column = c; column < end; column++)
                    ulb_add_token_column(cfg, n_block->levels, w + at, x, column, tokens, sums);
                for (size_t line = first; line < last; line += ULB_LINE)
                    __builtin_prefetch(w + n_block->ahead + line, 0, 2);
            }
        }
    }
}

/* results += the sums of a group, [tokens][vectors]. */
static inline __attribute__((always_inline)) void
ulb_take_weight_only_group(const struct ulb_weight_only_cfg *cfg, struct ulb_weight_only_n_block *n_block,
                           size_t vector, size_t t, unsigned tokens, ulb_floats *sums)
{
    ULB_UNROLL(4)
    for (size_t v = 0; v < ULB_WEIGHT_ONLY_PASS_VECTORS; v++) {
        const size_t at = (vector + v) * ULB_LANES;
        const ulb_floats scale = ulb_load_floats(n_block->scales + at * sizeof(float));
        ulb_floats zero = ulb_all_floats((float)(1 << (cfg->bits - 1)));
        if (n_block->zeros)
            zero = ulb_to_floats(ulb_load_unsigned_bytes(n_block->zeros + at));
        ULB_UNROLL(4)
        for (size_t i = 0; i < tokens; i++) {
            ulb_floats sum = sums[i * ULB_WEIGHT_ONLY_PASS_VECTORS + v];
            if (!cfg->levels)
                sum = ulb_fnma(zero, ulb_load_to_all(&n_block->x_sum[t + i]), sum);
            float *result = &n_block->sums[t + i][at];
            ulb_store_floats(result, ulb_fma(sum, scale, ulb_load_floats(result)));
        }
    }
}

/* The sum of a vector of rows -> that of products: in single precision that of upper nibbles, odd vectors, is
 * 16 times as much. */
static inline __attribute__((always_inline)) ulb_floats
ulb_unscale_upper_nibble(const struct ulb_weight_only_cfg *cfg, size_t vector, ulb_floats sum)
{
    const bool upper = !cfg->levels && !cfg->bf16_pairs && cfg->bits == 4 && vector % 2;
    return upper ? ulb_mul(sum, ulb_all_floats(1.0f / 16)) : sum;
}

/* The sums of a group, [tokens][vectors]; of levels at 256 bits four sums of a row, one for each column of a
 * step. */
static inline __attribute__((always_inline)) void
ulb_sum_weight_only_group(const struct ulb_weight_only_cfg *cfg,
                          const struct ulb_weight_only_n_block *n_block, size_t vector, size_t t,
                          unsigned tokens, size_t first, size_t last, ulb_floats *sums)
{
    const size_t n = tokens * ULB_WEIGHT_ONLY_PASS_VECTORS;
    const unsigned parts = cfg->levels ? ULB_CODEBOOK_SUMS : 1;
    ulb_floats part[4][ULB_WEIGHT_ONLY_SUMS];
    ULB_UNROLL(4)
    for (unsigned p = 0; p < parts; p++) {
        ULB_UNROLL(16)
        for (size_t i = 0; i < n; i++)
            sums[i] = ulb_no_floats();
        ulb_sum_weight_only_k_block(cfg, n_block, vector, t, tokens, p,
                                    parts == 1 ? ulb_weight_only_columns(cfg) : p + 1, first,
                                    p == 0 ? last : first, sums);
        ULB_UNROLL(16)
        for (size_t i = 0; i < n; i++)
            part[p][i] = sums[i];
    }
    if (parts == 4) {
        ULB_UNROLL(16)
        for (size_t i = 0; i < n; i++)
            sums[i] = (part[0][i] + part[1][i]) + (part[2][i] + part[3][i]);
    }
    ULB_UNROLL(16)
    for (size_t i = 0; i < n; i++)
        sums[i] = ulb_unscale_upper_nibble(cfg, i, sums[i]);
}

static inline __attribute__((always_inline)) void
ulb_pass_weight_only_k_block(const struct ulb_weight_only_cfg *cfg, struct ulb_weight_only_n_block *n_block,
                             size_t vector, size_t t, unsigned tokens, size_t first, size_t last)
{
    ulb_floats sums[ULB_WEIGHT_ONLY_SUMS];
    if (cfg->group) {
        ulb_sum_weight_only_group(cfg, n_block, vector, t, tokens, first, last, sums);
        ulb_take_weight_only_group(cfg, n_block, vector, t, tokens, sums);
        return;
    }
    ULB_UNROLL(16)
    for (size_t i = 0; i < tokens * ULB_WEIGHT_ONLY_PASS_VECTORS; i++)
        sums[i] = ulb_load_floats(&n_block->sums[t + i / ULB_WEIGHT_ONLY_PASS_VECTORS]
                                                [(vector + i % ULB_WEIGHT_ONLY_PASS_VECTORS) * ULB_LANES]);
    ulb_sum_weight_only_k_block(cfg, n_block, vector, t, tokens, 0, ulb_weight_only_columns(cfg), first, last,
                                sums);
    ULB_UNROLL(16)
    for (size_t i = 0; i < tokens * ULB_WEIGHT_ONLY_PASS_VECTORS; i++)
        ulb_store_floats(&n_block->sums[t + i / ULB_WEIGHT_ONLY_PASS_VECTORS]
                                       [(vector + i % ULB_WEIGHT_ONLY_PASS_VECTORS) * ULB_LANES],
                         sums[i]);
}

/* All vectors of rows of a tile, for some tokens. Each pass prefetches some lines of a step. */
static inline __attribute__((always_inline)) void
ulb_pass_weight_only_vectors(const struct ulb_weight_only_cfg *cfg, struct ulb_weight_only_n_block *n_block,
                             size_t t, unsigned tokens)
{
    const size_t lines = cfg->bits * ULB_VEC_BYTES / ULB_LINE, passes = n_block->passes;
    for (size_t v = 0; v < ULB_WEIGHT_ONLY_VECTORS; v += ULB_WEIGHT_ONLY_PASS_VECTORS) {
        const size_t pass = n_block->pass++;
        ulb_pass_weight_only_k_block(cfg, n_block, v, t, tokens, pass * lines / passes * ULB_LINE,
                                     (pass + 1) * lines / passes * ULB_LINE);
    }
}

/* Packs the activations of some steps from column k, for the tokens from n, after the ones that are
 * packed. */
static inline __attribute__((always_inline)) void
ulb_pack_weight_only_x(const struct ulb_weight_only_cfg *cfg, const struct ulb_gemm *g, size_t n,
                       size_t tokens, size_t k, size_t steps, struct ulb_weight_only_n_block *n_block)
{
    const __m128 small = _mm_setr_ps(1, 1.0f / 256, 1.0f / 65536, 1);
    for (size_t t = 0; t < tokens; t++) {
        __m128 sum =
            n_block->x_sums[t]; /* in memory it would wait for each step's stores, up to 1.4 times as long */
        for (size_t s = 0; s < steps; s++) {
            const __m128 four = ulb_load_four(cfg->kind, g->x, (n + t) * g->x_stride + k + 4 * s);
            sum = _mm_add_ps(sum, four);
            float *x = &n_block->x[t][n_block->packed + ulb_weight_only_columns(cfg) * s];
            if (cfg->bf16_pairs)
                ulb_store_pairs(g->x, (n + t) * g->x_stride + k + 4 * s, x);
            else
                _mm_storeu_ps(x, cfg->levels ? four : _mm_mul_ps(four, small));
        }
        n_block->x_sums[t] = sum;
    }
    n_block->packed += ulb_weight_only_columns(cfg) * steps;
}

/* Bytes of a row of tiles in a slice. */
static inline size_t ulb_weight_only_row_bytes(const struct ulb_weight_only_cfg *cfg,
                                               const struct ulb_tiles *panel)
{
    return panel->steps * (cfg->group ? cfg->layout->tile_bytes : cfg->bits * ULB_VEC_BYTES);
}

/* Turns of a K-block of rows with one scale each, at most. */
static inline size_t ulb_weight_only_turns(const struct ulb_weight_only_cfg *cfg)
{
    return ULB_WEIGHT_ONLY_COLUMNS_MAX / (ULB_WEIGHT_ONLY_SLICES * 4 * ulb_weight_only_turn(cfg));
}

/* Finds group i, in the order of one token: a K-block. */
static inline __attribute__((always_inline)) void
ulb_find_weight_only_group(const struct ulb_weight_only_cfg *cfg, size_t i,
                           struct ulb_weight_only_n_block *n_block)
{
    const struct ulb_tiles *panel = &n_block->panel;
    const size_t bytes = cfg->layout->tile_bytes, slice = i % ULB_WEIGHT_ONLY_SLICES,
                 step = i / ULB_WEIGHT_ONLY_SLICES;
    const uint8_t *w = panel->w + slice * panel->slice_bytes + step * bytes;
    n_block->turns = 1;
    n_block->steps = cfg->group / 4;
    n_block->first = (slice * panel->steps + step) * n_block->steps;
    n_block->w_first = w;
    n_block->next = i + 1 < ULB_WEIGHT_ONLY_SLICES * panel->steps
                        ? ulb_next_tile(w, slice, panel->slice_bytes, bytes)
                        : panel->w + n_block->tiles * ulb_weight_only_row_bytes(cfg, panel);
}

/* Finds K-block i of rows with one scale each, in the order of the GEMV: turns of four steps of each slice,
 * then the rest of the slice. */
static inline __attribute__((always_inline)) void
ulb_find_weight_only_turns(const struct ulb_weight_only_cfg *cfg, size_t i,
                           struct ulb_weight_only_n_block *n_block)
{
    const struct ulb_tiles *panel = &n_block->panel;
    const size_t step = cfg->bits * ULB_VEC_BYTES, turn = ulb_weight_only_turn(cfg),
                 most = ulb_weight_only_turns(cfg), whole = panel->steps / turn;
    const size_t done = i * most < whole ? i * most : whole, left = whole - done;
    n_block->turns = left == 0 ? 1 : left < most ? left : most;
    n_block->steps = left == 0 ? panel->steps % turn : turn;
    n_block->first = done * turn;
    n_block->w_first = panel->w + done * turn * step;
    const size_t end = n_block->first + n_block->turns * n_block->steps;
    n_block->next =
        panel->w + (end < panel->steps ? end * step : n_block->tiles * ulb_weight_only_row_bytes(cfg, panel));
}

static inline __attribute__((always_inline)) size_t
ulb_begin_weight_only(const void *of, const struct ulb_gemm_block *block, void *state)
{
    const struct ulb_weight_only_cfg *cfg = of;
    struct ulb_weight_only_n_block *n_block = state;
    struct ulb_tiles *panel = &n_block->panel;
    const size_t left = (block->g->m1 - block->m + ULB_WEIGHT_ONLY_ROWS - 1) / ULB_WEIGHT_ONLY_ROWS,
                 turn = ulb_weight_only_turn(cfg), most = ulb_weight_only_turns(cfg);
    panel->w = (const uint8_t *)block->g->w +
               block->m / ULB_WEIGHT_ONLY_ROWS * ulb_weight_only_row_bytes(cfg, panel);
    n_block->tiles = left < ULB_WEIGHT_ONLY_TILES ? left : ULB_WEIGHT_ONLY_TILES;
    n_block->passes = ulb_gemm_tiles(block->tokens, ULB_WEIGHT_ONLY_TOKENS) *
                      (ULB_WEIGHT_ONLY_VECTORS / ULB_WEIGHT_ONLY_PASS_VECTORS);
    for (size_t tile = 0; tile < n_block->tiles; tile++)
        memset(n_block->results[tile], 0, block->tokens * sizeof *n_block->results[tile]);
    memset(n_block->x_sums, 0, block->tokens * sizeof *n_block->x_sums);
    if (cfg->group)
        return n_block->tiles * ULB_WEIGHT_ONLY_SLICES * panel->steps;
    return n_block->tiles * ((panel->steps / turn + most - 1) / most + (panel->steps % turn > 0));
}

/* A K-block of one tile of the panel: the tiles come one after the other. */
static inline __attribute__((always_inline)) void
ulb_stage_weight_only(const void *of, const struct ulb_gemm_block *block, void *state, size_t k)
{
    const struct ulb_weight_only_cfg *cfg = of;
    struct ulb_weight_only_n_block *n_block = state;
    const size_t tile = k % n_block->tiles, row_bytes = ulb_weight_only_row_bytes(cfg, &n_block->panel),
                 codes = ULB_WEIGHT_ONLY_ROWS * cfg->group * cfg->bits / 8;
    (void)block;
    if (tile == 0 && cfg->group)
        ulb_find_weight_only_group(cfg, k / n_block->tiles, n_block);
    else if (tile == 0)
        ulb_find_weight_only_turns(cfg, k / n_block->tiles, n_block);
    const uint8_t *w = n_block->w_first + tile * row_bytes;
    n_block->pass = 0;
    n_block->sums = n_block->results[tile];
    for (size_t i = 0; i < ulb_weight_only_slices(cfg); i++)
        n_block->w[i] = w + i * n_block->panel.slice_bytes;
    n_block->ahead = tile + 1 < n_block->tiles ? (ptrdiff_t)row_bytes : n_block->next - w;
    if (cfg->group) {
        n_block->scales = w + codes;
        n_block->zeros = cfg->zeros ? n_block->scales + ULB_WEIGHT_ONLY_ROWS * sizeof(float) : NULL;
        for (size_t line = codes; line < cfg->layout->tile_bytes; line += ULB_LINE)
            __builtin_prefetch(w + n_block->ahead + line, 0, 2);
    }
}

/* Packs activations of a K-block, which the tiles of the panel share. */
static inline __attribute__((always_inline)) void
ulb_pack_weight_only(const void *of, const struct ulb_gemm_block *block, void *state, size_t k)
{
    const struct ulb_weight_only_cfg *cfg = of;
    struct ulb_weight_only_n_block *n_block = state;
    const size_t steps = n_block->steps;
    if (k % n_block->tiles > 0)
        return;
    n_block->packed = 0;
    if (cfg->group) {
        memset(n_block->x_sums, 0, block->tokens * sizeof *n_block->x_sums);
        ulb_pack_weight_only_x(cfg, block->g, block->n, block->tokens, 4 * n_block->first, steps, n_block);
        for (size_t t = 0; t < block->tokens; t++)
            n_block->x_sum[t] = ulb_sum_four(n_block->x_sums[t]);
        return;
    }
    for (size_t i = 0; i < ULB_WEIGHT_ONLY_SLICES * n_block->turns; i++) {
        const size_t slice = i % ULB_WEIGHT_ONLY_SLICES, turn = i / ULB_WEIGHT_ONLY_SLICES;
        ulb_pack_weight_only_x(cfg, block->g, block->n, block->tokens,
                               4 * (slice * n_block->panel.steps + n_block->first + turn * steps), steps,
                               n_block);
    }
}

/* The sums of a tile -> results, row m on. */
static inline __attribute__((always_inline)) void
ulb_weight_only_epilogue_rows(const struct ulb_weight_only_cfg *cfg, const struct ulb_gemm *g, size_t m,
                              size_t tokens, const struct ulb_weight_only_n_block *n_block,
                              float (*results)[ULB_WEIGHT_ONLY_ROWS])
{
    const float *scales = ulb_row_scales(g, cfg->layout) + m, *zeros = ulb_row_zeros(g, cfg->layout) + m;
    for (size_t t = 0; t < tokens; t++) {
        const ulb_floats x_sum = ulb_all_floats(ulb_sum_four(n_block->x_sums[t]));
        ULB_UNROLL(8)
        for (size_t v = 0; v < ULB_WEIGHT_ONLY_VECTORS; v++) {
            float *result = &results[t][v * ULB_LANES];
            const ulb_floats sum = ulb_unscale_upper_nibble(cfg, v, ulb_load_floats(result));
            const ulb_floats zero = cfg->zeros ? ulb_load_floats(zeros + v * ULB_LANES)
                                               : ulb_all_floats((float)(1 << (cfg->bits - 1)));
            ulb_store_floats(result,
                             ulb_mul(ulb_fnma(zero, x_sum, sum), ulb_load_floats(scales + v * ULB_LANES)));
        }
    }
}

static inline __attribute__((always_inline)) void
ulb_finish_weight_only(const void *of, const struct ulb_gemm_block *block, void *state)
{
    const struct ulb_weight_only_cfg *cfg = of;
    struct ulb_weight_only_n_block *n_block = state;
    const struct ulb_gemm *g = block->g;
    for (size_t tile = 0, m = block->m; tile < n_block->tiles; tile++, m += ULB_WEIGHT_ONLY_ROWS) {
        if (!cfg->group)
            ulb_weight_only_epilogue_rows(cfg, g, m, block->tokens, n_block, n_block->results[tile]);
        for (size_t t = 0; t < block->tokens; t++)
            memcpy(g->y + (block->n + t) * g->y_stride + m, n_block->results[tile][t],
                   ulb_rows_left(g, m, ULB_WEIGHT_ONLY_ROWS) * sizeof ***n_block->results);
    }
}

/* For one token: sums[slices][8] += products of some steps of four columns, from activation `at`.
 * x_sums[slices] += these activations. */
static inline __attribute__((always_inline)) void
ulb_add_weight_only(const struct ulb_weight_only_cfg *cfg, struct ulb_interleave interleave, const uint8_t *w,
                    const void *x, size_t at, size_t steps, struct ulb_line_prefetch hint, ulb_floats *sums,
                    __m128 *x_sums)
{
    if (cfg->bf16_pairs)
        ulb_add_weight_only_pairs(w, interleave, x, at, steps, hint, sums, x_sums);
    else
        ulb_add_weight_only_columns(cfg->bits, cfg->kind, w, interleave, x, at, steps, hint, sums, x_sums);
}

/* Turns the sums of all steps into sums of products. */
static inline __attribute__((always_inline)) void
ulb_weight_only_epilogue(const struct ulb_weight_only_cfg *cfg, ulb_floats *sums)
{
    ULB_UNROLL(8)
    for (size_t v = 0; v < ULB_WEIGHT_ONLY_VECTORS; v++)
        sums[v] = ulb_unscale_upper_nibble(cfg, v, sums[v]);
}

/* Computes the rows of a tile, from row m, for token n. */
typedef void ulb_weight_only_tile_fn(const struct ulb_weight_only_cfg *cfg, const struct ulb_gemm *g,
                                     const struct ulb_tiles *tiles, size_t m, size_t n);

static inline const void *ulb_weight_only_x(const struct ulb_weight_only_cfg *cfg, const struct ulb_gemm *g,
                                            size_t n)
{
    return (const char *)g->x + n * g->x_stride * ulb_activation_bytes(cfg->kind);
}

static inline struct ulb_tiles ulb_weight_only_tiles(const struct ulb_weight_only_cfg *cfg,
                                                     const struct ulb_gemm *g)
{
    return (struct ulb_tiles){.slice_bytes = ulb_layout_slice_bytes(cfg->layout, g->m, g->k),
                              .steps = ulb_layout_steps(cfg->layout, g->k),
                              .prefetch = &g->prefetch};
}

/* All rows, one token at a time. */
static inline __attribute__((always_inline)) void ulb_run_weight_only(const struct ulb_weight_only_cfg *cfg,
                                                                      const struct ulb_gemm *g,
                                                                      ulb_weight_only_tile_fn *run_tile)
{
    struct ulb_tiles tiles = ulb_weight_only_tiles(cfg, g);
    const size_t row_bytes = ulb_weight_only_row_bytes(cfg, &tiles);
    for (size_t m = g->m0; m < g->m1; m += ULB_WEIGHT_ONLY_ROWS) {
        tiles.w = (const uint8_t *)g->w + m / ULB_WEIGHT_ONLY_ROWS * row_bytes;
        for (size_t n = 0; n < g->n; n++)
            run_tile(cfg, g, &tiles, m, n);
    }
}

/* Several tokens. */
static inline __attribute__((always_inline)) void
ulb_run_weight_only_tokens(const struct ulb_weight_only_cfg *cfg, const struct ulb_gemm *g,
                           ulb_gemm_pass_fn *pass)
{
    const struct ulb_gemm_nest nest = {.cfg = cfg,
                                       .rows = ULB_WEIGHT_ONLY_TILES * ULB_WEIGHT_ONLY_ROWS,
                                       .n_block = ULB_GEMM_N_BLOCK_FLOATS,
                                       .least = 2,
                                       .tile = ULB_WEIGHT_ONLY_TOKENS,
                                       .begin = ulb_begin_weight_only,
                                       .stage = ulb_stage_weight_only,
                                       .pack_x = ulb_pack_weight_only,
                                       .pass = pass,
                                       .finish = ulb_finish_weight_only};
    struct ulb_weight_only_n_block n_block;
    n_block.panel = ulb_weight_only_tiles(cfg, g);
    n_block.levels = cfg->levels ? cfg->layout->format->block->levels : NULL;
    ulb_gemm_blocked(&nest, g, &n_block);
}

/* Function pass_<bits> of the kernels of a file, for a struct ulb_weight_only_cfg whose group is a bool. */
#define ULB_WEIGHT_ONLY_PASSES(bits_, ...)                                                                   \
    static inline __attribute__((always_inline)) void all_##bits_(struct ulb_weight_only_n_block *n_block,   \
                                                                  size_t t, unsigned tokens)                 \
    {                                                                                                        \
        static const struct ulb_weight_only_cfg cfg = {.bits = (bits_), __VA_ARGS__};                        \
        ulb_pass_weight_only_vectors(&cfg, n_block, t, tokens);                                              \
    }                                                                                                        \
    ULB_GEMM_PASSES(pass_##bits_, struct ulb_weight_only_n_block, ULB_WEIGHT_ONLY_TOKENS, all_##bits_)

/* Function run_<symbol> for a struct ulb_weight_only_cfg. run_tile: computes one token. */
#define ULB_WEIGHT_ONLY_RUN(symbol, run_tile, bits_, ...)                                                    \
    static const struct ulb_weight_only_cfg cfg_##symbol = {.bits = (bits_), __VA_ARGS__};                   \
    static __attribute__((noinline)) void tokens_##symbol(const struct ulb_gemm *g)                          \
    {                                                                                                        \
        ulb_run_weight_only_tokens(&cfg_##symbol, g, pass_##bits_);                                          \
    }                                                                                                        \
    static __attribute__((noinline)) void one_by_one_##symbol(const struct ulb_gemm *g)                      \
    {                                                                                                        \
        ulb_run_weight_only(&cfg_##symbol, g, run_tile);                                                     \
    }                                                                                                        \
    static void run_##symbol(const struct ulb_gemm *g)                                                       \
    {                                                                                                        \
        (g->n >= ULB_WEIGHT_ONLY_LEAST(cfg_##symbol.levels) ? tokens_##symbol : one_by_one_##symbol)(g);     \
    }

/* What every such kernel has, of struct ulb_kernel; the rest are variant, kr, bytes_per_step, tolerance,
 * mixes. */
#define ULB_WEIGHT_ONLY_FIELDS(symbol, layout_, kind, levels)                                                \
    .abi = ULB_KERNEL_ABI, .isa = ULB_KERNEL_ISA, .needs = ULB_KERNEL_NEEDS, .layout = &(layout_),           \
    .activation = (kind), .mr = ULB_WEIGHT_ONLY_ROWS, .nr = ULB_WEIGHT_ONLY_TOKENS,                          \
    .prefetch = {ULB_PREFETCH_TUNABLE, ULB_WEIGHT_ONLY_LEAST(levels) - 1}, .run = run_##symbol

/* Instructions per 32 weights of a register tile, without the packing that tiles of rows share. */
#define ULB_WEIGHT_ONLY_TOKENS_SHIFTS(levels, bits) ((levels) ? ULB_BY_WIDTH(15, 7) / 8.0 : (bits) / 32.0)
#define ULB_WEIGHT_ONLY_TOKENS_MIX(levels, bits)                                                             \
    .loads = ULB_WEIGHT_ONLY_UNITS * (bits) / 32,                                                            \
    .broadcasts = ULB_WEIGHT_ONLY_UNITS / ULB_WEIGHT_ONLY_PASS_VECTORS * ULB_WEIGHT_ONLY_TOKENS,             \
    .prefetches = (bits) / 8.0,                                                                              \
    .logic = (levels) ? ULB_BY_WIDTH(ULB_WEIGHT_ONLY_UNITS, 0) : ULB_WEIGHT_ONLY_UNITS,                      \
    .shifts = ULB_WEIGHT_ONLY_UNITS * ULB_WEIGHT_ONLY_TOKENS_SHIFTS(levels, bits),                           \
    .permutes = (levels) ? ULB_BY_WIDTH(2, 1) * ULB_WEIGHT_ONLY_UNITS : 0,                                   \
    .conversions = (levels) ? 0 : ULB_WEIGHT_ONLY_UNITS,                                                     \
    .fmas = ULB_WEIGHT_ONLY_UNITS * ULB_WEIGHT_ONLY_TOKENS, .vector_bits = ULB_VEC_BITS,                     \
    .chains = ULB_WEIGHT_ONLY_SUMS
#define ULB_WEIGHT_ONLY_BF16_TOKENS_MIX                                                                      \
    .loads = ULB_PAIR_UNITS / 4,                                                                             \
    .broadcasts = ULB_PAIR_UNITS / ULB_WEIGHT_ONLY_PASS_VECTORS * ULB_WEIGHT_ONLY_TOKENS, .prefetches = 0.5, \
    .shifts = ULB_PAIR_UNITS * 3 / 4, .permutes = ULB_PAIR_UNITS,                                            \
    .dot_products = ULB_PAIR_UNITS * ULB_WEIGHT_ONLY_TOKENS, .vector_bits = ULB_VEC_BITS,                    \
    .chains = ULB_WEIGHT_ONLY_SUMS

#endif
