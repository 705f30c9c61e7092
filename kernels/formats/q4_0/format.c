#include "kernels/formats/q4_0/format.h"

#include "common/fp16.h"
#include "kernels/quantise/fit_scales.h"
#include "kernels/pack/block_interleave.h"
#include "kernels/codes/four_bit.h"

#include <string.h>

static void encode(const struct ulb_block_values *values, void *block)
{
    struct ulb_q4_0 out = {.d = ulb_fp16_from_float(values->d)};
    ulb_nibbles_encode(values->q, ULB_Q4_0_ZERO_POINT, out.qs);
    memcpy(block, &out, sizeof out);
}

static void decode(const void *block, struct ulb_block_values *values)
{
    struct ulb_q4_0 in;
    memcpy(&in, block, sizeof in);
    ulb_one_scale(values, ulb_fp16_to_float(in.d));
    ulb_nibbles_decode(in.qs, ULB_Q4_0_ZERO_POINT, values->q);
}

/* The weight of largest magnitude becomes -8. */
static void quantise(const float *weights, struct ulb_block_values *values)
{
    ulb_quantise_signed(weights, ULB_Q4_0_COLUMNS, -8, 7, values);
}

static const struct ulb_block block = {ULB_ONE_GROUP(ULB_Q4_0_COLUMNS, sizeof(struct ulb_q4_0)),
                                       .d = ULB_SCALE_HALF};

const struct ulb_format ulb_q4_0 = {.name = "q4_0",
                                    .summary = "GGUF: 4 bits, a half-precision scale per 32",
                                    .bits = 4.5,
                                    .min = -8,
                                    .max = 7,
                                    .step = 1,
                                    .block = &block};

const struct ulb_layout ulb_q4_0_in_place = ULB_IN_PLACE(ulb_q4_0, ULB_Q4_0_COLUMNS, sizeof(struct ulb_q4_0));

static const struct ulb_row_tile rows = {.codes = &ulb_nibbles, .sets = 3, .zero_point = ULB_Q4_0_ZERO_POINT};

const struct ulb_layout ulb_q4_0_rows_48 =
    ULB_INTERLEAVED("rows-48", ulb_q4_0, rows, 8, 6, ULB_Q4_0_COLUMNS, 1, 2, 2);
const struct ulb_layout ulb_q4_0_rows_96 =
    ULB_INTERLEAVED("rows-96", ulb_q4_0, rows, 16, 6, ULB_Q4_0_COLUMNS, 1, 2, 2);

static const struct ulb_row_tile quads = {
    .codes = &ulb_nibbles, .sets = 1, .zero_point = ULB_Q4_0_ZERO_POINT, .xor_mask = 0x80};

const struct ulb_layout ulb_q4_0_sdot_32 =
    ULB_INTERLEAVED("quads-32", ulb_q4_0, quads, 16, 2, ULB_Q4_0_COLUMNS, 1, 2, 2);
const struct ulb_layout ulb_q4_0_sdot_128 =
    ULB_INTERLEAVED("quads-128", ulb_q4_0, quads, 64, 2, ULB_Q4_0_COLUMNS, 1, 2, 2);
