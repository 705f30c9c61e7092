/* Many tokens on tiles (AMX-INT8). Tokens are the rows of the left operand, read from the activations as they
 * lie; 16 rows of weights are the columns of the right one, whose lines are those of kernels/tiles.h; the
 * sums are then 16 neighbouring results of each token. tdpbsud takes the weights as unsigned bytes, so that a
 * field may stay where it is in its byte (see int2/mask.h): all fields but the last are masked once for
 * all tokens, into a small buffer; the last is the packed byte itself.
 *
 * Up to 16 tokens: weights are read once and memory is what limits. Four groups of 16 rows at a time over all
 * of K, two slices of K as two address streams; the next tile is masked while this one is multiplied.
 *
 * More tokens: 2 x 2 accumulator tiles, 32 tokens by 32 rows. A panel of rows goes through K in blocks of 512
 * columns, whose weights stay in L1; sums wait in a buffer between blocks. The next block is masked in
 * portions, between the products of this one, so that its stores are long done when tiles are loaded from
 * them. Tokens go in blocks, whose activations stay in L2.
 *
 * A tile instruction multiplies 16 x 64 by 64 x 16 bytes in 16 cycles; 2 x 2 tiles load 4 tiles (64 lines, 32
 * cycles on two ports) for 4 of these. Not yet timed: no machine with AMX at hand. */
#ifndef ULB_KERNELS_X86_AMX_H
#define ULB_KERNELS_X86_AMX_H

#include "common/mem.h"
#include "kernels/row.h"
#include "kernels/tiles.h"
#include "kernels/x86/tile_config.h"
#include "kernels/x86/vec.h"
#include "kernels/x86/vnni.h"

enum {
    ULB_AMX_SLICES = 2,                /* of the layouts: address streams */
    ULB_AMX_GROUP = 2 * ULB_TILE_ROWS, /* tokens of 2 x 2 tiles */
    ULB_AMX_BLOCK_TILES = 8,           /* of 64 columns: a block of K */
    ULB_AMX_SUMS = 64 * 256,           /* most tokens of a block of tokens times rows of a panel: 64 KiB */
    ULB_AMX_FIELD_BYTES = 2 * ULB_AMX_BLOCK_TILES * ULB_TILE_BYTES, /* masked: this block and the next */
    ULB_AMX_ROWS_MAX = 128,
    ULB_AMX_VECTORS_MAX = ULB_AMX_ROWS_MAX / ULB_LANES,
    ULB_AMX_NEAR = 2048,       /* bytes ahead, in a stream, of the prefetch into L1 */
    ULB_AMX_MEMORY_BOUND = 128 /* tokens up to which reading weights takes longer than multiplying */
};

/* Compile-time constants of a row. */
struct ulb_amx {
    const struct ulb_layout *layout;
    unsigned vectors; /* of packed weights side by side in a panel */
    unsigned fields;  /* of a byte */
    unsigned bits;    /* of a field */
    int32_t zero_point;
    void (*combine)(ulb_vec *sums); /* sums of fields at their places -> of each group of 16 rows */
};

static inline __attribute__((always_inline)) unsigned ulb_amx_groups(const struct ulb_amx *row)
{
    return row->vectors * row->fields;
}

/* Where the weights of one call lie. */
struct ulb_amx_weights {
    const uint8_t *data;
    size_t tile_bytes; /* from 64 columns of a panel to the next */
    size_t steps;      /* tiles of a slice */
    size_t panel_bytes, slice_bytes;
    const float *scale;
};

static inline struct ulb_amx_weights ulb_amx_weights_of(const struct ulb_amx *row, const struct ulb_gemm *g)
{
    struct ulb_amx_weights w = {.data = g->w,
                                .tile_bytes = (size_t)row->vectors * ULB_TILE_BYTES,
                                .steps = ulb_layout_steps(row->layout, g->k),
                                .slice_bytes = ulb_layout_slice_bytes(row->layout, g->m, g->k),
                                .scale = ulb_row_scales(g, row->layout)};
    w.panel_bytes = w.steps * w.tile_bytes;
    return w;
}

/* --- tiles --- */

/* Statements are volatile and name memory: compilers do not know the tiles. Sums are tmm0-3, tokens tmm4 and
 * tmm5, weights tmm6 and tmm7. */
#define ULB_AMX_LOAD(at, stride, tile)     "tileloadd (%[" at "],%[" stride "],1), %%" tile "\n\t"
#define ULB_AMX_DOT(weights, tokens, sums) "tdpbsud %%" weights ", %%" tokens ", %%" sums "\n\t"

