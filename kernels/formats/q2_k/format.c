#include "kernels/formats/q2_k/format.h"

#include "common/fp16.h"
#include "kernels/codes/two_bit.h"
#include "kernels/quantise/fit_scales.h"
#include "kernels/pack/block_interleave.h"

#include <string.h>

static void encode(const struct ulb_block_values *values, void *block)
{
    struct ulb_q2_k out = {.d = ulb_fp16_from_float(values->d), .dmin = ulb_fp16_from_float(values->dmin)};
    for (unsigned g = 0; g < ULB_Q2_K_GROUPS; g++)
        out.scales[g] = (uint8_t)(values->scale[g] | values->min[g] << 4);
    for (unsigned k = 0; k < ULB_Q2_K_COLUMNS; k++)
        ulb_two_bit_set(out.qs, k, (unsigned)values->q[k]);
    memcpy(block, &out, sizeof out);
}

static void decode(const void *block, struct ulb_block_values *values)
{
    struct ulb_q2_k in;
    memcpy(&in, block, sizeof in);
    values->d = ulb_fp16_to_float(in.d);
    values->dmin = ulb_fp16_to_float(in.dmin);
    for (unsigned g = 0; g < ULB_Q2_K_GROUPS; g++) {
        values->scale[g] = in.scales[g] & 15;
        values->min[g] = in.scales[g] >> 4;
    }
    for (unsigned k = 0; k < ULB_Q2_K_COLUMNS; k++)
        values->q[k] = ulb_two_bit_get(in.qs, k);
}

static void quantise(const float *weights, struct ulb_block_values *values)
{
    ulb_quantise_affine_groups(weights, ULB_Q2_K_GROUP, 3, 15, values);
}

static const struct ulb_block block = {.columns = ULB_Q2_K_COLUMNS,
                                       .bytes = sizeof(struct ulb_q2_k),
                                       .group = ULB_Q2_K_GROUP,
                                       .scale_max = 15,
                                       .min_max = 15,
                                       .d = ULB_SCALE_HALF,
                                       .encode = encode,
                                       .decode = decode,
                                       .quantise = quantise};

const struct ulb_format ulb_q2_k = {.name = "q2_k",
                                    .summary = "GGUF: 2 bits, scale and minimum per 16",
                                    .bits = 2.625,
                                    .min = 0,
                                    .max = 3,
                                    .step = 1,
                                    .block = &block};

const struct ulb_layout ulb_q2_k_in_place = ULB_IN_PLACE(ulb_q2_k, ULB_Q2_K_COLUMNS, sizeof(struct ulb_q2_k));

static const struct ulb_row_tile rows = {.codes = &ulb_two_bit, .sets = 1, .zero_point = 0};

const struct ulb_layout ulb_q2_k_rows_32 =
    ULB_INTERLEAVED("rows-32", ulb_q2_k, rows, 8, 4, ULB_Q2_K_COLUMNS, 1, 4, 20);
const struct ulb_layout ulb_q2_k_rows_64 =
    ULB_INTERLEAVED("rows-64", ulb_q2_k, rows, 16, 4, ULB_Q2_K_COLUMNS, 1, 4, 20);
