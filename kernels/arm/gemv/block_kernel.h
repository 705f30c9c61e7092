/* Defines a kernel of a repacked block format (kernels/pack/block_interleave.h). Sums are integers inside a
 * group, exact, and single precision across groups and blocks. A file includes this header at its end. The
 * file defines these constants:
 *   LAYOUT          prefix of its sdot layouts.
 *   FIELDS          of a byte, 1 or 2.
 *   COLUMNS, GROUP  columns of a block and of a group.
 *   ZERO_POINT      of the codes.
 *   GROUPS          0 or 1: groups have byte scales and minima.
 *   ACTIVATION, BYTES_PER_STEP.
 *
 * 4-bit codes are stored ^ 0x80, as in kernels/arm/gemv/fields.h. With zero point eight the high nibble is
 * then signed. The offset of the whole byte's sum is exactly its zero point:
 * `16 (S_high - 8 sum(x)) = raw - D_low`.
 * Sums of a group are below 2^24, so that single precision holds them. Minima: a sum of 32 activations is 64
 * * high + low, both int8, so that four groups of a row are one dot product each. Registers: eight sums of a
 * group, eight results, with groups 8 sums of a block. Two alternating slices of K are two address streams.
 * Passes are as in kernels/arm/gemv/k_slices.h. */
#ifndef ULB_KERNELS_ARM_GEMV_BLOCK_KERNEL_H
#define ULB_KERNELS_ARM_GEMV_BLOCK_KERNEL_H

/* X(n, v, f): vector of rows n is field f of vector of bytes v. */
#if FIELDS == 1
#define ROW_VECTORS(X) X(0, 0, 0) X(1, 1, 0) X(2, 2, 0) X(3, 3, 0) X(4, 4, 0) X(5, 5, 0) X(6, 6, 0) X(7, 7, 0)
#else
#define ROW_VECTORS(X) X(0, 0, 0) X(1, 0, 1) X(2, 1, 0) X(3, 1, 1) X(4, 2, 0) X(5, 2, 1) X(6, 3, 0) X(7, 3, 1)
#endif

#include "kernels/arm/gemv/k_slices.h"
#include "kernels/gguf_block.h"
#include "kernels/group_sums.h"

enum {
    ROWS = ULB_BY_ISA(ULB_SDOT_ROWS_SHORT, ULB_SDOT_ROWS_LONG),
    LANES = ROWS / FIELDS,
    PLANE = 4 * LANES,
    GROUPS_OF_BLOCK = COLUMNS / GROUP,
    SCALES = GROUPS * ROWS, /* bytes of a group's, before its codes */
    GROUP_BYTES = SCALES + GROUP / 4 * PLANE,
    MINIMA = GROUPS_OF_BLOCK * GROUP_BYTES,
    HALVES = MINIMA + GROUPS * GROUPS_OF_BLOCK * ROWS
};

/* Sums of a block's groups as 64 high + low. */
struct sum_bytes {
    int8_t low[16], high[16];
};

static inline struct sum_bytes split_sums(const int16_t *x_sums)
{
    struct sum_bytes bytes = {{0}, {0}};
    for (size_t i = 0; i < GROUPS_OF_BLOCK; i++) {
        int32_t sum = ulb_sum_of_x(x_sums + i * GROUP / ULB_SUM_COLUMNS, GROUP);
        bytes.low[i] = (int8_t)(sum & 63);
        bytes.high[i] = (int8_t)(sum >> 6);
    }
    return bytes;
}

/* First row of vector v of field f. */
#define ROW_AT(v, f) ((f) * (size_t)LANES + at / 4 + (v)*ulb_lanes())

#define DECLARE_LANES(v)  const ulb_mask lanes##v = ulb_lanes_left(at / 4 + (v)*ulb_lanes(), LANES);
#define DECLARE_SUM(n)    ulb_ints a##n = ulb_no_ints();
#define DECLARE_RESULT(n) ulb_floats r##n = ulb_all_floats(0);
#define DECLARE_BLOCK(n)  ulb_floats b##n = ulb_all_floats(0);

/* Values of vector n of rows; of a byte with one field, or of both fields: n the low, the next the high one.
 */
