#include "kernels/table4/format.h"

#include "kernels/fit.h"
#include "kernels/planes.h"

#include <math.h>
#include <string.h>

const float ulb_nf4_levels[16] = {-1.0f,
                                  -0.6961928009986877f,
                                  -0.5250730514526367f,
                                  -0.39491748809814453f,
                                  -0.28444138169288635f,
                                  -0.18477343022823334f,
                                  -0.09105003625154495f,
                                  0.0f,
                                  0.07958029955625534f,
                                  0.16093020141124725f,
                                  0.24611230194568634f,
                                  0.33791524171829224f,
                                  0.44070982933044434f,
                                  0.5626170039176941f,
                                  0.7229568362236023f,
                                  1.0f};
/* 0, 0.5, 1, 1.5, 2, 3, 4, 6 and their negatives, of 6. */
const float ulb_fp4_levels[16] = {0.0f,  1.0f / 12,  1.0f / 6,  0.25f,  1.0f / 3,  0.5f,  2.0f / 3,  1.0f,
                                  -0.0f, -1.0f / 12, -1.0f / 6, -0.25f, -1.0f / 3, -0.5f, -2.0f / 3, -1.0f};

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
    const struct ulb_layout ulb_##of##_plane_##rows = {.name = "plane-" #rows,                               \
                                                       .format = &ulb_##of,                                  \
                                                       .tile_m = rows,                                       \
                                                       .tile_k = ULB_TABLE4_COLUMNS,                         \
                                                       .slices = 2,                                          \
                                                       .tile_bytes = rows * sizeof(struct ulb_table4),       \
                                                       .pack_blocks = pack_##rows,                           \
                                                       .unpack_blocks = unpack_##rows};
#define FORMAT(of)                                                                                           \
    static void of##_quantise(const float *weights, struct ulb_block_values *values)                         \
    {                                                                                                        \
        quantise(ulb_##of##_levels, weights, values);                                                        \
    }                                                                                                        \
    static const struct ulb_block of##_block = {.columns = ULB_TABLE4_COLUMNS,                               \
                                                .bytes = sizeof(struct ulb_table4),                          \
                                                .group = ULB_TABLE4_COLUMNS,                                 \
                                                .scale_min = 1,                                              \
                                                .scale_max = 1,                                              \
                                                .d = ULB_SCALE_SINGLE,                                       \
                                                .levels = ulb_##of##_levels,                                 \
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

ULB_TABLE4(FORMAT)
