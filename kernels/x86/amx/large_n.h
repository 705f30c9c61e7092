/* More than 16 tokens on AMX tiles: 2 x 2 tiles of sums, 32 tokens by 32 rows. A K-block has up to 4096
 * columns, so that sums are neither read nor written in between. Activations of an N-block stay in L2, and so
 * do the weights of the two groups of rows that multiply them. The weights of the next two groups are fetched
 * or masked meanwhile, a few lines a step.
 *
 * Both operands come from L2: four tiles of 16 lines for four products of 16 cycles. Small K-blocks, whose
 * weights would stay in L1, are slower as a whole kernel: sums travel to L2 and back after each of them. The
 * loads of a step begin long before the products of the previous step end, so that few instructions may stand
 * between them. */
#ifndef ULB_KERNELS_X86_AMX_LARGE_N_H
#define ULB_KERNELS_X86_AMX_LARGE_N_H

#include "kernels/x86/amx/common.h"

/* Sums of 16 tokens and two groups of rows, of 16 tokens more when lower; stride: from one token to the next.
 */
static inline void ulb_amx_load_sums(const int32_t *sums, size_t stride, bool lower)
{
    const int32_t *below = sums + ULB_TILE_ROWS * stride;
    __asm__ volatile("tileloadd (%0,%1,1), %%tmm0\n\ttileloadd 64(%0,%1,1), %%tmm1"
                     :
                     : "r"(sums), "r"(stride * sizeof *sums)
                     : "memory");
    if (lower)
        __asm__ volatile("tileloadd (%0,%1,1), %%tmm2\n\ttileloadd 64(%0,%1,1), %%tmm3"
                         :
                         : "r"(below), "r"(stride * sizeof *sums)
                         : "memory");
}

static inline void ulb_amx_store_sums(int32_t *sums, size_t stride, bool lower)
{
    int32_t *below = sums + ULB_TILE_ROWS * stride;
    __asm__ volatile("tilestored %%tmm0, (%0,%1,1)\n\ttilestored %%tmm1, 64(%0,%1,1)"
                     :
                     : "r"(sums), "r"(stride * sizeof *sums)
                     : "memory");
    if (lower)
        __asm__ volatile("tilestored %%tmm2, (%0,%1,1)\n\ttilestored %%tmm3, 64(%0,%1,1)"
                         :
                         : "r"(below), "r"(stride * sizeof *sums)
                         : "memory");
}

/* A unit of work: two groups of 16 rows times a K-block, which is a range of tiles of each slice. */
struct ulb_amx_unit {
    size_t panel;  /* its first row */
    unsigned pair; /* number of its first group */
    size_t tile, tiles;
    const uint8_t *w; /* the panel's packed weights, from that tile of the first slice on */
    bool first, last; /* block of K */
    bool none;        /* there is no such unit */
};

/* The lines of a unit that are made ready, one after the other. */
struct ulb_amx_lines {
    const uint8_t *w; /* the next one, packed */
    uint8_t *out;     /* where it goes masked: [group][slice][tile][line] */
    size_t left;      /* of this slice */
    unsigned pair;
};

/* What a call of many tokens keeps. */
struct ulb_amx_work {
    const struct ulb_gemm *g;
    const struct ulb_amx_weights *weights;
    struct ulb_amx_unit now, next;
    const uint8_t
        *masked; /* masked weights of the current groups, [2][step]; and the buffer of the next groups */
    uint8_t *masked_next;
    size_t blocks, block_tiles;                 /* of K */
    size_t token, tokens;                       /* the block of tokens */
    struct ulb_amx_lines lines[ULB_AMX_SLICES]; /* of next */
    size_t lines_of_step;
    size_t configured; /* tokens that the tiles are configured for; 0: not yet */
    int32_t *sums;     /* [token of the block][row of a panel] */
};

