#include "kernels/formats/q6_k/format.h"

#include "common/fp16.h"
#include "kernels/codes/two_bit.h"
#include "kernels/quantise/fit_scales.h"
#include "kernels/pack/block_interleave.h"

#include <string.h>

static void encode(const struct ulb_block_values *values, void *block)
{
    struct ulb_q6_k out = {.d = ulb_fp16_from_float(values->d)};
    for (unsigned g = 0; g < ULB_Q6_K_GROUPS; g++)
        out.scales[g] = (int8_t)values->scale[g];
    for (unsigned k = 0; k < ULB_Q6_K_COLUMNS; k++) {
        unsigned code = (unsigned)(values->q[k] + ULB_Q6_K_ZERO_POINT);
        uint8_t *low = &out.ql[k / 128 * 64 + k % 64];
        *low = (uint8_t)(*low | (code & 15) << k / 64 % 2 * 4);
        ulb_two_bit_set(out.qh, k, code >> 4);
    }
    memcpy(block, &out, sizeof out);
}

static void decode(const void *block, struct ulb_block_values *values)
{
    struct ulb_q6_k in;
    memcpy(&in, block, sizeof in);
    values->d = ulb_fp16_to_float(in.d);
    values->dmin = 0;
    for (unsigned g = 0; g < ULB_Q6_K_GROUPS; g++) {
        values->scale[g] = in.scales[g];
        values->min[g] = 0;
    }
    for (unsigned k = 0; k < ULB_Q6_K_COLUMNS; k++) {
        int low = in.ql[k / 128 * 64 + k % 64] >> k / 64 % 2 * 4 & 15;
        values->q[k] = (int16_t)((low | ulb_two_bit_get(in.qh, k) << 4) - ULB_Q6_K_ZERO_POINT);
    }
}

static void quantise(const float *weights, struct ulb_block_values *values)
{
    ulb_quantise_signed_groups(weights, ULB_Q6_K_GROUP, -32, -128, values);
}

static const struct ulb_block block = {.columns = ULB_Q6_K_COLUMNS,
                                       .bytes = sizeof(struct ulb_q6_k),
                                       .group = ULB_Q6_K_GROUP,
                                       .scale_min = -128,
                                       .scale_max = 127,
                                       .d = ULB_SCALE_HALF,
                                       .encode = encode,
                                       .decode = decode,
                                       .quantise = quantise};

const struct ulb_format ulb_q6_k = {.name = "q6_k",
                                    .summary = "GGUF: 6 bits, an 8-bit scale per 16",
                                    .bits = 6.5625,
                                    .min = -32,
                                    .max = 31,
                                    .step = 1,
                                    .block = &block};

const struct ulb_layout ulb_q6_k_in_place = ULB_IN_PLACE(ulb_q6_k, ULB_Q6_K_COLUMNS, sizeof(struct ulb_q6_k));

static const struct ulb_row_tile rows = {.codes = &ulb_six_bit, .sets = 1, .zero_point = ULB_Q6_K_ZERO_POINT};

const struct ulb_layout ulb_q6_k_rows_32 =
    ULB_INTERLEAVED("rows-32", ulb_q6_k, rows, 8, 4, ULB_Q6_K_COLUMNS, 3, 4, 18);
const struct ulb_layout ulb_q6_k_rows_64 =
    ULB_INTERLEAVED("rows-64", ulb_q6_k, rows, 16, 4, ULB_Q6_K_COLUMNS, 3, 4, 18);
