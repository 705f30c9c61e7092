/* Levels looked up in registers and multiplied in single precision, with activations in single precision or
 * bfloat16 (kernels/x86/gemv/weight_only_lut.h). At 256 bits bytes are looked up: two vpermps of eight
 * entries and a blend are slower. */
#include "kernels/formats/table4/format.h"
#include "kernels/x86/gemm/weight_only.h"

#include <string.h>

#ifdef ULB_DP_512
#define LAYOUT(of) ulb_##of##_plane_128
#else
#define LAYOUT(of) ulb_##of##_plane_64
#endif

enum { NEAR = 1024, COLUMNS = ULB_TABLE4_COLUMNS };

static inline __attribute__((always_inline)) void run_tile(const struct ulb_weight_only_cfg *cfg,
                                                           const struct ulb_gemm *g,
                                                           const struct ulb_tiles *tiles, size_t m, size_t n)
{
    const void *x = ulb_weight_only_x(cfg, g, n);
    const struct ulb_layout *layout = cfg->layout;
    struct ulb_codebook levels = ulb_load_codebook(layout->format->block->levels);
    ulb_floats results[ULB_WEIGHT_ONLY_VECTORS];
    float y[ULB_WEIGHT_ONLY_ROWS];
    ULB_UNROLL(8)
    for (size_t v = 0; v < ULB_WEIGHT_ONLY_VECTORS; v++)
        results[v] = ulb_no_floats();
    for (size_t b = 0; b < ULB_WEIGHT_ONLY_SLICES * tiles->steps; b++) {
        size_t slice = b % ULB_WEIGHT_ONLY_SLICES, s = b / ULB_WEIGHT_ONLY_SLICES;
        const uint8_t *w = tiles->w + slice * tiles->slice_bytes + s * layout->tile_bytes;
        const uint8_t *scales = w + ULB_WEIGHT_ONLY_ROWS * COLUMNS / 2;
        ulb_floats sums[ULB_WEIGHT_ONLY_VECTORS];
        ulb_sum_codebook_columns(cfg->kind, w, x, (slice * tiles->steps + s) * COLUMNS, COLUMNS / 4,
                                 (struct ulb_line_prefetch){NEAR, ulb_prefetch_setting(*tiles->prefetch)},
                                 &levels, sums);
        ULB_UNROLL(8)
        for (size_t v = 0; v < ULB_WEIGHT_ONLY_VECTORS; v++)
            results[v] = ulb_fma(sums[v], ulb_load_floats(scales + v * ULB_VEC_BYTES), results[v]);
    }
    ULB_UNROLL(8)
    for (size_t v = 0; v < ULB_WEIGHT_ONLY_VECTORS; v++)
        ulb_store_floats(y + v * ULB_LANES, results[v]);
    memcpy(g->y + n * g->y_stride + m, y, ulb_rows_left(g, m, ULB_WEIGHT_ONLY_ROWS) * sizeof *y);
}

ULB_WEIGHT_ONLY_PASSES(4, .levels = true, .group = COLUMNS)

#define ROW(of, kind_, symbol)                                                                               \
    ULB_WEIGHT_ONLY_RUN(symbol, run_tile, 4, .layout = &LAYOUT(of), .levels = true, .group = COLUMNS,        \
                        .kind = kind_)                                                                       \
    ULB_KERNEL_VARIANT(symbol) = {                                                                           \
        ULB_WEIGHT_ONLY_FIELDS(symbol, LAYOUT(of), kind_, true),                                             \
        .variant = "lookup",                                                                                 \
        .kr = ULB_WEIGHT_ONLY_SLICES * COLUMNS,                                                              \
        .bytes_per_step = 32.0 * sizeof(struct ulb_table4) / COLUMNS,                                        \
        .tolerance = ULB_ONE_CHAIN_TOLERANCE,                                                                \
        .mix = {ULB_CODEBOOK_COLUMNS_MIX, .vector_bits = ULB_VEC_BITS},                                      \
        .tile_mix = {ULB_WEIGHT_ONLY_TOKENS_MIX(true, 4)},                                                   \
    };
#define SINGLE(of) ROW(of, ULB_ACT_F32, of##_f32)
#define BFLOAT(of) ROW(of, ULB_ACT_BF16, of##_bf16)

ULB_TABLE4(SINGLE)
ULB_TABLE4(BFLOAT)