/* Panels of a block of K, pair by pair, then the next block. */
static inline struct ulb_amx_unit ulb_amx_unit_at(const struct ulb_amx_cfg *cfg,
                                                  const struct ulb_amx_work *work, size_t index)
{
    const struct ulb_amx_weights *weights = work->weights;
    const size_t pairs = ulb_amx_groups(cfg) / 2, rows = ulb_amx_groups(cfg) * ULB_TILE_ROWS;
    size_t panels = (work->g->m1 - work->g->m0 + rows - 1) / rows, block = index / (panels * pairs);
    struct ulb_amx_unit unit = {.panel = work->g->m0 + index / pairs % panels * rows,
                                .pair = (unsigned)(index % pairs) * 2,
                                .tile = block * work->block_tiles,
                                .first = block == 0,
                                .last = block + 1 == work->blocks,
                                .none = block == work->blocks};
    size_t left = weights->steps - (unit.none ? weights->steps : unit.tile);
    unit.tiles = left < work->block_tiles ? left : work->block_tiles;
    unit.w = weights->data + unit.panel / rows * weights->panel_bytes + unit.tile * weights->tile_bytes;
    return unit;
}

/* Makes ready some lines of a slice of the next unit. Whole bytes are multiplied where they lie and only
 * fetched, in the order of memory: two lines for each of a group's. */
static inline __attribute__((always_inline)) void ulb_amx_prepare(const struct ulb_amx_cfg *cfg,
                                                                  struct ulb_amx_lines *lines, size_t count)
{
    count = count < lines->left ? count : lines->left;
    for (size_t i = 0; i < count; i++, lines->left--) {
        if (cfg->fields == 1) {
            _mm_prefetch((const char *)lines->w, _MM_HINT_T1);
            _mm_prefetch((const char *)lines->w + ULB_TILE_COLUMNS, _MM_HINT_T1);
            lines->w += 2 * ULB_TILE_COLUMNS;
            continue;
        }
        unsigned mask = ((1u << cfg->bits) - 1) << lines->pair % cfg->fields * cfg->bits;
        ulb_vec packed = ulb_load(lines->w);
        _mm_prefetch((const char *)lines->w + ULB_AMX_NEAR, _MM_HINT_T0);
        ulb_store(lines->out, ulb_and(packed, ulb_all8((int)mask)));
        if (!ulb_amx_is_raw(cfg, lines->pair + 1))
            ulb_store(lines->out + ULB_AMX_GROUP_BYTES, ulb_and(packed, ulb_all8((int)(mask << cfg->bits))));
        lines->w += ULB_TILE_COLUMNS;
        lines->out += ULB_TILE_COLUMNS;
    }
}

/* tmm0-3 += tokens of tmm4 and, where there are more than 16, tmm5, times two groups of rows. */
static inline __attribute__((always_inline)) void
ulb_amx_multiply(const int8_t *x, size_t stride, const uint8_t *a, const uint8_t *b, bool lower)
{
    const size_t line = ULB_TILE_COLUMNS;
    if (lower)
        __asm__ volatile(ULB_AMX_LOAD("a", "line", "tmm6")
                             ULB_AMX_LOAD("x", "stride", "tmm4") /* clang-format off */
                         ULB_AMX_DOT("tmm6", "tmm4", "tmm0")
                         ULB_AMX_LOAD("b", "line", "tmm7") ULB_AMX_DOT("tmm7", "tmm4", "tmm1")
                         ULB_AMX_LOAD("lower", "stride", "tmm5")
                         ULB_AMX_DOT("tmm6", "tmm5", "tmm2") ULB_AMX_DOT("tmm7", "tmm5", "tmm3") /* clang-format on */
                         :
                         : [a] "r"(a), [b] "r"(b), [line] "r"(line), [x] "r"(x),
                           [lower] "r"(x + ULB_TILE_ROWS * stride), [stride] "r"(stride)
                         : "memory");
    else
        __asm__ volatile(ULB_AMX_LOAD("a", "line", "tmm6")
                             ULB_AMX_LOAD("x", "stride", "tmm4") /* clang-format off */
                         ULB_AMX_DOT("tmm6", "tmm4", "tmm0")
                         ULB_AMX_LOAD("b", "line", "tmm7") ULB_AMX_DOT("tmm7", "tmm4", "tmm1") /* clang-format on */
                         :
                         : [a] "r"(a), [b] "r"(b), [line] "r"(line), [x] "r"(x), [stride] "r"(stride)
                         : "memory");
}

