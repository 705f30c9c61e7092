/* Several tokens of codes or levels with floating activations, stored in the order of code_columns.h. Those
 * of a chunk of columns lie packed, beside the codes, in L1, while the register tiles of a block of tokens
 * pass over them: a code that is made single precision serves all tokens of a tile. Columns come in the order
 * of one token's sums, and powers of two by which codes and sums are too large and activations too small
 * round nothing (above 2^-100), so that results are the same alone and together. Each pass asks L2 for its
 * part of the next chunk in time.
 *
 * 512 bits: 4 vectors of rows times 4 tokens are 16 sums. 16 FMA share 4 masks and 4 conversions: on two
 * ports for all of them 12 cycles, with masks elsewhere 10, which is what Zen 5 takes. 256 bits: 2 times 4
 * for levels, whose look-ups cost more; numbers are taken one by one (3 times 4 was 1.0 to 1.2 times as fast
 * there).
 *
 * Zen 5, cold, 4096x4096, 3, 4 and 16 tokens against one by one: 512 bits 4-bit codes 1.2 to 1.4, 1.25 to 1.4
 * and 1.35 to 1.5 times as fast, NF4 1.15, 1.3 and 1.35; 256 bits NF4 1.3, 1.4 and 1.6. Two tokens .9 to 1.1.
 */
#ifndef ULB_KERNELS_X86_CODE_TOKENS_H
#define ULB_KERNELS_X86_CODE_TOKENS_H

#include "kernels/activations.h"
#include "kernels/block.h"
#include "kernels/row.h"
#include "kernels/x86/dot.h"
#include "kernels/x86/level_columns.h"

#include <string.h>

enum {
    ULB_CODE_BLOCK = 16,                        /* tokens that share a chunk in L1 */
    ULB_CODE_TOKENS = 4,                        /* of a register tile */
    ULB_CODE_PASS_VECTORS = ULB_BY_WIDTH(2, 4), /* of rows */
    ULB_CODE_SUMS = ULB_CODE_TOKENS * ULB_CODE_PASS_VECTORS,
    ULB_CODE_COLUMNS_MAX = 256,
    ULB_CODE_TURN_STEPS = 4, /* of a slice in turn, where a scale is a row's */
    ULB_CODE_SLICES = 2,
    ULB_CODE_LEAST = 3 /* tokens from which on this is faster than one by one */
};

/* Constants of a row. */
struct ulb_code_row {
    const struct ulb_layout *layout;
    unsigned bits;
    bool zeros;  /* zero points are stored; without, codes are counted from the middle, if they are numbers */
    bool levels; /* of the format, that codes stand for; or else they are numbers */
    size_t group; /* columns of a group; 0: a scale for each row */
    enum ulb_activation kind;
};

/* Tokens of a register tile, of levels or of numbers. */
#define ULB_CODE_TILE(levels) ((levels) || ULB_BY_WIDTH(false, true) ? ULB_CODE_TOKENS : 1)

/* prefetch_tokens of such a row. */
#define ULB_CODE_TOLD(levels) (ULB_CODE_TILE(levels) > 1 ? ULB_CODE_LEAST - 1 : 0)

/* The rows of a tile, a block of tokens, and a chunk: turns of so many steps of 4 columns of each slice. */
struct ulb_code_block {
    float x[ULB_CODE_BLOCK][ULB_CODE_COLUMNS_MAX]; /* in the chunk's order, as small as codes are large */
    __m128 x_sums[ULB_CODE_BLOCK];                 /* of the group's activations, or of all there were */
    float x_sum[ULB_CODE_BLOCK];                   /* theirs, of a group */
    float results[ULB_CODE_BLOCK][ULB_CODE_ROWS];  /* of groups, or sums of codes of a row */
    const uint8_t *w[ULB_CODE_SLICES];
    size_t slices, turns, steps, columns;
    ptrdiff_t ahead;               /* bytes to the next chunk */
    const uint8_t *scales, *zeros; /* of a group; zeros NULL: there are none */
    const float *levels;
};

