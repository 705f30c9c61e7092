/* Groups with a scale each, codes as planes of 8, 4, 2 and 1 bits (kernels/pack/planes.h), by signed dot
 * products. The terms of zero points are as in kernels/formats/affine/grouped_gemv.h.
 *
 * Bytes are stored ^ 0x80 (see kernels/arm/gemv/fields.h): the sum of a plane's whole bytes is 128 * sum(x)
 * too small. For 8-bit codes it is the sum of code - 128. Tiles are eight vectors of 4 or 16 rows. A pass
 * takes as many lanes of all eight as its vectors hold. Registers: eight sums of a plane, eight of the codes,
 * eight results. */
#include "kernels/formats/affine/format.h"

#include "kernels/arm/gemv/field_steps.h"
#include "kernels/arm/simd/vec.h"
#include "kernels/group_sums.h"
#include "kernels/pack/sdot_tile.h"
#include "kernels/microkernel.h"

enum {
    ROWS = ULB_BY_ISA(ULB_SDOT_ROWS_SHORT, ULB_SDOT_ROWS_LONG),
    VECTORS = 8,
    LANES = ROWS / VECTORS,
    PLANE = 4 * LANES, /* bytes of 4 columns of a vector */
    SLICES = 2,
    NEAR = 1024
};

#define LAYOUT(of) ULB_BY_ISA(ulb_##of##_sdot_32, ulb_##of##_sdot_128)

/* Constants of a kernel. */
struct affine {
    const struct ulb_layout *layout;
    unsigned bits, zero;
    size_t columns;
};

#define EACH(X)                 X(0) X(1) X(2) X(3) X(4) X(5) X(6) X(7)
#define ULB_VECTOR_AT(i, bytes) ulb_load(mask, (bytes) + (i)*PLANE)

#define DECLARE_SUM(n)    ulb_ints a##n = ulb_no_ints();
#define DECLARE_TOTAL(n)  ulb_ints t##n = ulb_no_ints();
#define DECLARE_RESULT(n) ulb_floats r##n = ulb_all_floats(0);

#define ADD_PLANE(n) t##n = ulb_add_ints(t##n, ulb_mul_ints(a##n, weight));

/* Adds the plane of `width` bits, with `fields` codes in a byte. The widths of the planes are the set bits of
 * `bits`. Wider planes hold the lower bits of the code. */
#define SUM_PLANE(width, fields)                                                                             \
    if (cfg->bits & (width)) {                                                                               \
        const unsigned first = cfg->bits & ~(2u * (width)-1);                                                \
        const uint8_t *plane = w + first * LANES * cfg->columns;                                             \
        const ulb_ints weight = ulb_all32(1 << first);                                                       \
        EACH(DECLARE_SUM)                                                                                    \
        ULB_MASKS_##fields for (size_t k = 0; k < cfg->columns;                                              \
                                k += ULB_SDOT_COLUMNS, plane += 4 * (width)*PLANE)                           \
        {                                                                                                    \
            const ulb_bytes x = ulb_load16(group_x + k);                                                     \
            ULB_STEP_##fields(a, plane, 0) ULB_STEP_##fields(a, plane + (width)*PLANE, 1)                    \
                ULB_STEP_##fields(a, plane + 2 * (width)*PLANE, 2) ULB_STEP_##fields(                        \
                    a, plane + 3 * (width)*PLANE, 3) if (at == 0) for (size_t line = 0;                      \
                                                                       line < 4 * (width)*PLANE; line += 64) \
                    __builtin_prefetch(plane + line + NEAR, 0, 3);                                           \
        }                                                                                                    \
        ULB_SPLIT_##fields EACH(ADD_PLANE)                                                                   \
    }