#if FIELDS == 1
#define VALUES(n, f) ulb_to_floats(a##n)
#define SPLIT
#else
#define SPLIT_PAIR(low, high)                                                                                \
    a##high = ulb_asr(ulb_add_ints(ulb_sub_ints(a##high, a##low), lacking), 4);                              \
    a##low = ulb_sub_ints(a##low, zero);
#define SPLIT                                                                                                \
    const ulb_ints zero = ulb_all32(ZERO_POINT * x_sum),                                                     \
                   lacking = ulb_all32((128 - 16 * ZERO_POINT) * x_sum);                                     \
    SPLIT_PAIR(0, 1)                                                                                         \
    SPLIT_PAIR(2, 3)                                                                                         \
    SPLIT_PAIR(4, 5)                                                                                         \
    SPLIT_PAIR(6, 7)
#define VALUES(n, f) ulb_to_floats(a##n)
#endif

/* Sums of group g of the block at tile. */
#define SUM_GROUP(g)                                                                                         \
    SUMS(DECLARE_SUM)                                                                                        \
    const uint8_t *codes = tile + (g)*GROUP_BYTES + SCALES + at;                                             \
    for (size_t k = 0; k < GROUP; k += ULB_SDOT_COLUMNS) {                                                   \
        const ulb_bytes x = ulb_load16(block_x + (g)*GROUP + k);                                             \
        const uint8_t *w = codes + k / 4 * PLANE;                                                            \
        STEP(a, w, 0)                                                                                        \
        STEP(a, w + PLANE, 1)                                                                                \
        STEP(a, w + 2 * PLANE, 2)                                                                            \
        STEP(a, w + 3 * PLANE, 3)                                                                            \
        if (at == 0)                                                                                         \
            ulb_prefetch_lines(w, 4 * PLANE);                                                                \
    }                                                                                                        \
    const int32_t x_sum = ulb_sum_of_x(block_sums + (g)*GROUP / ULB_SUM_COLUMNS, GROUP);                     \
    (void)x_sum;                                                                                             \
    SPLIT

#define ADD_SCALED(n, v, f)                                                                                  \
    b##n = ulb_fma(VALUES(n, f), ulb_load_byte_floats(lanes##v, tile + i * GROUP_BYTES + ROW_AT(v, f)), b##n);