/* Column c, field f of a vector of bytes: numbers are 2^(8 c) times too large in the first three columns, and
 * 16 times in an upper nibble. */
static inline __attribute__((always_inline)) ulb_floats
ulb_code_value(const struct ulb_code_row *row, const float *levels, const uint8_t *w, unsigned c, unsigned f)
{
    const uint32_t field = ((1u << row->bits) - 1) << 4 * f;
    ulb_vec lane = ulb_load(w);
    if (row->levels)
        return ulb_look_up_levels(levels, ulb_shr32(lane, 8 * c + 4 * f));
    if (c == 3)
        lane = ulb_shr32(lane, 24);
    return ulb_to_floats(ulb_and(lane, ulb_all32((int32_t)(c < 3 ? field << 8 * c : field))));
}

/* sums[tokens][vectors] += column c of a step. An assembler statement for Clang's sake: see ulb_add_rows_fn
 * (kernels/x86/float_columns.h). */
static inline __attribute__((always_inline)) void ulb_add_token_column(const struct ulb_code_row *row,
                                                                       const float *levels, const uint8_t *w,
                                                                       const float *x, unsigned c,
                                                                       unsigned tokens, ulb_floats *sums)
{
    const unsigned fields = 8 / row->bits;
    ulb_floats ones[ULB_CODE_TOKENS];
    ULB_UNROLL(4)
    for (size_t t = 0; t < tokens; t++)
        ones[t] = ulb_load_to_all(x + t * ULB_CODE_COLUMNS_MAX + c);
    ULB_UNROLL(4)
    for (unsigned v = 0; v < ULB_CODE_PASS_VECTORS; v++) {
        const ulb_floats value = ulb_code_value(row, levels, w + v / fields * ULB_VEC_BYTES, c, v % fields);
        ULB_UNROLL(4)
        for (size_t t = 0; t < tokens; t++)
            __asm__("vfmadd231ps %[one], %[value], %[sum]"
                    : [sum] "+v"(sums[t * ULB_CODE_PASS_VECTORS + v])
                    : [value] "v"(value), [one] "v"(ones[t]));
    }
}

/* The chunk for so many vectors of rows from vector on, and tokens from t on: columns [c, end) of its steps.
 * Lines [first, last) of a step are asked for, of the next chunk. */
static inline __attribute__((always_inline)) void ulb_sum_code_chunk(const struct ulb_code_row *row,
                                                                     const struct ulb_code_block *block,
                                                                     size_t vector, size_t t, unsigned tokens,
                                                                     unsigned c, unsigned end, size_t first,
                                                                     size_t last, ulb_floats *sums)
{
    const size_t step = row->bits * ULB_VEC_BYTES, at = vector * row->bits / 8 * ULB_VEC_BYTES;
    const float *x = block->x[t];
    for (size_t turn = 0; turn < block->turns; turn++) {
        for (size_t i = 0; i < block->slices; i++) {
            const uint8_t *w = block->w[i] + turn * block->steps * step;
            for (size_t s = 0; s < block->steps; s++, w += step, x += 4) {
                ULB_UNROLL(4)
                for (unsigned column = c; column < end; column++)
                    ulb_add_token_column(row, block->levels, w + at, x, column, tokens, sums);
                for (size_t line = first; line < last; line += ULB_LINE)
                    __builtin_prefetch(w + block->ahead + line, 0, 2);
            }
        }
    }
}

/* results += the sums of a group, [tokens][vectors]. */
static inline __attribute__((always_inline)) void ulb_take_code_group(const struct ulb_code_row *row,
                                                                      struct ulb_code_block *block,
                                                                      size_t vector, size_t t,
                                                                      unsigned tokens, ulb_floats *sums)
{
    ULB_UNROLL(4)
    for (size_t v = 0; v < ULB_CODE_PASS_VECTORS; v++) {
        const size_t at = (vector + v) * ULB_LANES;
        const ulb_floats scale = ulb_load_floats(block->scales + at * sizeof(float));
        ulb_floats zero = ulb_all_floats((float)(1 << (row->bits - 1)));
        if (block->zeros)
            zero = ulb_to_floats(ulb_load_unsigned_bytes(block->zeros + at));
        ULB_UNROLL(4)
        for (size_t i = 0; i < tokens; i++) {
            ulb_floats sum = sums[i * ULB_CODE_PASS_VECTORS + v];
            if (!row->levels)
                sum = ulb_fnma(zero, ulb_load_to_all(&block->x_sum[t + i]), sum);
            float *result = &block->results[t + i][at];
            ulb_store_floats(result, ulb_fma(sum, scale, ulb_load_floats(result)));
        }
    }
}

