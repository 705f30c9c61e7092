#include "kernels/formats/q5_1/format.h"

#include "common/fp16.h"
#include "kernels/quantise/fit_scales.h"
#include "kernels/pack/block_interleave.h"
#include "kernels/codes/five_bit.h"

#include <string.h>

static void encode(const struct ulb_block_values *values, void *block)
{
    struct ulb_q5_1 out = {.d = ulb_fp16_from_float(values->d), .m = ulb_fp16_from_float(-values->dmin)};
    ulb_five_bits_encode(values->q, 0, out.qs, out.qh);
    memcpy(block, &out, sizeof out);
}

static void decode(const void *block, struct ulb_block_values *values)
{
    struct ulb_q5_1 in;
    memcpy(&in, block, sizeof in);
    values->d = ulb_fp16_to_float(in.d);
    values->dmin = -ulb_fp16_to_float(in.m);
    values->scale[0] = values->min[0] = 1;
    ulb_five_bits_decode(in.qs, in.qh, 0, values->q);
}

static void quantise(const float *weights, struct ulb_block_values *values)
{
    ulb_quantise_range(weights, ULB_Q5_1_COLUMNS, 31, values);
}

static const struct ulb_block block = {ULB_ONE_GROUP(ULB_Q5_1_COLUMNS, sizeof(struct ulb_q5_1)), .min_min = 1,
                                       .min_max = 1, .d = ULB_SCALE_HALF};

const struct ulb_format ulb_q5_1 = {.name = "q5_1",
                                    .summary = "GGUF: 5 bits, scale and minimum per 32",
                                    .bits = 6,
                                    .min = 0,
                                    .max = 31,
                                    .step = 1,
                                    .block = &block};

const struct ulb_layout ulb_q5_1_in_place = ULB_IN_PLACE(ulb_q5_1, ULB_Q5_1_COLUMNS, sizeof(struct ulb_q5_1));

static const struct ulb_row_tile rows = {.codes = &ulb_five_bit, .sets = 1, .zero_point = 0};

const struct ulb_layout ulb_q5_1_rows_64 =
    ULB_INTERLEAVED("rows-64", ulb_q5_1, rows, 8, 8, ULB_Q5_1_COLUMNS, 5, 8, 4);
const struct ulb_layout ulb_q5_1_rows_128 =
    ULB_INTERLEAVED("rows-128", ulb_q5_1, rows, 16, 8, ULB_Q5_1_COLUMNS, 5, 8, 4);