#define ADD_BLOCK(n, v, f)                                                                                   \
    {                                                                                                        \
        ulb_floats d = ulb_load_halves(lanes##v, tile + HALVES + 2 * ROW_AT(v, f));                          \
        r##n = ulb_fma(BLOCK(n, f), ulb_mul(d, scale), r##n);                                                \
    }

/* Minima of 8 groups: two times 4. */
#define TAKE_MINIMA(n, v, f)                                                                                 \
    {                                                                                                        \
        const uint8_t *minima = tile + MINIMA + 4 * ROW_AT(v, f);                                            \
        const ulb_bytes first = ulb_load(mask##v, minima), second = ulb_load(mask##v, minima + 4 * ROWS);    \
        ulb_ints low = ulb_dot(ulb_dot(ulb_no_ints(), first, x_low, 0), second, x_low, 1);                   \
        ulb_ints high = ulb_dot(ulb_dot(ulb_no_ints(), first, x_high, 0), second, x_high, 1);                \
        ulb_floats sum = ulb_to_floats(ulb_add_ints(low, ulb_shl(high, 6)));                                 \
        ulb_floats dmin = ulb_load_halves(lanes##v, tile + HALVES + 2 * ROWS + 2 * ROW_AT(v, f));            \
        r##n = ulb_fnma(dmin, ulb_mul(sum, scale), r##n);                                                    \
    }

#define STORE_RESULT(n, v, f)                                                                                \
    if (at / 4 + (v)*ulb_lanes() < LANES)                                                                    \
        ulb_store_floats(lanes##v, y + ROW_AT(v, f), r##n);

/* The lanes from byte at on of one row of tiles, for token n of the call. */
static inline __attribute__((always_inline)) void
block_pass(const struct ulb_gemm *g, size_t n, const struct ulb_tiles *tiles, size_t at, float *y)
{
    const size_t plane = PLANE;
    const struct ulb_layout *layout = &ULB_SDOT_OF(LAYOUT);
    const float *x_scale = g->x_scale + n * g->x_scale_stride;
    const int16_t *x_sums = g->x_sums + n * g->x_sums_stride;
    VECTORS(ULB_DECLARE_MASK)
    VECTORS(DECLARE_LANES)
    MASKS
    SUMS(DECLARE_RESULT)
    for (size_t s = 0; s < 2 * tiles->steps; s++) {
        const size_t b = s % 2 * tiles->steps + s / 2;
        const uint8_t *tile = tiles->w + s % 2 * tiles->slice_bytes + s / 2 * layout->tile_bytes;
        const int8_t *block_x = tiles->x + b * COLUMNS;
        const int16_t *block_sums = x_sums + b * COLUMNS / ULB_SUM_COLUMNS;
        const ulb_floats scale = ulb_all_floats(x_scale[b]);
#if GROUPS
        SUMS(DECLARE_BLOCK)
        for (size_t i = 0; i < GROUPS_OF_BLOCK; i++) {
            SUM_GROUP(i)
            ROW_VECTORS(ADD_SCALED)
        }
#define BLOCK(n, f) b##n
        ROW_VECTORS(ADD_BLOCK)
        const struct sum_bytes bytes = split_sums(block_sums);
        const ulb_bytes x_low = ulb_load16(bytes.low), x_high = ulb_load16(bytes.high);
        ROW_VECTORS(TAKE_MINIMA)
#else
        SUM_GROUP(0)
#define BLOCK(n, f) VALUES(n, f)
        ROW_VECTORS(ADD_BLOCK)
#endif
    }
    ROW_VECTORS(STORE_RESULT)
}

static void run(const struct ulb_gemm *g)
{
    const struct ulb_layout *layout = &ULB_SDOT_OF(LAYOUT);
    struct ulb_tiles tiles = {.slice_bytes = ulb_layout_slice_bytes(layout, g->m, g->k),
                              .steps = ulb_layout_steps(layout, g->k)};
    const size_t pass = (0 VECTORS(ULB_COUNT)) * ulb_vec_bytes();
    for (size_t m = g->m0; m < g->m1; m += ROWS) {
        tiles.w = (const uint8_t *)g->w + m / ROWS * tiles.steps * layout->tile_bytes;
        for (size_t n = 0; n < g->n; n++) {
            float y[ROWS];
            tiles.x = (const int8_t *)g->x + n * g->x_stride;
            for (size_t at = 0; at < PLANE; at += pass)
                block_pass(g, n, &tiles, at, y);
            size_t left = ulb_rows_left(g, m, ROWS);
            for (size_t i = 0; i < left; i++)
                g->y[n * g->y_stride + m + i] = y[i];
        }
    }
}

/* One instruction for each vector of rows and group of columns, per 32 weights at 128 bits. */
#define EACH(of_columns) (8.0 / (of_columns))

const struct ulb_kernel ULB_KERNEL = {
    .abi = ULB_KERNEL_ABI,
    .variant = "rows",
    .isa = ULB_KERNEL_ISA,
    .needs = ULB_KERNEL_NEEDS,
    .layout = &ULB_SDOT_OF(LAYOUT),
    .activation = ACTIVATION,
    .mr = ROWS,
    .nr = 1,
    .kr = ULB_SDOT_SLICES * COLUMNS,
    .bytes_per_step = BYTES_PER_STEP,
    .tolerance = ULB_BLOCK_TOLERANCE,
    .mix = {.loads = 2.0 / FIELDS + 1 / 16.0 + (1 + 3 * GROUPS) * EACH(COLUMNS) + GROUPS * EACH(GROUP),
            .prefetches = BYTES_PER_STEP / 64.0,
            .logic = 2 - 2.0 / FIELDS,
            .shifts = (FIELDS - 1) * 0.5 * EACH(GROUP) + GROUPS * EACH(COLUMNS),
            .adds = (FIELDS - 1) * 1.5 * EACH(GROUP) + GROUPS * EACH(COLUMNS),
            .dot_products = 2 + 4 * GROUPS * EACH(COLUMNS),
            .fmas = (2 + 2 * GROUPS) * EACH(COLUMNS) + GROUPS * EACH(GROUP),
            .conversions = (1 + GROUPS) * EACH(GROUP) + GROUPS * EACH(COLUMNS),
            .halves = (1 + GROUPS) * EACH(COLUMNS),
            .widenings = ULB_BY_ISA(2, 0) * GROUPS * EACH(GROUP),
            .vector_bits = 128,
            .chains = 8},
    .run = run,
};

#endif