/* Sums of 16 tokens and two groups of rows, of 16 tokens more when lower. */
static inline void ulb_amx_load_sums(const int32_t *sums, bool lower)
{
    const size_t line = ULB_TILE_COLUMNS;
    const int32_t *second = sums + ULB_TILE_BYTES / 2;
    __asm__ volatile(ULB_AMX_LOAD("first", "line", "tmm0") ULB_AMX_LOAD("second", "line", "tmm1")
                     :
                     : [first] "r"(sums), [second] "r"(second), [line] "r"(line)
                     : "memory");
    if (lower)
        __asm__ volatile(ULB_AMX_LOAD("first", "line", "tmm2") ULB_AMX_LOAD("second", "line", "tmm3")
                         :
                         : [first] "r"(sums + ULB_TILE_BYTES / 4), [second] "r"(second + ULB_TILE_BYTES / 4),
                           [line] "r"(line)
                         : "memory");
}

static inline void ulb_amx_store_sums(int32_t *sums, bool lower)
{
    const size_t line = ULB_TILE_COLUMNS;
    int32_t *second = sums + ULB_TILE_BYTES / 2;
    __asm__ volatile("tilestored %%tmm0, (%0,%2,1)\n\ttilestored %%tmm1, (%1,%2,1)"
                     :
                     : "r"(sums), "r"(second), "r"(line)
                     : "memory");
    if (lower)
        __asm__ volatile("tilestored %%tmm2, (%0,%2,1)\n\ttilestored %%tmm3, (%1,%2,1)"
                         :
                         : "r"(sums + ULB_TILE_BYTES / 4), "r"(second + ULB_TILE_BYTES / 4), "r"(line)
                         : "memory");
}

/* --- fields --- */

/* Whether a group of 16 rows is the last field of its bytes, multiplied as it is packed. */
static inline __attribute__((always_inline)) bool ulb_amx_is_raw(const struct ulb_amx *row, unsigned group)
{
    return group % row->fields == row->fields - 1;
}

/* Number of a masked group among the masked ones. */
static inline __attribute__((always_inline)) unsigned ulb_amx_masked(const struct ulb_amx *row,
                                                                     unsigned group)
{
    return group / row->fields * (row->fields - 1) + group % row->fields;
}

/* Masks one line of the groups [begin, end) of the packed tiles at tile; out: the line of the first masked
 * group of these, others a distance apart. Rows of whole bytes have nothing to mask. */
static inline __attribute__((always_inline)) void ulb_amx_mask_line(const struct ulb_amx *row, unsigned begin,
                                                                    unsigned end, const uint8_t *tile,
                                                                    uint8_t *out, size_t distance)
{
    ulb_vec packed = ulb_zero();
#pragma GCC unroll 8
    for (unsigned group = begin; group < end; group++) {
        if (ulb_amx_is_raw(row, group))
            continue;
        unsigned field = group % row->fields, mask = ((1u << row->bits) - 1) << field * row->bits;
        if (field == 0 || group == begin)
            packed = ulb_load(tile + group / row->fields * ULB_TILE_BYTES);
        size_t at = ulb_amx_masked(row, group) - ulb_amx_masked(row, begin);
        ulb_store(out + at * distance, ulb_and(packed, ulb_all8((int)mask)));
    }
}

/* --- results --- */

/* Results of one token: sums of its groups, each a distance from the next. */
static inline __attribute__((always_inline)) void
ulb_amx_finish(const struct ulb_amx *row, const struct ulb_gemm *g, const struct ulb_amx_weights *weights,
               size_t panel, size_t token, const int32_t *from, size_t distance)
{
    const unsigned groups = ulb_amx_groups(row);
    ulb_vec sums[ULB_AMX_VECTORS_MAX];
    int32_t dots[ULB_AMX_ROWS_MAX];
#pragma GCC unroll 8
    for (unsigned group = 0; group < groups; group++)
        sums[group] = ulb_load(from + group * distance);
    row->combine(sums);
    ulb_store_all(dots, sums, (int)groups);
    ulb_finish_tile(g, weights->scale, panel, (size_t)groups * ULB_TILE_ROWS, token, dots, row->zero_point);
}

/* --- up to 16 tokens --- */

enum { ULB_AMX_QUAD = 4, ULB_AMX_QUAD_BYTES = ULB_AMX_QUAD * ULB_TILE_BYTES };

