#include "kernels/formats/tq2_0/format.h"

#include "common/fp16.h"
#include "kernels/codes/two_bit.h"
#include "kernels/quantise/fit_scales.h"
#include "kernels/pack/block_interleave.h"

#include <string.h>

static void encode(const struct ulb_block_values *values, void *block)
{
    struct ulb_tq2_0 out = {.d = ulb_fp16_from_float(values->d)};
    for (unsigned k = 0; k < ULB_TQ2_0_COLUMNS; k++)
        ulb_two_bit_set(out.qs, k, (unsigned)(values->q[k] + ULB_TQ2_0_ZERO_POINT));
    memcpy(block, &out, sizeof out);
}

static void decode(const void *block, struct ulb_block_values *values)
{
    struct ulb_tq2_0 in;
    memcpy(&in, block, sizeof in);
    ulb_one_scale(values, ulb_fp16_to_float(in.d));
    for (unsigned k = 0; k < ULB_TQ2_0_COLUMNS; k++)
        values->q[k] = (int16_t)(ulb_two_bit_get(in.qs, k) - ULB_TQ2_0_ZERO_POINT);
}

static void quantise(const float *weights, struct ulb_block_values *values)
{
    ulb_quantise_ternary(weights, ULB_TQ2_0_COLUMNS, values);
}

static const struct ulb_block block = {ULB_ONE_GROUP(ULB_TQ2_0_COLUMNS, sizeof(struct ulb_tq2_0)),
                                       .d = ULB_SCALE_HALF};

const struct ulb_format ulb_tq2_0 = {.name = "tq2_0",
                                     .summary = "GGUF: ternary, 2 bits, scale per 256",
                                     .bits = 2.0625,
                                     .min = -1,
                                     .max = 2,
                                     .step = 1,
                                     .block = &block};

const struct ulb_layout ulb_tq2_0_in_place =
    ULB_IN_PLACE(ulb_tq2_0, ULB_TQ2_0_COLUMNS, sizeof(struct ulb_tq2_0));

static const struct ulb_row_tile rows = {
    .codes = &ulb_two_bit, .sets = 3, .zero_point = ULB_TQ2_0_ZERO_POINT};
static const struct ulb_row_tile two_sets = {
    .codes = &ulb_two_bit, .sets = 2, .zero_point = ULB_TQ2_0_ZERO_POINT};

const struct ulb_layout ulb_tq2_0_rows_64 =
    ULB_INTERLEAVED("rows-64", ulb_tq2_0, two_sets, 8, 8, ULB_TQ2_0_COLUMNS, 1, 4, 2);
const struct ulb_layout ulb_tq2_0_rows_96 =
    ULB_INTERLEAVED("rows-96", ulb_tq2_0, rows, 8, 12, ULB_TQ2_0_COLUMNS, 1, 4, 2);
const struct ulb_layout ulb_tq2_0_rows_128 =
    ULB_INTERLEAVED("rows-128", ulb_tq2_0, two_sets, 16, 8, ULB_TQ2_0_COLUMNS, 1, 4, 2);
