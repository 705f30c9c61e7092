#include "kernels/formats/q8_0/format.h"

#include "common/fp16.h"
#include "kernels/quantise/fit_scales.h"
#include "kernels/pack/block_interleave.h"

#include <math.h>
#include <string.h>

static void encode(const struct ulb_block_values *values, void *block)
{
    struct ulb_q8_0 out = {.d = ulb_fp16_from_float(values->d)};
    for (unsigned i = 0; i < ULB_Q8_0_COLUMNS; i++)
        out.qs[i] = (int8_t)values->q[i];
    memcpy(block, &out, sizeof out);
}

static void decode(const void *block, struct ulb_block_values *values)
{
    struct ulb_q8_0 in;
    memcpy(&in, block, sizeof in);
    ulb_one_scale(values, ulb_fp16_to_float(in.d));
    for (unsigned i = 0; i < ULB_Q8_0_COLUMNS; i++)
        values->q[i] = in.qs[i];
}

/* The scale is positive. */
static void quantise(const float *weights, struct ulb_block_values *values)
{
    float scale = fabsf(ulb_signed_largest(weights, ULB_Q8_0_COLUMNS)) / 127,
          inverse = scale > 0 ? 1 / scale : 0;
    *values = (struct ulb_block_values){.d = ulb_half(scale), .scale = {1}};
    for (unsigned i = 0; i < ULB_Q8_0_COLUMNS; i++)
        values->q[i] = (int16_t)ulb_round_within(weights[i] * inverse, -127, 127);
}

static const struct ulb_block block = {ULB_ONE_GROUP(ULB_Q8_0_COLUMNS, sizeof(struct ulb_q8_0)),
                                       .d = ULB_SCALE_HALF};

const struct ulb_format ulb_q8_0 = {.name = "q8_0",
                                    .summary = "GGUF: 8 bits, a half-precision scale per 32",
                                    .bits = 8.5,
                                    .min = -128,
                                    .max = 127,
                                    .step = 1,
                                    .block = &block};

const struct ulb_layout ulb_q8_0_in_place = ULB_IN_PLACE(ulb_q8_0, ULB_Q8_0_COLUMNS, sizeof(struct ulb_q8_0));

static const struct ulb_row_tile signed_rows = {
    .codes = &ulb_whole_bytes, .sets = 6, .zero_point = ULB_Q8_0_ZERO_POINT, .flip = 0x80};
static const struct ulb_row_tile rows = {
    .codes = &ulb_whole_bytes, .sets = 6, .zero_point = ULB_Q8_0_ZERO_POINT};

const struct ulb_layout ulb_q8_0_rows_48 =
    ULB_INTERLEAVED("rows-48", ulb_q8_0, rows, 8, 6, ULB_Q8_0_COLUMNS, 1, 1, 2);
const struct ulb_layout ulb_q8_0_rows_96 =
    ULB_INTERLEAVED("rows-96", ulb_q8_0, rows, 16, 6, ULB_Q8_0_COLUMNS, 1, 1, 2);
/* Bytes are values: for kernels without dot products. */
const struct ulb_layout ulb_q8_0_signed_rows_48 =
    ULB_INTERLEAVED("signed-rows-48", ulb_q8_0, signed_rows, 8, 6, ULB_Q8_0_COLUMNS, 1, 1, 2);

static const struct ulb_row_tile quads = {
    .codes = &ulb_whole_bytes, .sets = 1, .zero_point = ULB_Q8_0_ZERO_POINT, .flip = 0x80};

const struct ulb_layout ulb_q8_0_sdot_32 =
    ULB_INTERLEAVED("quads-32", ulb_q8_0, quads, 32, 1, ULB_Q8_0_COLUMNS, 1, 1, 2);
const struct ulb_layout ulb_q8_0_sdot_128 =
    ULB_INTERLEAVED("quads-128", ulb_q8_0, quads, 128, 1, ULB_Q8_0_COLUMNS, 1, 1, 2);