/* tmm0-3 += 64 columns of four groups of rows. */
static inline void ulb_amx_multiply_quad(const int8_t *x, size_t stride, const uint8_t *const w[ULB_AMX_QUAD])
{
    const size_t line = ULB_TILE_COLUMNS;
    __asm__ volatile(ULB_AMX_LOAD("x", "stride", "tmm4") /* clang-format off */
                     ULB_AMX_LOAD("w0", "line", "tmm6") ULB_AMX_DOT("tmm6", "tmm4", "tmm0")
                     ULB_AMX_LOAD("w1", "line", "tmm7") ULB_AMX_DOT("tmm7", "tmm4", "tmm1")
                     ULB_AMX_LOAD("w2", "line", "tmm6") ULB_AMX_DOT("tmm6", "tmm4", "tmm2")
                     ULB_AMX_LOAD("w3", "line", "tmm7") ULB_AMX_DOT("tmm7", "tmm4", "tmm3") /* clang-format on */
                     :
                     : [x] "r"(x), [stride] "r"(stride), [line] "r"(line), [w0] "r"(w[0]), [w1] "r"(w[1]),
                       [w2] "r"(w[2]), [w3] "r"(w[3])
                     : "memory");
}

/* Packed weights of a step of the walk, slices in turn. */
static inline const uint8_t *ulb_amx_tile_at(const struct ulb_amx_weights *weights, const uint8_t *panel,
                                             size_t step)
{
    return panel + step % ULB_AMX_SLICES * weights->slice_bytes + step / ULB_AMX_SLICES * weights->tile_bytes;
}

static inline __attribute__((always_inline)) void ulb_amx_mask_quad(const struct ulb_amx *row, unsigned first,
                                                                    const uint8_t *tile, uint8_t *out)
{
    for (size_t line = 0; line < ULB_TILE_BYTES; line += ULB_TILE_COLUMNS) {
        for (unsigned vector = first / row->fields; vector * row->fields < first + ULB_AMX_QUAD; vector++)
            _mm_prefetch((const char *)tile + vector * ULB_TILE_BYTES + line + ULB_AMX_NEAR, _MM_HINT_T0);
        ulb_amx_mask_line(row, first, first + ULB_AMX_QUAD, tile + line, out + line, ULB_TILE_BYTES);
    }
}

/* Sums of all tokens and four groups of rows from first on. */
static inline __attribute__((always_inline)) void
ulb_amx_quad(const struct ulb_amx *row, const struct ulb_gemm *g, const struct ulb_amx_weights *weights,
             const uint8_t *panel, unsigned first, int32_t *sums)
{
    _Alignas(64) uint8_t masked[2][ULB_AMX_QUAD_BYTES];
    ulb_amx_zero();
    ulb_amx_mask_quad(row, first, ulb_amx_tile_at(weights, panel, 0), masked[0]);
    for (size_t step = 0; step < ULB_AMX_SLICES * weights->steps; step++) {
        const uint8_t *tile = ulb_amx_tile_at(weights, panel, step), *w[ULB_AMX_QUAD];
        size_t column = (step % ULB_AMX_SLICES * weights->steps + step / ULB_AMX_SLICES) * ULB_TILE_COLUMNS;
        if (step + 1 < ULB_AMX_SLICES * weights->steps)
            ulb_amx_mask_quad(row, first, ulb_amx_tile_at(weights, panel, step + 1), masked[(step + 1) % 2]);
#pragma GCC unroll 4
        for (unsigned i = 0; i < ULB_AMX_QUAD; i++) {
            size_t at = ulb_amx_masked(row, first + i) - ulb_amx_masked(row, first);
            w[i] = ulb_amx_is_raw(row, first + i) ? tile + (first + i) / row->fields * ULB_TILE_BYTES
                                                  : masked[step % 2] + at * ULB_TILE_BYTES;
        }
        ulb_amx_multiply_quad((const int8_t *)g->x + column, g->x_stride, w);
    }
    __asm__ volatile("tilestored %%tmm0, (%0,%1,1)\n\ttilestored %%tmm1, 1024(%0,%1,1)\n\t"
                     "tilestored %%tmm2, 2048(%0,%1,1)\n\ttilestored %%tmm3, 3072(%0,%1,1)"
                     :
                     : "r"(sums), "r"((size_t)ULB_TILE_COLUMNS)
                     : "memory");
}

