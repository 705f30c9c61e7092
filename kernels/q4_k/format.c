#include "kernels/q4_k/format.h"

#include "common/fp16.h"
#include "kernels/fit.h"
#include "kernels/interleave.h"
#include "kernels/k_scales.h"

#include <string.h>

static void encode(const struct ulb_block_values *values, void *block)
{
    struct ulb_q4_k out = {.d = ulb_fp16_from_float(values->d), .dmin = ulb_fp16_from_float(values->dmin)};
    ulb_k_scales_encode(values->scale, values->min, out.scales);
    for (unsigned i = 0; i < sizeof out.qs; i++) {
        const int16_t *q = values->q + i / 32 * 64 + i % 32;
        out.qs[i] = (uint8_t)(q[0] | q[32] << 4);
    }
    memcpy(block, &out, sizeof out);
}

static void decode(const void *block, struct ulb_block_values *values)
{
    struct ulb_q4_k in;
    memcpy(&in, block, sizeof in);
    values->d = ulb_fp16_to_float(in.d);
    values->dmin = ulb_fp16_to_float(in.dmin);
    ulb_k_scales_decode(in.scales, values->scale, values->min);
    for (unsigned i = 0; i < sizeof in.qs; i++) {
        int16_t *q = values->q + i / 32 * 64 + i % 32;
        q[0] = in.qs[i] & 15;
        q[32] = in.qs[i] >> 4;
    }
}

static void quantise(const float *weights, struct ulb_block_values *values)
{
    float scale[ULB_Q4_K_GROUPS], min[ULB_Q4_K_GROUPS];
    *values = (struct ulb_block_values){0};
    for (unsigned g = 0; g < ULB_Q4_K_GROUPS; g++)
        ulb_fit_affine(weights + g * ULB_Q4_K_GROUP, ULB_Q4_K_GROUP, 15, &scale[g], &min[g]);
    values->d = ulb_half(ulb_signed_largest(scale, ULB_Q4_K_GROUPS) / 63);
    values->dmin = ulb_half(ulb_signed_largest(min, ULB_Q4_K_GROUPS) / 63);
    for (unsigned k = 0; k < ULB_Q4_K_COLUMNS; k++) {
        unsigned g = k / ULB_Q4_K_GROUP;
        values->scale[g] = (int16_t)(values->d > 0 ? ulb_round_within(scale[g] / values->d, 0, 63) : 0);
        values->min[g] = (int16_t)(values->dmin > 0 ? ulb_round_within(min[g] / values->dmin, 0, 63) : 0);
        float step = values->d * (float)values->scale[g], least = values->dmin * (float)values->min[g];
        values->q[k] = (int16_t)(step > 0 ? ulb_round_within((weights[k] + least) / step, 0, 15) : 0);
    }
}

static const struct ulb_block block = {.columns = ULB_Q4_K_COLUMNS,
                                       .bytes = sizeof(struct ulb_q4_k),
                                       .group = ULB_Q4_K_GROUP,
                                       .scale_max = 63,
                                       .min_max = 63,
                                       .d = ULB_SCALE_HALF,
                                       .encode = encode,
                                       .decode = decode,
                                       .quantise = quantise};

const struct ulb_format ulb_q4_k = {.name = "q4_k",
                                    .summary = "GGUF: 4 bits, scale and minimum per 32",
                                    .bits = 4.5,
                                    .min = 0,
                                    .max = 15,
                                    .step = 1,
                                    .block = &block};

const struct ulb_layout ulb_q4_k_in_place = ULB_IN_PLACE(ulb_q4_k, ULB_Q4_K_COLUMNS, sizeof(struct ulb_q4_k));

enum { FIELDS = 4 /* vectors of rows */ };

static const struct ulb_interleave nibbles_8 = {.lanes = 8, .vectors = 2, .fields = 2, .bits = 4};
static const struct ulb_interleave nibbles_16 = {.lanes = 16, .vectors = 2, .fields = 2, .bits = 4};

static void pack(const struct ulb_interleave *nibbles, const struct ulb_block_values *values, uint8_t *tile)
{
    unsigned rows = FIELDS * nibbles->lanes;
    ulb_interleave(nibbles, values, ULB_Q4_K_COLUMNS, tile);
    tile += ulb_interleaved_bytes(nibbles, ULB_Q4_K_COLUMNS);
    ulb_store_min_quads(values, rows, ULB_Q4_K_GROUPS, tile);
    tile += rows * ULB_Q4_K_GROUPS;
    ulb_store_byte_scales(values, rows, ULB_Q4_K_GROUPS, tile);
    tile += rows * ULB_Q4_K_GROUPS;
    ulb_store_half_scales(values, rows, tile);
    ulb_store_half_minima(values, rows, tile + rows * sizeof(uint16_t));
}

static void unpack(const struct ulb_interleave *nibbles, const uint8_t *tile, struct ulb_block_values *values)
{
    unsigned rows = FIELDS * nibbles->lanes;
    memset(values, 0, rows * sizeof *values);
    ulb_deinterleave(nibbles, tile, ULB_Q4_K_COLUMNS, values);
    tile += ulb_interleaved_bytes(nibbles, ULB_Q4_K_COLUMNS);
    ulb_load_min_quads(tile, rows, ULB_Q4_K_GROUPS, values);
    tile += rows * ULB_Q4_K_GROUPS;
    ulb_load_byte_scales(tile, rows, ULB_Q4_K_GROUPS, values);
    tile += rows * ULB_Q4_K_GROUPS;
    ulb_load_half_scales(tile, rows, values);
    ulb_load_half_minima(tile + rows * sizeof(uint16_t), rows, values);
}

static void pack_32(const struct ulb_block_values *values, uint8_t *tile)
{
    pack(&nibbles_8, values, tile);
}

static void unpack_32(const uint8_t *tile, struct ulb_block_values *values)
{
    unpack(&nibbles_8, tile, values);
}

static void pack_64(const struct ulb_block_values *values, uint8_t *tile)
{
    pack(&nibbles_16, values, tile);
}

static void unpack_64(const uint8_t *tile, struct ulb_block_values *values)
{
    unpack(&nibbles_16, tile, values);
}

const struct ulb_layout ulb_q4_k_rows_32 = {.name = "rows-32",
                                            .format = &ulb_q4_k,
                                            .tile_m = 32,
                                            .tile_k = ULB_Q4_K_COLUMNS,
                                            .slices = 2,
                                            .tile_bytes =
                                                32 * (ULB_Q4_K_COLUMNS / 2 + 2 * ULB_Q4_K_GROUPS + 4),
                                            .pack_blocks = pack_32,
                                            .unpack_blocks = unpack_32};
const struct ulb_layout ulb_q4_k_rows_64 = {.name = "rows-64",
                                            .format = &ulb_q4_k,
                                            .tile_m = 64,
                                            .tile_k = ULB_Q4_K_COLUMNS,
                                            .slices = 2,
                                            .tile_bytes =
                                                64 * (ULB_Q4_K_COLUMNS / 2 + 2 * ULB_Q4_K_GROUPS + 4),
                                            .pack_blocks = pack_64,
                                            .unpack_blocks = unpack_64};