/* The sum of a vector of rows -> that of products: of upper nibbles, odd vectors, it is 16 times as much. */
static inline __attribute__((always_inline)) ulb_floats ulb_settle_nibble(const struct ulb_code_row *row,
                                                                          size_t vector, ulb_floats sum)
{
    const bool upper = !row->levels && row->bits == 4 && vector % 2;
    return upper ? ulb_mul(sum, ulb_all_floats(1.0f / 16)) : sum;
}

/* The sums of a group, [tokens][vectors]; of levels at 256 bits four sums of a row, one for each column of a
 * step. */
static inline __attribute__((always_inline)) void
ulb_sum_code_group(const struct ulb_code_row *row, const struct ulb_code_block *block, size_t vector,
                   size_t t, unsigned tokens, size_t first, size_t last, ulb_floats *sums)
{
    const size_t n = tokens * ULB_CODE_PASS_VECTORS;
    const unsigned parts = row->levels ? ULB_LEVEL_SUMS : 1;
    ulb_floats part[4][ULB_CODE_SUMS];
    ULB_UNROLL(4)
    for (unsigned p = 0; p < parts; p++) {
        ULB_UNROLL(16)
        for (size_t i = 0; i < n; i++)
            sums[i] = ulb_no_floats();
        ulb_sum_code_chunk(row, block, vector, t, tokens, p, parts == 1 ? 4 : p + 1, first,
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
        sums[i] = ulb_settle_nibble(row, i, sums[i]);
}

static inline __attribute__((always_inline)) void
ulb_pass_code_chunk(const struct ulb_code_row *row, struct ulb_code_block *block, size_t vector, size_t t,
                    unsigned tokens, size_t first, size_t last)
{
    ulb_floats sums[ULB_CODE_SUMS];
    if (row->group) {
        ulb_sum_code_group(row, block, vector, t, tokens, first, last, sums);
        ulb_take_code_group(row, block, vector, t, tokens, sums);
        return;
    }
    ULB_UNROLL(16)
    for (size_t i = 0; i < tokens * ULB_CODE_PASS_VECTORS; i++)
        sums[i] = ulb_load_floats(
            &block->results[t + i / ULB_CODE_PASS_VECTORS][(vector + i % ULB_CODE_PASS_VECTORS) * ULB_LANES]);
    ulb_sum_code_chunk(row, block, vector, t, tokens, 0, 4, first, last, sums);
    ULB_UNROLL(16)
    for (size_t i = 0; i < tokens * ULB_CODE_PASS_VECTORS; i++)
        ulb_store_floats(
            &block->results[t + i / ULB_CODE_PASS_VECTORS][(vector + i % ULB_CODE_PASS_VECTORS) * ULB_LANES],
            sums[i]);
}

/* All vectors of rows and so many tokens of a chunk. */
static inline __attribute__((always_inline)) void
ulb_pass_code_chunks(const struct ulb_code_row *row, struct ulb_code_block *block, size_t tokens)
{
    const size_t tiles = (tokens + ULB_CODE_TOKENS - 1) / ULB_CODE_TOKENS;
    const size_t passes = tiles * (ULB_CODE_VECTORS / ULB_CODE_PASS_VECTORS);
    const size_t lines = row->bits * ULB_VEC_BYTES / ULB_LINE;
    for (size_t tile = 0, t = 0, pass = 0; tile < tiles; tile++) {
        const size_t some = (tokens - t) / (tiles - tile);
        for (size_t v = 0; v < ULB_CODE_VECTORS; v += ULB_CODE_PASS_VECTORS, pass++) {
            const size_t first = pass * lines / passes * ULB_LINE,
                         last = (pass + 1) * lines / passes * ULB_LINE;
            if (some == 4)
                ulb_pass_code_chunk(row, block, v, t, 4, first, last);
            else if (some == 3)
                ulb_pass_code_chunk(row, block, v, t, 3, first, last);
            else if (some == 2)
                ulb_pass_code_chunk(row, block, v, t, 2, first, last);
            else
                ulb_pass_code_chunk(row, block, v, t, 1, first, last);
        }
        t += some;
    }
}

/* The activations of so many steps from column k on, of tokens from n on, behind those of the chunk there
 * are. */
static inline __attribute__((always_inline)) void ulb_pack_code_x(const struct ulb_code_row *row,
                                                                  const struct ulb_gemm *g, size_t n,
                                                                  size_t tokens, size_t k, size_t steps,
                                                                  struct ulb_code_block *block)
{
    const __m128 small = _mm_setr_ps(1, 1.0f / 256, 1.0f / 65536, 1);
    for (size_t t = 0; t < tokens; t++) {
        for (size_t s = 0; s < steps; s++) {
            const __m128 four = ulb_load_four(row->kind, g->x, (n + t) * g->x_stride + k + 4 * s);
            block->x_sums[t] = _mm_add_ps(block->x_sums[t], four);
            _mm_storeu_ps(&block->x[t][block->columns + 4 * s], row->levels ? four : _mm_mul_ps(four, small));
        }
    }
    block->columns += 4 * steps;
}

typedef void ulb_code_passes_fn(struct ulb_code_block *block, size_t tokens);

/* The groups of a tile of rows, in the order of one token. */
static inline __attribute__((always_inline)) void
ulb_add_code_groups(const struct ulb_code_row *row, const struct ulb_gemm *g, const struct ulb_tiles *tiles,
                    size_t n, size_t tokens, ulb_code_passes_fn *passes, struct ulb_code_block *block)
{
    block->slices = block->turns = 1;
    block->steps = row->group / 4;
    for (size_t i = 0; i < ULB_CODE_SLICES * tiles->steps; i++) {
        const size_t slice = i % ULB_CODE_SLICES, tile = i / ULB_CODE_SLICES, bytes = row->layout->tile_bytes;
        const uint8_t *w = tiles->w + slice * tiles->slice_bytes + tile * bytes;
        const uint8_t *next = ulb_next_tile(w, slice, tiles->slice_bytes, bytes);
        const size_t codes = ULB_CODE_ROWS * row->group * row->bits / 8;
        block->w[0] = w;
        block->ahead = next - w;
        block->scales = w + codes;
        block->zeros = row->zeros ? block->scales + ULB_CODE_ROWS * sizeof(float) : NULL;
        for (size_t line = codes; line < bytes; line += ULB_LINE)
            __builtin_prefetch(next + line, 0, 2);
        block->columns = 0;
        memset(block->x_sums, 0, tokens * sizeof *block->x_sums);
        ulb_pack_code_x(row, g, n, tokens, (slice * tiles->steps + tile) * row->group, row->group / 4, block);
        for (size_t t = 0; t < tokens; t++)
            block->x_sum[t] = ulb_sum_four(block->x_sums[t]);
        passes(block, tokens);
    }
}

/* All columns of a tile of rows with a scale each, in the order of one token: turns of 4 steps of each slice,
 * then what is left of it. */
static inline __attribute__((always_inline)) void
ulb_add_code_rows(const struct ulb_code_row *row, const struct ulb_gemm *g, const struct ulb_tiles *tiles,
                  size_t n, size_t tokens, ulb_code_passes_fn *passes, struct ulb_code_block *block)
{
    const size_t step = row->bits * ULB_VEC_BYTES;
    const size_t most = ULB_CODE_COLUMNS_MAX / (ULB_CODE_SLICES * 4 * ULB_CODE_TURN_STEPS);
    block->slices = ULB_CODE_SLICES;
    memset(block->x_sums, 0, tokens * sizeof *block->x_sums);
    for (size_t s = 0; s < tiles->steps; s += block->turns * block->steps) {
        const size_t left = tiles->steps - s, turns = left / ULB_CODE_TURN_STEPS;
        block->turns = turns == 0 ? 1 : turns < most ? turns : most;
        block->steps = turns == 0 ? left : ULB_CODE_TURN_STEPS;
        block->ahead = (ptrdiff_t)(block->turns * block->steps * step);
        block->columns = 0;
        for (size_t i = 0; i < ULB_CODE_SLICES; i++)
            block->w[i] = tiles->w + i * tiles->slice_bytes + s * step;
        for (size_t i = 0; i < ULB_CODE_SLICES * block->turns; i++) {
            const size_t slice = i % ULB_CODE_SLICES, turn = i / ULB_CODE_SLICES;
            ulb_pack_code_x(row, g, n, tokens, 4 * (slice * tiles->steps + s + turn * block->steps),
                            block->steps, block);
        }
        passes(block, tokens);
    }
}

/* results = those of rows from their sums, row m on. */
static inline __attribute__((always_inline)) void ulb_finish_code_rows(const struct ulb_code_row *row,
                                                                       const struct ulb_gemm *g, size_t m,
                                                                       size_t tokens,
                                                                       struct ulb_code_block *block)
{
    const float *scales = ulb_row_scales(g, row->layout) + m, *zeros = ulb_row_zeros(g, row->layout) + m;
    for (size_t t = 0; t < tokens; t++) {
        const ulb_floats x_sum = ulb_all_floats(ulb_sum_four(block->x_sums[t]));
        ULB_UNROLL(8)
        for (size_t v = 0; v < ULB_CODE_VECTORS; v++) {
            float *result = &block->results[t][v * ULB_LANES];
            const ulb_floats sum = ulb_settle_nibble(row, v, ulb_load_floats(result));
            const ulb_floats zero = row->zeros ? ulb_load_floats(zeros + v * ULB_LANES)
                                               : ulb_all_floats((float)(1 << (row->bits - 1)));
            ulb_store_floats(result,
                             ulb_mul(ulb_fnma(zero, x_sum, sum), ulb_load_floats(scales + v * ULB_LANES)));
        }
    }
}

/* Rows of the tile from row m on, of tokens [n, n + tokens). */
static inline __attribute__((always_inline)) void
ulb_run_code_block(const struct ulb_code_row *row, const struct ulb_gemm *g, const struct ulb_tiles *tiles,
                   size_t m, size_t n, size_t tokens, ulb_code_passes_fn *passes)
{
    struct ulb_code_block block;
    memset(block.results, 0, tokens * sizeof *block.results);
    block.levels = row->levels ? row->layout->format->block->levels : NULL;
    if (row->group) {
        ulb_add_code_groups(row, g, tiles, n, tokens, passes, &block);
    } else {
        ulb_add_code_rows(row, g, tiles, n, tokens, passes, &block);
        ulb_finish_code_rows(row, g, m, tokens, &block);
    }
    for (size_t t = 0; t < tokens; t++)
        memcpy(g->y + (n + t) * g->y_stride + m, block.results[t],
               ulb_rows_left(g, m, ULB_CODE_ROWS) * sizeof **block.results);
}

/* The rows of a tile, from row m on, of token n alone. */
typedef void ulb_code_tile_fn(const struct ulb_code_row *row, const struct ulb_gemm *g,
                              const struct ulb_tiles *tiles, size_t m, size_t n);

static inline const void *ulb_code_x(const struct ulb_code_row *row, const struct ulb_gemm *g, size_t n)
{
    return (const char *)g->x + n * g->x_stride * ulb_activation_bytes(row->kind);
}

/* All rows: tokens one by one by run_tile, or together by passes; the other is NULL. */
static inline __attribute__((always_inline)) void ulb_run_codes(const struct ulb_code_row *row,
                                                                const struct ulb_gemm *g,
                                                                ulb_code_tile_fn *run_tile,
                                                                ulb_code_passes_fn *passes)
{
    struct ulb_tiles tiles = {.slice_bytes = ulb_layout_slice_bytes(row->layout, g->m, g->k),
                              .steps = ulb_layout_steps(row->layout, g->k),
                              .ask_ahead = g->ask_ahead};
    const size_t tile_bytes = row->group ? row->layout->tile_bytes : row->bits * ULB_VEC_BYTES;
    for (size_t m = g->m0; m < g->m1; m += ULB_CODE_ROWS) {
        tiles.w = (const uint8_t *)g->w + m / ULB_CODE_ROWS * tiles.steps * tile_bytes;
        for (size_t n = 0; n < g->n && run_tile; n++)
            run_tile(row, g, &tiles, m, n);
        for (size_t n = 0; n < g->n && passes; n += ULB_CODE_BLOCK)
            ulb_run_code_block(row, g, &tiles, m, n, g->n - n < ULB_CODE_BLOCK ? g->n - n : ULB_CODE_BLOCK,
                               passes);
    }
}

/* Function passes_<bits> of a file's rows; group_: whether they have groups. Functions, else GCC keeps what
 * the rest needs in registers, and sums in memory. */
#define ULB_CODE_PASSES(bits_, levels_, group_)                                                              \
    static __attribute__((noinline)) void passes_##bits_(struct ulb_code_block *block, size_t tokens)        \
    {                                                                                                        \
        static const struct ulb_code_row row = {.bits = (bits_), .levels = (levels_), .group = (group_)};    \
        ulb_pass_code_chunks(&row, block, tokens);                                                           \
    }

/* Function run_<symbol> of a struct ulb_code_row; run_tile, of a token alone. */
#define ULB_CODE_RUN(symbol, run_tile, bits_, ...)                                                           \
    static const struct ulb_code_row row_##symbol = {.bits = (bits_), __VA_ARGS__};                          \
    static __attribute__((noinline)) void tokens_##symbol(const struct ulb_gemm *g)                          \
    {                                                                                                        \
        ulb_run_codes(&row_##symbol, g, NULL, passes_##bits_);                                               \
    }                                                                                                        \
    static void run_##symbol(const struct ulb_gemm *g)                                                       \
    {                                                                                                        \
        if (ULB_CODE_TILE(row_##symbol.levels) > 1 && g->n >= ULB_CODE_LEAST)                                \
            tokens_##symbol(g);                                                                              \
        else                                                                                                 \
            ulb_run_codes(&row_##symbol, g, run_tile, NULL);                                                 \
    }

/* Instructions per 32 weights of a register tile, apart from packing, which is done once for all rows of a
 * tile. */
#ifdef ULB_DP_512
#define ULB_CODE_VALUES(levels, bits)                                                                        \
    .logic = (levels) ? 0 : ULB_CODE_UNITS, .conversions = (levels) ? 0 : ULB_CODE_UNITS,                    \
    .shifts = (levels) ? ULB_CODE_UNITS * 7 / 8 : ULB_CODE_UNITS * (bits) / 32,                              \
    .permutes = (levels) ? ULB_CODE_UNITS : 0
#else
#define ULB_CODE_VALUES(levels, bits)                                                                        \
    .logic = ULB_CODE_UNITS, .shifts = ULB_CODE_UNITS * 15 / 8, .permutes = 2 * ULB_CODE_UNITS
#endif
#define ULB_CODE_TOKENS_MIX(levels, bits)                                                                    \
    ULB_CODE_VALUES(levels, bits), .loads = ULB_CODE_UNITS * (bits) / 32,                                    \
                                   .broadcasts = ULB_CODE_UNITS / ULB_CODE_PASS_VECTORS * ULB_CODE_TOKENS,   \
                                   .prefetches = (bits) / 8.0, .fmas = ULB_CODE_UNITS * ULB_CODE_TOKENS,     \
                                   .vector_bits = ULB_VEC_BITS, .chains = ULB_CODE_SUMS

#endif