static inline __attribute__((always_inline)) void
ulb_amx_few(const struct ulb_amx *row, const struct ulb_gemm *g, const struct ulb_amx_weights *weights)
{
    const unsigned groups = ulb_amx_groups(row), rows = groups * ULB_TILE_ROWS;
    _Alignas(64) int32_t sums[ULB_AMX_VECTORS_MAX * ULB_TILE_BYTES / 4];
    ulb_amx_configure(g->n, true);
    for (size_t panel = g->m0; panel < g->m1; panel += rows) {
        const uint8_t *w = weights->data + panel / rows * weights->panel_bytes;
#pragma GCC unroll 2
        for (unsigned first = 0; first < groups; first += ULB_AMX_QUAD)
            ulb_amx_quad(row, g, weights, w, first, sums + first * (ULB_TILE_BYTES / 4));
        for (size_t token = 0; token < g->n; token++)
            ulb_amx_finish(row, g, weights, panel, token, sums + token * ULB_TILE_ROWS, ULB_TILE_BYTES / 4);
    }
    ulb_amx_release();
}

/* --- more tokens --- */

/* Up to 512 columns of one panel. */
struct ulb_amx_block {
    size_t panel;     /* its first row */
    const uint8_t *w; /* packed */
    size_t column;
    size_t tiles;     /* of 64 columns; 0: there is no such block */
    bool first, last; /* of the panel */
};

/* Blocks of a call, panel after panel. */
static inline struct ulb_amx_block
ulb_amx_block_at(const struct ulb_gemm *g, const struct ulb_amx_weights *weights, unsigned rows, size_t index)
{
    size_t per_slice = (weights->steps + ULB_AMX_BLOCK_TILES - 1) / ULB_AMX_BLOCK_TILES;
    size_t per_panel = ULB_AMX_SLICES * per_slice, within = index % per_panel;
    size_t slice = within / per_slice, tile = within % per_slice * ULB_AMX_BLOCK_TILES;
    size_t left = weights->steps - tile;
    struct ulb_amx_block block = {.panel = g->m0 + index / per_panel * rows,
                                  .column = (slice * weights->steps + tile) * ULB_TILE_COLUMNS,
                                  .first = within == 0,
                                  .last = within + 1 == per_panel};
    block.w = weights->data + slice * weights->slice_bytes + block.panel / rows * weights->panel_bytes +
              tile * weights->tile_bytes;
    if (block.panel < g->m1)
        block.tiles = left < ULB_AMX_BLOCK_TILES ? left : ULB_AMX_BLOCK_TILES;
    return block;
}

/* Makes ready lines [begin, end) of a block: masks their fields into masked, [field][tile][line]. Whole bytes
 * are multiplied where they lie and only fetched, where that is what takes the time. */
static inline __attribute__((always_inline)) void ulb_amx_prepare(const struct ulb_amx *row,
                                                                  const struct ulb_amx_block *block,
                                                                  size_t begin, size_t end, size_t tokens,
                                                                  uint8_t *masked)
{
    const size_t tile_bytes = (size_t)row->vectors * ULB_TILE_BYTES;
    if (row->fields == 1 && tokens > ULB_AMX_MEMORY_BOUND)
        return;
    for (size_t i = begin; i < end; i++) {
        size_t line = i % ULB_TILE_ROWS * ULB_TILE_COLUMNS;
        const uint8_t *w = block->w + i / ULB_TILE_ROWS * tile_bytes + line;
#pragma GCC unroll 4
        for (unsigned vector = 0; vector < row->vectors; vector++) {
            if (row->fields == 1)
                _mm_prefetch((const char *)w + vector * ULB_TILE_BYTES, _MM_HINT_T1);
            else
                _mm_prefetch((const char *)w + vector * ULB_TILE_BYTES + ULB_AMX_NEAR, _MM_HINT_T0);
        }
        ulb_amx_mask_line(row, 0, ulb_amx_groups(row), w, masked + i / ULB_TILE_ROWS * ULB_TILE_BYTES + line,
                          ULB_AMX_BLOCK_TILES * ULB_TILE_BYTES);
    }
}

/* Tiles of one group of rows: masked, or as they are packed. */
struct ulb_amx_operand {
    const uint8_t *w;
    size_t step; /* bytes to the next 64 columns */
};

