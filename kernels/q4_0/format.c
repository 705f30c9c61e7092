#include "kernels/q4_0/format.h"

#include "common/fp16.h"
#include "kernels/fit.h"
#include "kernels/interleave.h"

#include <string.h>

static void encode(const struct ulb_block_values *values, void *block)
{
    struct ulb_q4_0 out = {.d = ulb_fp16_from_float(values->d)};
    for (unsigned i = 0; i < 16; i++)
        out.qs[i] =
            (uint8_t)((values->q[i] + ULB_Q4_0_ZERO_POINT) | (values->q[i + 16] + ULB_Q4_0_ZERO_POINT) << 4);
    memcpy(block, &out, sizeof out);
}

static void decode(const void *block, struct ulb_block_values *values)
{
    struct ulb_q4_0 in;
    memcpy(&in, block, sizeof in);
    values->d = ulb_fp16_to_float(in.d);
    values->dmin = 0;
    values->scale[0] = 1;
    values->min[0] = 0;
    for (unsigned i = 0; i < 16; i++) {
        values->q[i] = (int16_t)((in.qs[i] & 15) - ULB_Q4_0_ZERO_POINT);
        values->q[i + 16] = (int16_t)((in.qs[i] >> 4) - ULB_Q4_0_ZERO_POINT);
    }
}

/* The weight of largest magnitude becomes -8. */
static void quantise(const float *weights, struct ulb_block_values *values)
{
    float largest = ulb_signed_largest(weights, ULB_Q4_0_COLUMNS);
    *values = (struct ulb_block_values){.d = ulb_half(largest / -8), .scale = {1}};
    float inverse = largest != 0 ? -8 / largest : 0;
    for (unsigned i = 0; i < ULB_Q4_0_COLUMNS; i++)
        values->q[i] = (int16_t)ulb_round_within(weights[i] * inverse, -8, 7);
}

static const struct ulb_block block = {.columns = ULB_Q4_0_COLUMNS,
                                       .bytes = sizeof(struct ulb_q4_0),
                                       .group = ULB_Q4_0_COLUMNS,
                                       .scale_min = 1,
                                       .scale_max = 1,
                                       .d = ULB_SCALE_HALF,
                                       .encode = encode,
                                       .decode = decode,
                                       .quantise = quantise};

const struct ulb_format ulb_q4_0 = {.name = "q4_0",
                                    .summary = "GGUF: 4 bits, a half-precision scale per 32",
                                    .bits = 4.5,
                                    .min = -8,
                                    .max = 7,
                                    .step = 1,
                                    .block = &block};

const struct ulb_layout ulb_q4_0_in_place = ULB_IN_PLACE(ulb_q4_0, ULB_Q4_0_COLUMNS, sizeof(struct ulb_q4_0));

/* Codes, then scales. */
static void pack(unsigned lanes, const struct ulb_block_values *values, uint8_t *tile)
{
    const struct ulb_interleave nibbles = {
        .lanes = lanes, .vectors = 3, .fields = 2, .bits = 4, .zero_point = ULB_Q4_0_ZERO_POINT};
    ulb_interleave(&nibbles, values, ULB_Q4_0_COLUMNS, tile);
    ulb_store_half_scales(values, 6 * lanes, tile + ulb_interleaved_bytes(&nibbles, ULB_Q4_0_COLUMNS));
}

static void unpack(unsigned lanes, const uint8_t *tile, struct ulb_block_values *values)
{
    const struct ulb_interleave nibbles = {
        .lanes = lanes, .vectors = 3, .fields = 2, .bits = 4, .zero_point = ULB_Q4_0_ZERO_POINT};
    memset(values, 0, 6 * lanes * sizeof *values);
    ulb_deinterleave(&nibbles, tile, ULB_Q4_0_COLUMNS, values);
    ulb_load_half_scales(tile + ulb_interleaved_bytes(&nibbles, ULB_Q4_0_COLUMNS), 6 * lanes, values);
}

static void pack_48(const struct ulb_block_values *values, uint8_t *tile)
{
    pack(8, values, tile);
}

static void unpack_48(const uint8_t *tile, struct ulb_block_values *values)
{
    unpack(8, tile, values);
}

static void pack_96(const struct ulb_block_values *values, uint8_t *tile)
{
    pack(16, values, tile);
}

static void unpack_96(const uint8_t *tile, struct ulb_block_values *values)
{
    unpack(16, tile, values);
}

const struct ulb_layout ulb_q4_0_rows_48 = {.name = "rows-48",
                                            .format = &ulb_q4_0,
                                            .tile_m = 48,
                                            .tile_k = ULB_Q4_0_COLUMNS,
                                            .slices = 2,
                                            .tile_bytes = 48 * sizeof(struct ulb_q4_0),
                                            .pack_blocks = pack_48,
                                            .unpack_blocks = unpack_48};
const struct ulb_layout ulb_q4_0_rows_96 = {.name = "rows-96",
                                            .format = &ulb_q4_0,
                                            .tile_m = 96,
                                            .tile_k = ULB_Q4_0_COLUMNS,
                                            .slices = 2,
                                            .tile_bytes = 96 * sizeof(struct ulb_q4_0),
                                            .pack_blocks = pack_96,
                                            .unpack_blocks = unpack_96};
