#include "kernels/formats/iq4_nl/format.h"

#include "common/fp16.h"
#include "kernels/quantise/fit_scales.h"
#include "kernels/pack/block_interleave.h"
#include "kernels/codes/four_bit.h"

#include <string.h>

const int8_t ulb_iq4_nl_table[16] = {-127, -104, -83, -65, -49, -35, -22, -10,
                                     1,    13,   25,  38,  53,  69,  89,  113};

static void encode(const struct ulb_block_values *values, void *block)
{
    struct ulb_iq4_nl out = {.d = ulb_fp16_from_float(values->d)};
    ulb_nibbles_encode(values->q, 0, out.qs);
    memcpy(block, &out, sizeof out);
}

static void decode(const void *block, struct ulb_block_values *values)
{
    struct ulb_iq4_nl in;
    memcpy(&in, block, sizeof in);
    ulb_one_scale(values, ulb_fp16_to_float(in.d));
    ulb_nibbles_decode(in.qs, 0, values->q);
}

/* The weight of largest magnitude becomes -127. */
static void quantise(const float *weights, struct ulb_block_values *values)
{
    float largest = ulb_signed_largest(weights, ULB_IQ4_NL_COLUMNS);
    *values = (struct ulb_block_values){.d = ulb_half(largest / ulb_iq4_nl_table[0]), .scale = {1}};
    ulb_quantise_by_table(weights, ULB_IQ4_NL_COLUMNS, ulb_iq4_nl_table, 16, values);
}

static const struct ulb_block block = {ULB_ONE_GROUP(ULB_IQ4_NL_COLUMNS, sizeof(struct ulb_iq4_nl)),
                                       .table = ulb_iq4_nl_table, .d = ULB_SCALE_HALF};

const struct ulb_format ulb_iq4_nl = {.name = "iq4_nl",
                                      .summary = "GGUF: 4-bit codes of a table, scale per 32",
                                      .bits = 4.5,
                                      .min = 0,
                                      .max = 15,
                                      .step = 1,
                                      .block = &block};

const struct ulb_layout ulb_iq4_nl_in_place =
    ULB_IN_PLACE(ulb_iq4_nl, ULB_IQ4_NL_COLUMNS, sizeof(struct ulb_iq4_nl));

static const struct ulb_row_tile rows = {.codes = &ulb_nibbles, .sets = 3, .zero_point = 0};

const struct ulb_layout ulb_iq4_nl_rows_48 =
    ULB_INTERLEAVED("rows-48", ulb_iq4_nl, rows, 8, 6, ULB_IQ4_NL_COLUMNS, 1, 2, 2);
const struct ulb_layout ulb_iq4_nl_rows_96 =
    ULB_INTERLEAVED("rows-96", ulb_iq4_nl, rows, 16, 6, ULB_IQ4_NL_COLUMNS, 1, 2, 2);
