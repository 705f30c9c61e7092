#include "kernels/formats/q3_k/format.h"

#include "common/fp16.h"
#include "kernels/codes/two_bit.h"
#include "kernels/quantise/fit_scales.h"
#include "kernels/pack/block_interleave.h"

#include <string.h>

static void encode(const struct ulb_block_values *values, void *block)
{
    struct ulb_q3_k out = {.d = ulb_fp16_from_float(values->d)};
    for (unsigned g = 0; g < ULB_Q3_K_GROUPS; g++) {
        unsigned scale = (unsigned)(values->scale[g] + ULB_Q3_K_SCALE_ZERO);
        out.scales[g % 8] = (uint8_t)(out.scales[g % 8] | (scale & 15) << g / 8 * 4);
        out.scales[8 + g % 4] = (uint8_t)(out.scales[8 + g % 4] | scale >> 4 << g / 4 * 2);
    }
    for (unsigned k = 0; k < ULB_Q3_K_COLUMNS; k++) {
        unsigned code = (unsigned)(values->q[k] + ULB_Q3_K_ZERO_POINT);
        ulb_two_bit_set(out.qs, k, code & 3);
        out.hmask[k % 32] = (uint8_t)(out.hmask[k % 32] | code >> 2 << k / 32);
    }
    memcpy(block, &out, sizeof out);
}

static void decode(const void *block, struct ulb_block_values *values)
{
    struct ulb_q3_k in;
    memcpy(&in, block, sizeof in);
    values->d = ulb_fp16_to_float(in.d);
    values->dmin = 0;
    for (unsigned g = 0; g < ULB_Q3_K_GROUPS; g++) {
        int low = in.scales[g % 8] >> g / 8 * 4 & 15, high = in.scales[8 + g % 4] >> g / 4 * 2 & 3;
        values->scale[g] = (int16_t)((low | high << 4) - ULB_Q3_K_SCALE_ZERO);
        values->min[g] = 0;
    }
    for (unsigned k = 0; k < ULB_Q3_K_COLUMNS; k++)
        values->q[k] = (int16_t)((ulb_two_bit_get(in.qs, k) | (in.hmask[k % 32] >> k / 32 & 1) << 2) -
                                 ULB_Q3_K_ZERO_POINT);
}

static void quantise(const float *weights, struct ulb_block_values *values)
{
    ulb_quantise_signed_groups(weights, ULB_Q3_K_GROUP, -4, -32, values);
}

static const struct ulb_block block = {.columns = ULB_Q3_K_COLUMNS,
                                       .bytes = sizeof(struct ulb_q3_k),
                                       .group = ULB_Q3_K_GROUP,
                                       .scale_min = -32,
                                       .scale_max = 31,
                                       .d = ULB_SCALE_HALF,
                                       .encode = encode,
                                       .decode = decode,
                                       .quantise = quantise};

const struct ulb_format ulb_q3_k = {.name = "q3_k",
                                    .summary = "GGUF: 3 bits, a 6-bit scale per 16",
                                    .bits = 3.4375,
                                    .min = -4,
                                    .max = 3,
                                    .step = 1,
                                    .block = &block};

const struct ulb_layout ulb_q3_k_in_place = ULB_IN_PLACE(ulb_q3_k, ULB_Q3_K_COLUMNS, sizeof(struct ulb_q3_k));

static const struct ulb_row_tile rows = {
    .codes = &ulb_three_bit, .sets = 1, .zero_point = ULB_Q3_K_ZERO_POINT};

const struct ulb_layout ulb_q3_k_rows_64 =
    ULB_INTERLEAVED("rows-64", ulb_q3_k, rows, 8, 8, ULB_Q3_K_COLUMNS, 3, 8, 18);
const struct ulb_layout ulb_q3_k_rows_128 =
    ULB_INTERLEAVED("rows-128", ulb_q3_k, rows, 16, 8, ULB_Q3_K_COLUMNS, 3, 8, 18);
