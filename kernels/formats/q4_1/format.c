#include "kernels/formats/q4_1/format.h"

#include "common/fp16.h"
#include "kernels/quantise/fit_scales.h"
#include "kernels/pack/block_interleave.h"
#include "kernels/codes/four_bit.h"

#include <string.h>

static void encode(const struct ulb_block_values *values, void *block)
{
    struct ulb_q4_1 out = {.d = ulb_fp16_from_float(values->d), .m = ulb_fp16_from_float(-values->dmin)};
    ulb_nibbles_encode(values->q, 0, out.qs);
    memcpy(block, &out, sizeof out);
}

static void decode(const void *block, struct ulb_block_values *values)
{
    struct ulb_q4_1 in;
    memcpy(&in, block, sizeof in);
    values->d = ulb_fp16_to_float(in.d);
    values->dmin = -ulb_fp16_to_float(in.m);
    values->scale[0] = values->min[0] = 1;
    ulb_nibbles_decode(in.qs, 0, values->q);
}

static void quantise(const float *weights, struct ulb_block_values *values)
{
    ulb_quantise_range(weights, ULB_Q4_1_COLUMNS, 15, values);
}

static const struct ulb_block block = {ULB_ONE_GROUP(ULB_Q4_1_COLUMNS, sizeof(struct ulb_q4_1)), .min_min = 1,
                                       .min_max = 1, .d = ULB_SCALE_HALF};

const struct ulb_format ulb_q4_1 = {.name = "q4_1",
                                    .summary = "GGUF: 4 bits, scale and minimum per 32",
                                    .bits = 5,
                                    .min = 0,
                                    .max = 15,
                                    .step = 1,
                                    .block = &block};

const struct ulb_layout ulb_q4_1_in_place = ULB_IN_PLACE(ulb_q4_1, ULB_Q4_1_COLUMNS, sizeof(struct ulb_q4_1));

static const struct ulb_row_tile rows = {.codes = &ulb_nibbles, .sets = 3, .zero_point = 0};

const struct ulb_layout ulb_q4_1_rows_48 =
    ULB_INTERLEAVED("rows-48", ulb_q4_1, rows, 8, 6, ULB_Q4_1_COLUMNS, 1, 2, 4);
const struct ulb_layout ulb_q4_1_rows_96 =
    ULB_INTERLEAVED("rows-96", ulb_q4_1, rows, 16, 6, ULB_Q4_1_COLUMNS, 1, 2, 4);