static inline __attribute__((always_inline)) struct ulb_amx_operand
ulb_amx_operand_of(const struct ulb_amx *row, const struct ulb_amx_block *block, const uint8_t *masked,
                   unsigned group)
{
    if (ulb_amx_is_raw(row, group))
        return (struct ulb_amx_operand){block->w + group / row->fields * ULB_TILE_BYTES,
                                        (size_t)row->vectors * ULB_TILE_BYTES};
    return (struct ulb_amx_operand){
        masked + ulb_amx_masked(row, group) * (size_t)(ULB_AMX_BLOCK_TILES * ULB_TILE_BYTES), ULB_TILE_BYTES};
}

/* tmm0-3 += tokens of tmm4 and tmm5 times two groups of rows. */
static inline void ulb_amx_multiply_square(const int8_t *x, size_t stride, struct ulb_amx_operand a,
                                           struct ulb_amx_operand b, size_t tiles)
{
    const size_t line = ULB_TILE_COLUMNS;
    const int8_t *lower = x + ULB_TILE_ROWS * stride;
    for (size_t i = 0; i < tiles; i++) {
        __asm__ volatile(ULB_AMX_LOAD("a", "line", "tmm6")
                             ULB_AMX_LOAD("x", "stride", "tmm4") /* clang-format off */
                         ULB_AMX_DOT("tmm6", "tmm4", "tmm0")
                         ULB_AMX_LOAD("b", "line", "tmm7") ULB_AMX_DOT("tmm7", "tmm4", "tmm1")
                         ULB_AMX_LOAD("lower", "stride", "tmm5")
                         ULB_AMX_DOT("tmm6", "tmm5", "tmm2") ULB_AMX_DOT("tmm7", "tmm5", "tmm3") /* clang-format on */
                         :
                         : [a] "r"(a.w + i * a.step), [b] "r"(b.w + i * b.step), [line] "r"(line),
                           [x] "r"(x + i * ULB_TILE_COLUMNS), [lower] "r"(lower + i * ULB_TILE_COLUMNS),
                           [stride] "r"(stride)
                         : "memory");
    }
}

/* The same for tokens of tmm4 alone. */
static inline void ulb_amx_multiply_strip(const int8_t *x, size_t stride, struct ulb_amx_operand a,
                                          struct ulb_amx_operand b, size_t tiles)
{
    const size_t line = ULB_TILE_COLUMNS;
    for (size_t i = 0; i < tiles; i++) {
        __asm__ volatile(ULB_AMX_LOAD("a", "line", "tmm6")
                             ULB_AMX_LOAD("x", "stride", "tmm4") /* clang-format off */
                         ULB_AMX_DOT("tmm6", "tmm4", "tmm0")
                         ULB_AMX_LOAD("b", "line", "tmm7") ULB_AMX_DOT("tmm7", "tmm4", "tmm1") /* clang-format on */
                         :
                         : [a] "r"(a.w + i * a.step), [b] "r"(b.w + i * b.step), [line] "r"(line),
                           [x] "r"(x + i * ULB_TILE_COLUMNS), [stride] "r"(stride)
                         : "memory");
    }
}

/* What the products of one block need. sums: [32 tokens][group of rows][16 tokens][16 tokens x 16 rows]. */
struct ulb_amx_work {
    const struct ulb_gemm *g;
    const struct ulb_amx_weights *weights;
    struct ulb_amx_block now, next;
    const uint8_t *masked; /* fields of now */
    uint8_t *masked_next;  /* where those of next go */
    int32_t *sums;
    size_t token, tokens; /* the block of tokens */
    size_t turn, turns;   /* portions of next that are ready, of how many */
    size_t configured;    /* tokens that the tiles are configured for; 0: not yet */
};

/* 32 tokens (or what is left) times two groups of rows; their results, when nothing is to be added any more;
 * then a portion of the next block. */
