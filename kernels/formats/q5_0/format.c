#include "kernels/formats/q5_0/format.h"

#include "common/fp16.h"
#include "kernels/quantise/fit_scales.h"
#include "kernels/pack/block_interleave.h"
#include "kernels/codes/five_bit.h"

#include <string.h>

static void encode(const struct ulb_block_values *values, void *block)
{
    struct ulb_q5_0 out = {.d = ulb_fp16_from_float(values->d)};
    ulb_five_bits_encode(values->q, ULB_Q5_0_ZERO_POINT, out.qs, out.qh);
    memcpy(block, &out, sizeof out);
}

static void decode(const void *block, struct ulb_block_values *values)
{
    struct ulb_q5_0 in;
    memcpy(&in, block, sizeof in);
    ulb_one_scale(values, ulb_fp16_to_float(in.d));
    ulb_five_bits_decode(in.qs, in.qh, ULB_Q5_0_ZERO_POINT, values->q);
}

static void quantise(const float *weights, struct ulb_block_values *values)
{
    ulb_quantise_signed(weights, ULB_Q5_0_COLUMNS, -16, 15, values);
}

static const struct ulb_block block = {ULB_ONE_GROUP(ULB_Q5_0_COLUMNS, sizeof(struct ulb_q5_0)),
                                       .d = ULB_SCALE_HALF};

const struct ulb_format ulb_q5_0 = {.name = "q5_0",
                                    .summary = "GGUF: 5 bits, a half-precision scale per 32",
                                    .bits = 5.5,
                                    .min = -16,
                                    .max = 15,
                                    .step = 1,
                                    .block = &block};

const struct ulb_layout ulb_q5_0_in_place = ULB_IN_PLACE(ulb_q5_0, ULB_Q5_0_COLUMNS, sizeof(struct ulb_q5_0));

static const struct ulb_row_tile rows = {
    .codes = &ulb_five_bit, .sets = 1, .zero_point = ULB_Q5_0_ZERO_POINT};

const struct ulb_layout ulb_q5_0_rows_64 =
    ULB_INTERLEAVED("rows-64", ulb_q5_0, rows, 8, 8, ULB_Q5_0_COLUMNS, 5, 8, 2);
const struct ulb_layout ulb_q5_0_rows_128 =
    ULB_INTERLEAVED("rows-128", ulb_q5_0, rows, 16, 8, ULB_Q5_0_COLUMNS, 5, 8, 2);
