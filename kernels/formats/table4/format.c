#include "kernels/formats/table4/format.h"

#include "kernels/quantise/fit_scales.h"
#include "kernels/pack/planes.h"

#include <math.h>
#include <string.h>

#define LEVEL(level)       level,
#define NF4_INTEGER(level) ULB_LEVEL_INTEGER(level, ULB_NF4_ONE),
#define FP4_INTEGER(level) ULB_LEVEL_INTEGER(level, ULB_FP4_ONE),

static const float nf4_levels[16] = {ULB_NF4_LEVELS(LEVEL)}, fp4_levels[16] = {ULB_FP4_LEVELS(LEVEL)};
static const int16_t nf4_integers[16] = {ULB_NF4_LEVELS(NF4_INTEGER)},
                     fp4_integers[16] = {ULB_FP4_LEVELS(FP4_INTEGER)};

static void encode(const struct ulb_block_values *values, void *block)
{
    struct ulb_table4 out = {.d = values->d};
    for (unsigned i = 0; i < sizeof out.q; i++)
        out.q[i] = (uint8_t)(values->q[2 * i] | values->q[2 * i + 1] << 4);
    memcpy(block, &out, sizeof out);
}

static void decode(const void *block, struct ulb_block_values *values)
{
    struct ulb_table4 in;
    memcpy(&in, block, sizeof in);
    values->d = in.d;
    values->dmin = 0;
    values->scale[0] = 1;
    values->min[0] = 0;
    for (unsigned k = 0; k < ULB_TABLE4_COLUMNS; k++)
        values->q[k] = in.q[k / 2] >> k % 2 * 4 & 15;
}

/* The nearest level of each weight, of the largest magnitude. */
static void quantise(const float *levels, const float *weights, struct ulb_block_values *values)
{
    float largest = fabsf(ulb_signed_largest(weights, ULB_TABLE4_COLUMNS));
    *values = (struct ulb_block_values){.d = largest, .scale = {1}};
    for (unsigned k = 0; k < ULB_TABLE4_COLUMNS; k++) {
        float wanted = largest > 0 ? weights[k] / largest : 0;
        for (int16_t q = 1; q < 16; q++) {
            if (fabsf(levels[q] - wanted) < fabsf(levels[values->q[k]] - wanted))
                values->q[k] = q;
        }
    }
}

static void pack(unsigned lanes, const struct ulb_block_values *values, uint8_t *tile)
{
    tile = ulb_planes_pack(4, 0, lanes, ULB_TABLE4_COLUMNS, values, tile);
    for (unsigned i = 0; i < 8 * lanes; i++)
        memcpy(tile + i * sizeof(float), &values[i].d, sizeof(float));
}

static void unpack(unsigned lanes, const uint8_t *tile, struct ulb_block_values *values)
{
    tile = ulb_planes_unpack(4, 0, lanes, ULB_TABLE4_COLUMNS, tile, values);
    for (unsigned i = 0; i < 8 * lanes; i++) {
        float d;
        memcpy(&d, tile + i * sizeof d, sizeof d);
        ulb_one_scale(&values[i], d);
    }
}

static void pack_64(const struct ulb_block_values *values, uint8_t *tile)
{
    pack(8, values, tile);
}

static void unpack_64(const uint8_t *tile, struct ulb_block_values *values)
{
    unpack(8, tile, values);
}

static void pack_128(const struct ulb_block_values *values, uint8_t *tile)
{
    pack(16, values, tile);
}

static void unpack_128(const uint8_t *tile, struct ulb_block_values *values)
{
    unpack(16, tile, values);
}

#define LAYOUT(of, rows)                                                                                     \
    const struct ulb_layout ulb_##of##_plane_##rows = {                                                      \
        .name = "plane-" #rows,                                                                              \
        .format = &ulb_##of,                                                                                 \
        .tile_m = rows,                                                                                      \
        .tile_k = ULB_TABLE4_COLUMNS,                                                                        \
        .slices = 2,                                                                                         \
        .row_sums = true,                                                                                    \
        .tile_bytes = rows * sizeof(struct ulb_table4),                                                      \
        .kind = ULB_LAYOUT_BLOCKS,                                                                           \
        .blocks = {.pack = pack_##rows, .unpack = unpack_##rows}};
#define FORMAT(of, one)                                                                                      \
    static void of##_quantise(const float *weights, struct ulb_block_values *values)                         \
    {                                                                                                        \
        quantise(of##_levels, weights, values);                                                              \
    }                                                                                                        \
    static const struct ulb_block of##_block = {.columns = ULB_TABLE4_COLUMNS,                               \
                                                .bytes = sizeof(struct ulb_table4),                          \
                                                .group = ULB_TABLE4_COLUMNS,                                 \
                                                .scale_min = 1,                                              \
                                                .scale_max = 1,                                              \
                                                .d = ULB_SCALE_SINGLE,                                       \
                                                .levels = of##_levels,                                       \
                                                .level_integers = of##_integers,                             \
                                                .level_one = one,                                            \
                                                .encode = encode,                                            \
                                                .decode = decode,                                            \
                                                .quantise = of##_quantise};                                  \
    const struct ulb_format ulb_##of = {.name = #of,                                                         \
                                        .summary = "IPEX: 4-bit codes of a table, a scale per 64",           \
                                        .bits = 4.5,                                                         \
                                        .min = 0,                                                            \
                                        .max = 15,                                                           \
                                        .step = 1,                                                           \
                                        .block = &of##_block};                                               \
    const struct ulb_layout ulb_##of##_rows =                                                                \
        ULB_IN_PLACE(ulb_##of, ULB_TABLE4_COLUMNS, sizeof(struct ulb_table4));                               \
    LAYOUT(of, 64)                                                                                           \
    LAYOUT(of, 128)

FORMAT(nf4, ULB_NF4_ONE)
FORMAT(fp4, ULB_FP4_ONE)