static inline __attribute__((always_inline)) void
ulb_amx_turn(const struct ulb_amx *row, struct ulb_amx_work *work, size_t token, size_t tokens, unsigned pair)
{
    const struct ulb_gemm *g = work->g;
    const unsigned groups = ulb_amx_groups(row);
    const bool lower = tokens > ULB_TILE_ROWS;
    const int8_t *x = (const int8_t *)g->x + (work->token + token) * g->x_stride + work->now.column;
    struct ulb_amx_operand a = ulb_amx_operand_of(row, &work->now, work->masked, pair);
    struct ulb_amx_operand b = ulb_amx_operand_of(row, &work->now, work->masked, pair + 1);
    int32_t *sums = work->sums + token * groups * ULB_TILE_ROWS;
    int32_t *own = sums + pair * (ULB_TILE_BYTES / 2);
    if (work->now.first)
        ulb_amx_zero();
    else
        ulb_amx_load_sums(own, lower);
    if (lower)
        ulb_amx_multiply_square(x, g->x_stride, a, b, work->now.tiles);
    else
        ulb_amx_multiply_strip(x, g->x_stride, a, b, work->now.tiles);
    ulb_amx_store_sums(own, lower);
    for (size_t i = 0; work->now.last && pair + 2 == groups && i < tokens; i++)
        ulb_amx_finish(row, g, work->weights, work->now.panel, work->token + token + i,
                       sums + i / ULB_TILE_ROWS * (ULB_TILE_BYTES / 4) + i % ULB_TILE_ROWS * ULB_TILE_ROWS,
                       ULB_TILE_BYTES / 2);
    size_t lines = work->next.tiles * ULB_TILE_ROWS, ready = work->turn++ * lines / work->turns;
    ulb_amx_prepare(row, &work->next, ready, work->turn * lines / work->turns, work->tokens,
                    work->masked_next);
}

/* A block of weights for a block of tokens: whole groups of 32 tokens, then what is left; within, rows
 * outside, so that their weights stay in L1. */
static inline __attribute__((always_inline)) void ulb_amx_multiply_block(const struct ulb_amx *row,
                                                                         struct ulb_amx_work *work)
{
    const unsigned groups = ulb_amx_groups(row);
    size_t whole = work->tokens / ULB_AMX_GROUP * ULB_AMX_GROUP, left = work->tokens - whole;
    work->turn = 0;
    work->turns = (work->tokens + ULB_AMX_GROUP - 1) / ULB_AMX_GROUP * groups / 2;
    for (size_t begin = 0; begin < work->tokens; begin = begin < whole ? whole : work->tokens) {
        size_t end = begin < whole ? whole : work->tokens, each = begin < whole ? ULB_AMX_GROUP : left;
        if (work->configured != each)
            ulb_amx_configure(each, false);
        work->configured = each;
        for (unsigned pair = 0; pair < groups; pair += 2) {
            for (size_t token = begin; token < end; token += ULB_AMX_GROUP)
                ulb_amx_turn(row, work, token, each, pair);
        }
    }
}

/* Tokens of a block: as equal as groups of 32 allow. */
static inline size_t ulb_amx_tokens_of_block(size_t n, unsigned rows)
{
    size_t most = ULB_AMX_SUMS / rows, blocks = (n + most - 1) / most;
    return ulb_round_up((n + blocks - 1) / blocks, ULB_AMX_GROUP);
}

static inline __attribute__((always_inline)) void ulb_amx_many(const struct ulb_amx *row,
                                                               const struct ulb_gemm *g,
                                                               const struct ulb_amx_weights *weights,
                                                               uint8_t *masked, size_t masked_bytes)
{
    const unsigned rows = ulb_amx_groups(row) * ULB_TILE_ROWS;
    _Alignas(64) int32_t sums[ULB_AMX_SUMS];
    struct ulb_amx_work work = {.g = g, .weights = weights, .sums = sums};
    size_t most = ulb_amx_tokens_of_block(g->n, rows);
    for (work.token = 0; work.token < g->n; work.token += work.tokens) {
        work.tokens = g->n - work.token < most ? g->n - work.token : most;
        work.next = ulb_amx_block_at(g, weights, rows, 0);
        ulb_amx_prepare(row, &work.next, 0, work.next.tiles * ULB_TILE_ROWS, work.tokens, masked);
        for (size_t i = 0; work.next.tiles > 0; i++) {
            work.now = work.next;
            work.next = ulb_amx_block_at(g, weights, rows, i + 1);
            work.masked = masked + i % 2 * masked_bytes;
            work.masked_next = masked + (i + 1) % 2 * masked_bytes;
            ulb_amx_multiply_block(row, &work);
        }
    }
    ulb_amx_release();
}

/* --- a whole call --- */

/* masked: room for the masked fields of two blocks, ULB_AMX_FIELD_BYTES each field of a panel. */
static inline __attribute__((always_inline)) void
ulb_run_amx(const struct ulb_amx *row, const struct ulb_gemm *g, uint8_t *masked, size_t masked_bytes)
{
    struct ulb_amx_weights weights = ulb_amx_weights_of(row, g);
    if (g->n <= ULB_TILE_ROWS)
        ulb_amx_few(row, g, &weights);
    else
        ulb_amx_many(row, g, &weights, masked, masked_bytes / 2);
}

#endif