/* Storage of a panel's sums until the next K-block: the result itself if it has all rows of the panel. */
struct ulb_amx_sums {
    int32_t *at;
    size_t stride; /* from one token to the next */
};

static inline struct ulb_amx_sums ulb_amx_sums_of(const struct ulb_amx_work *work, unsigned rows)
{
    const struct ulb_gemm *g = work->g;
    if (work->blocks == 1 || work->now.panel + rows > g->m1)
        return (struct ulb_amx_sums){work->sums, rows};
    return (struct ulb_amx_sums){(int32_t *)(void *)(g->y + work->token * g->y_stride + work->now.panel),
                                 g->y_stride};
}

/* Packed weights of a group of a unit. */
static inline const uint8_t *ulb_amx_packed_at(const struct ulb_amx_cfg *cfg,
                                               const struct ulb_amx_weights *weights,
                                               const struct ulb_amx_unit *unit, unsigned group, size_t slice)
{
    return unit->w + slice * weights->slice_bytes + group / cfg->fields * (size_t)ULB_TILE_BYTES;
}

/* The groups of a unit, one slice, for up to 32 tokens; the next unit is made ready meanwhile. */
static inline __attribute__((always_inline)) void
ulb_amx_turn(const struct ulb_amx_cfg *cfg, struct ulb_amx_work *work, size_t slice, size_t token, bool lower)
{
    const struct ulb_gemm *g = work->g;
    const struct ulb_amx_unit *now = &work->now;
    const size_t stride = g->x_stride, tiles = now->tiles, ahead = work->lines_of_step;
    const size_t column = (slice * work->weights->steps + now->tile) * ULB_TILE_COLUMNS;
    const int8_t *x = (const int8_t *)g->x + (work->token + token) * stride + column;
    const uint8_t *a = work->masked + slice * tiles * ULB_TILE_BYTES, *b = a + ULB_AMX_GROUP_BYTES;
    size_t a_step = ULB_TILE_BYTES, b_step = ULB_TILE_BYTES;
    if (cfg->fields == 1) {
        a = ulb_amx_packed_at(cfg, work->weights, now, now->pair, slice);
        a_step = cfg->vectors * ULB_TILE_BYTES;
    }
    if (ulb_amx_is_raw(cfg, now->pair + 1)) {
        b = ulb_amx_packed_at(cfg, work->weights, now, now->pair + 1, slice);
        b_step = cfg->vectors * ULB_TILE_BYTES;
    }
    struct ulb_amx_lines lines = work->lines[slice];
    for (size_t i = 0; i < tiles; i++) {
        ulb_amx_prepare(cfg, &lines, ahead);
        ulb_amx_multiply(x, stride, a, b, lower);
        x += ULB_TILE_COLUMNS;
        a += a_step;
        b += b_step;
    }
    work->lines[slice] = lines;
}

/* Computes a register tile of tokens: loads its sums, multiplies, stores the sums. The last K-block stores
 * results. */
static inline __attribute__((always_inline)) void
ulb_amx_tokens(const struct ulb_amx_cfg *cfg, struct ulb_amx_work *work, size_t token, size_t tokens)
{
    const unsigned groups = ulb_amx_groups(cfg), rows = groups * ULB_TILE_ROWS;
    const bool lower = tokens > ULB_TILE_ROWS;
    struct ulb_amx_sums sums = ulb_amx_sums_of(work, rows);
    int32_t *all = sums.at + token * sums.stride, *own = all + work->now.pair * ULB_TILE_ROWS;
    if (work->now.first)
        ulb_amx_zero();
    else
        ulb_amx_load_sums(own, sums.stride, lower);
    for (size_t slice = 0; slice < ULB_AMX_SLICES; slice++) {
        if (lower)
            ulb_amx_turn(cfg, work, slice, token, true);
        else
            ulb_amx_turn(cfg, work, slice, token, false);
    }
    ulb_amx_store_sums(own, sums.stride, lower);
    for (size_t i = 0; work->now.last && work->now.pair + 2 == groups && i < tokens; i++)
        ulb_amx_epilogue(cfg, work->g, work->weights, work->now.panel, work->token + token + i,
                         all + i * sums.stride, ULB_TILE_ROWS, true);
}