#define ADD_GROUP(n)                                                                                         \
    {                                                                                                        \
        const size_t first_row = (n)*LANES + at / 4;                                                         \
        ulb_floats part = ulb_to_floats(ulb_sub_ints(t##n, offset));                                         \
        if (cfg->zero)                                                                                       \
            part = ulb_fnma(ulb_load_byte_floats(lanes, zeros + first_row), all_x, part);                    \
        r##n = ulb_fma(part, ulb_load_floats(lanes, scales + first_row * sizeof(float)), r##n);              \
    }
#define STORE(n)                                                                                             \
    {                                                                                                        \
        const size_t first_row = (n)*LANES + at / 4;                                                         \
        ulb_floats whole = ulb_fnma(x_zero, ulb_load_floats(lanes, row_sums + first_row), r##n);             \
        ulb_store_floats(lanes, y + first_row, ulb_mul(whole, x_scale));                                     \
    }

/* The lanes from byte at on of all vectors of one row of tiles, one token. */
static inline __attribute__((always_inline)) void run_pass(const struct affine *cfg, const struct ulb_gemm *g,
                                                           const struct ulb_tiles *tiles, size_t m, size_t n,
                                                           size_t at, float *y)
{
    const int16_t *x_sums = g->x_sums + n * g->x_sums_stride;
    const float *row_sums = ulb_row_sums(g, cfg->layout) + m;
    const ulb_mask mask = ulb_bytes_left(at, PLANE), lanes = ulb_lanes_left(at / 4, LANES);
    const ulb_floats x_scale = ulb_all_floats(g->x_scale[n * g->x_scale_stride]);
    const ulb_floats x_zero = ulb_all_floats((float)g->x_zero[n]);
    EACH(DECLARE_RESULT)
    for (size_t s = 0; s < SLICES * tiles->steps; s++) {
        const size_t column = (s % SLICES * tiles->steps + s / SLICES) * cfg->columns;
        const uint8_t *tile =
            tiles->w + s % SLICES * tiles->slice_bytes + s / SLICES * cfg->layout->tile_bytes;
        const uint8_t *w = tile + at, *scales = tile + ROWS * cfg->columns * cfg->bits / 8;
        const uint8_t *zeros = scales + ROWS * sizeof(float);
        const int8_t *group_x = tiles->x + column;
        const int32_t x_sum = ulb_sum_of_x(x_sums + column / ULB_SUM_COLUMNS, cfg->columns);
        const ulb_ints lacking = ulb_all32(128 * x_sum);
        EACH(DECLARE_TOTAL)
        SUM_PLANE(8, 1)
        SUM_PLANE(4, 2)
        SUM_PLANE(2, 4)
        SUM_PLANE(1, 8)
        const int32_t origin = (cfg->zero ? 0 : 1 << (cfg->bits - 1)) - (cfg->bits & 8 ? 128 : 0);
        const ulb_ints offset = ulb_all32(origin * x_sum);
        const ulb_floats all_x = ulb_all_floats((float)x_sum);
        EACH(ADD_GROUP)
    }
    EACH(STORE)
}

static inline __attribute__((always_inline)) void run(const struct affine *cfg, const struct ulb_gemm *g)
{
    struct ulb_tiles tiles = {.slice_bytes = ulb_layout_slice_bytes(cfg->layout, g->m, g->k),
                              .steps = ulb_layout_steps(cfg->layout, g->k)};
    for (size_t m = g->m0; m < g->m1; m += ROWS) {
        tiles.w = (const uint8_t *)g->w + m / ROWS * tiles.steps * cfg->layout->tile_bytes;
        for (size_t n = 0; n < g->n; n++) {
            float y[ROWS];
            tiles.x = (const int8_t *)g->x + n * g->x_stride;
            for (size_t at = 0; at < PLANE; at += ulb_vec_bytes())
                run_pass(cfg, g, &tiles, m, n, at, y);
            size_t left = ulb_rows_left(g, m, ROWS);
            for (size_t i = 0; i < left; i++)
                g->y[n * g->y_stride + m + i] = y[i];
        }
    }
}

/* Per 32 weights at 128 bits: planes of codes. Eight columns of a vector of rows are 32 weights. */
#define PLANES_OF(bits)     (((bits) >> 3 & 1) + ((bits) >> 2 & 1) + ((bits) >> 1 & 1) + ((bits)&1))
#define EACH_GROUP(columns) (8.0 / (columns))
#define TOP_FIELDS(bits)    ((bits) >= 8 ? 0 : PLANES_OF(bits))

#define ROW(of, bits_, zero_, columns_)                                                                      \
    static void run_##of(const struct ulb_gemm *g)                                                           \
    {                                                                                                        \
        static const struct affine cfg = {&LAYOUT(of), bits_, zero_, columns_};                              \
        run(&cfg, g);                                                                                        \
    }                                                                                                        \
    ULB_KERNEL_VARIANT(of) = {                                                                               \
        .abi = ULB_KERNEL_ABI,                                                                               \
        .variant = "plane",                                                                                  \
        .isa = ULB_KERNEL_ISA,                                                                               \
        .needs = ULB_KERNEL_NEEDS,                                                                           \
        .layout = &LAYOUT(of),                                                                               \
        .activation = ULB_ACT_A8Z,                                                                           \
        .mr = ROWS,                                                                                          \
        .nr = 1,                                                                                             \
        .kr = SLICES * (columns_),                                                                           \
        .bytes_per_step = 32.0 * ULB_AFFINE_BYTES(bits_, zero_, columns_) / (columns_),                      \
        .tolerance = ULB_BLOCK_TOLERANCE,                                                                    \
        .mix = {.loads = (bits_) / 4.0 + PLANES_OF(bits_) / 16.0 + (1 + (zero_)) * EACH_GROUP(columns_),     \
                .prefetches = (bits_) / 16.0,                                                                \
                .logic = 2 * PLANES_OF(bits_) - (bits_) / 4.0,                                               \
                .shifts = TOP_FIELDS(bits_) * EACH_GROUP(columns_),                                          \
                .adds = (2 * TOP_FIELDS(bits_) + 1) * EACH_GROUP(columns_),                                  \
                .dot_products = 2 * PLANES_OF(bits_),                                                        \
                .madds = PLANES_OF(bits_) * EACH_GROUP(columns_),                                            \
                .fmas = (1 + (zero_)) * EACH_GROUP(columns_),                                                \
                .conversions = (1 + (zero_)) * EACH_GROUP(columns_),                                         \
                .widenings = ULB_BY_ISA(2, 0) * (zero_)*EACH_GROUP(columns_),                                \
                .vector_bits = 128,                                                                          \
                .chains = VECTORS},                                                                          \
        .run = run_##of,                                                                                     \
    };

ULB_AFFINE_UNIVERSAL(ROW)
ULB_AFFINE_WOQ(ROW)
