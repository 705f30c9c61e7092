/* What kernels whose weights tile instructions multiply (kernels/x86/amx/amx.h) have in common: where weights
 * lie, the masks of their fields, and the results. */
#ifndef ULB_KERNELS_X86_AMX_COMMON_H
#define ULB_KERNELS_X86_AMX_COMMON_H

#include "common/mem.h"
#include "kernels/microkernel.h"
#include "kernels/pack/amx_tile.h"
#include "kernels/x86/simd/amx_tiles.h"
#include "kernels/x86/simd/dot.h"

enum {
    ULB_AMX_SLICES = 2,                /* of the layouts: address streams */
    ULB_AMX_GROUP = 2 * ULB_TILE_ROWS, /* tokens of 2 x 2 tiles */
    ULB_AMX_BLOCK_TILES = 32,          /* of 64 columns, of each slice: a block of K */
    ULB_AMX_TOKENS = 256,              /* of a block of tokens: 1 MiB of activations of a block of K */
    ULB_AMX_SUMS = 64 * 256,           /* most tokens of a block of tokens times rows of a panel: 64 KiB */
    ULB_AMX_GROUP_BYTES = ULB_AMX_SLICES * ULB_AMX_BLOCK_TILES * ULB_TILE_BYTES, /* 16 rows of a block */
    ULB_AMX_MASKED = 2 * 2 * ULB_AMX_GROUP_BYTES, /* two groups of this unit and of the next */
    ULB_AMX_ROWS_MAX = 128,
    ULB_AMX_VECTORS_MAX = ULB_AMX_ROWS_MAX / ULB_LANES,
    ULB_AMX_NEAR = 1536, /* bytes ahead, in a stream, of the prefetch into L1 */
    ULB_AMX_FAR = 2560   /* and into L2 */
};

/* Compile-time constants of a kernel. */
struct ulb_amx_cfg {
    const struct ulb_layout *layout;
    unsigned vectors; /* of packed weights side by side in a panel */
    unsigned fields;  /* of a byte */
    unsigned bits;    /* of a field */
    int32_t zero_point;
    void (*separate)(ulb_vec *sums); /* sums of fields at their places -> of each group of 16 rows */
};

static inline __attribute__((always_inline)) unsigned ulb_amx_groups(const struct ulb_amx_cfg *cfg)
{
    return cfg->vectors * cfg->fields;
}

/* Addresses of the weights of one call. */
struct ulb_amx_weights {
    const uint8_t *data;
    size_t tile_bytes; /* from 64 columns of a panel to the next */
    size_t steps;      /* tiles of a slice */
    size_t panel_bytes, slice_bytes;
    const float *scale;
};

static inline struct ulb_amx_weights ulb_amx_weights_of(const struct ulb_amx_cfg *cfg,
                                                        const struct ulb_gemm *g)
{
    struct ulb_amx_weights w = {.data = g->w,
                                .tile_bytes = (size_t)cfg->vectors * ULB_TILE_BYTES,
                                .steps = ulb_layout_steps(cfg->layout, g->k),
                                .slice_bytes = ulb_layout_slice_bytes(cfg->layout, g->m, g->k),
                                .scale = ulb_row_scales(g, cfg->layout)};
    w.panel_bytes = w.steps * w.tile_bytes;
    return w;
}

/* Statements are volatile and name memory: compilers do not know the tiles. Sums are tmm0-3, tokens tmm4 and
 * tmm5, weights tmm6 and tmm7. */
#define ULB_AMX_LOAD(at, stride, tile)     "tileloadd (%[" at "],%[" stride "],1), %%" tile "\n\t"
#define ULB_AMX_DOT(weights, tokens, sums) "tdpbsud %%" weights ", %%" tokens ", %%" sums "\n\t"

/* Whether a group of 16 rows is the last field of its bytes, multiplied as it is packed. */
static inline __attribute__((always_inline)) bool ulb_amx_is_raw(const struct ulb_amx_cfg *cfg,
                                                                 unsigned group)
{
    return group % cfg->fields == cfg->fields - 1;
}

/* Number of a masked group among the masked ones. */
static inline __attribute__((always_inline)) unsigned ulb_amx_masked(const struct ulb_amx_cfg *cfg,
                                                                     unsigned group)
{
    return group / cfg->fields * (cfg->fields - 1) + group % cfg->fields;
}

/* Masks one line of the groups [begin, end) of the packed tiles at tile. out: the line of the first masked
 * group; the lines of the next groups are `distance` apart. Kernels of whole bytes have nothing to mask. */
static inline __attribute__((always_inline)) void ulb_amx_mask_line(const struct ulb_amx_cfg *cfg,
                                                                    unsigned begin, unsigned end,
                                                                    const uint8_t *tile, uint8_t *out,
                                                                    size_t distance)
{
    ulb_vec packed = ulb_zero();
    ULB_UNROLL(8)
    for (unsigned group = begin; group < end; group++) {
        if (ulb_amx_is_raw(cfg, group))
            continue;
        unsigned field = group % cfg->fields, mask = ((1u << cfg->bits) - 1) << field * cfg->bits;
        if (field == 0 || group == begin)
            packed = ulb_load(tile + group / cfg->fields * ULB_TILE_BYTES);
        size_t at = ulb_amx_masked(cfg, group) - ulb_amx_masked(cfg, begin);
        ulb_store(out + at * distance, ulb_and(packed, ulb_all8((int)mask)));
    }
}

/* Results of one token from the sums of its groups, `distance` apart. stream: non-temporal stores if whole
 * lines are written, because fetching the lines first takes time. */
static inline __attribute__((always_inline)) void
ulb_amx_epilogue(const struct ulb_amx_cfg *cfg, const struct ulb_gemm *g,
                 const struct ulb_amx_weights *weights, size_t panel, size_t token, const int32_t *from,
                 size_t distance, bool stream)
{
    const unsigned groups = ulb_amx_groups(cfg), rows = groups * ULB_TILE_ROWS;
    ulb_vec sums[ULB_AMX_VECTORS_MAX];
    int32_t dots[ULB_AMX_ROWS_MAX];
    float *y = g->y + token * g->y_stride + panel;
    ULB_UNROLL(8)
    for (unsigned group = 0; group < groups; group++)
        sums[group] = ulb_load(from + group * distance);
    cfg->separate(sums);
    if (panel + rows > g->m1) {
        ulb_store_all(dots, sums, (int)groups);
        ulb_epilogue_tile(g, weights->scale, panel, rows, token, dots, cfg->zero_point);
        return;
    }
    stream = stream && (uintptr_t)y % ULB_CACHE_LINE == 0;
    ulb_vec correction = ulb_all32((int32_t)((uint32_t)cfg->zero_point * (uint32_t)g->x_sum[token]));
    __m512 x_scale = _mm512_set1_ps(g->x_scale[token]);
    ULB_UNROLL(8)
    for (unsigned group = 0; group < groups; group++) {
        __m512 w_scale = _mm512_loadu_ps(weights->scale + panel + group * ULB_TILE_ROWS);
        __m512 dot = _mm512_cvtepi32_ps(ulb_sub32(sums[group], correction));
        __m512 result = _mm512_mul_ps(_mm512_mul_ps(dot, w_scale), x_scale);
        if (stream)
            _mm512_stream_ps(y + group * ULB_TILE_ROWS, result);
        else
            _mm512_storeu_ps(y + group * ULB_TILE_ROWS, result);
    }
}

#endif