/* Starts to make the next unit ready, and makes the rest of it ready. */
static inline void ulb_amx_begin(const struct ulb_amx_cfg *cfg, struct ulb_amx_work *work)
{
    const struct ulb_amx_unit *next = &work->next;
    size_t bytes = next->tiles * ULB_TILE_BYTES;
    for (size_t slice = 0; slice < ULB_AMX_SLICES; slice++)
        work->lines[slice] =
            (struct ulb_amx_lines){.w = ulb_amx_packed_at(cfg, work->weights, next, next->pair, slice),
                                   .out = work->masked_next + slice * bytes,
                                   .left = next->tiles * ULB_TILE_ROWS,
                                   .pair = next->pair};
}

static inline __attribute__((always_inline)) void ulb_amx_complete(const struct ulb_amx_cfg *cfg,
                                                                   struct ulb_amx_work *work)
{
    for (size_t slice = 0; slice < ULB_AMX_SLICES; slice++)
        ulb_amx_prepare(cfg, &work->lines[slice], work->lines[slice].left);
}

/* A unit for a block of tokens: whole groups of 32, then what is left. */
static inline __attribute__((always_inline)) void ulb_amx_multiply_unit(const struct ulb_amx_cfg *cfg,
                                                                        struct ulb_amx_work *work)
{
    size_t turns = (work->tokens + ULB_AMX_GROUP - 1) / ULB_AMX_GROUP;
    work->lines_of_step = (ULB_TILE_ROWS + turns - 1) / turns;
    for (size_t token = 0; token < work->tokens; token += ULB_AMX_GROUP) {
        size_t left = work->tokens - token, tokens = left < ULB_AMX_GROUP ? left : ULB_AMX_GROUP;
        if (work->configured != tokens)
            ulb_amx_configure(tokens, false);
        work->configured = tokens;
        ulb_amx_tokens(cfg, work, token, tokens);
    }
    ulb_amx_complete(cfg, work);
}

/* Tokens of a block: as equal as groups of 32 allow. */
static inline size_t ulb_amx_tokens_of_block(size_t n, unsigned rows)
{
    size_t most = ULB_AMX_SUMS / rows < ULB_AMX_TOKENS ? ULB_AMX_SUMS / rows : ULB_AMX_TOKENS;
    size_t blocks = (n + most - 1) / most;
    return ulb_round_up((n + blocks - 1) / blocks, ULB_AMX_GROUP);
}

/* masked: room for two units, ULB_AMX_MASKED bytes; NULL for kernels of whole bytes. */
static inline __attribute__((always_inline)) void ulb_amx_many(const struct ulb_amx_cfg *cfg,
                                                               const struct ulb_gemm *g,
                                                               const struct ulb_amx_weights *weights,
                                                               uint8_t *masked)
{
    const unsigned rows = ulb_amx_groups(cfg) * ULB_TILE_ROWS;
    _Alignas(64) int32_t sums[ULB_AMX_SUMS];
    struct ulb_amx_work work = {.g = g, .weights = weights, .sums = sums};
    size_t most = ulb_amx_tokens_of_block(g->n, rows);
    work.blocks = (weights->steps + ULB_AMX_BLOCK_TILES - 1) / ULB_AMX_BLOCK_TILES;
    work.block_tiles = (weights->steps + work.blocks - 1) / work.blocks;
    work.blocks = (weights->steps + work.block_tiles - 1) / work.block_tiles;
    for (work.token = 0; work.token < g->n; work.token += work.tokens) {
        work.tokens = g->n - work.token < most ? g->n - work.token : most;
        work.next = ulb_amx_unit_at(cfg, &work, 0);
        work.masked_next = masked;
        ulb_amx_begin(cfg, &work);
        ulb_amx_complete(cfg, &work);
        for (size_t i = 1; !work.next.none; i++) {
            work.now = work.next;
            work.next = ulb_amx_unit_at(cfg, &work, i);
            work.masked = work.masked_next;
            work.masked_next = masked + i % 2 * (ULB_AMX_MASKED / 2);
            ulb_amx_begin(cfg, &work);
            ulb_amx_multiply_unit(cfg, &work);
        }
    }
    ulb_amx_release();
    _mm_sfence();
}

#endif
