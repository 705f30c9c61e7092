#include "kernels/formats/mxfp4/format.h"

#include "kernels/quantise/fit_scales.h"
#include "kernels/pack/block_interleave.h"
#include "kernels/codes/four_bit.h"

#include <math.h>
#include <string.h>

const int8_t ulb_mxfp4_table[16] = {0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12};

static void encode(const struct ulb_block_values *values, void *block)
{
    struct ulb_mxfp4 out = {.e = ulb_exponent_byte(values->d)};
    ulb_nibbles_encode(values->q, 0, out.qs);
    memcpy(block, &out, sizeof out);
}

static void decode(const void *block, struct ulb_block_values *values)
{
    struct ulb_mxfp4 in;
    memcpy(&in, block, sizeof in);
    ulb_one_scale(values, ulb_exponent_scale(in.e));
    ulb_nibbles_decode(in.qs, 0, values->q);
}

/* The largest weight falls into the largest binade, 4 to 6 (OCP Microscaling Formats 1.0, 6.3). */
static void quantise(const float *weights, struct ulb_block_values *values)
{
    float largest = fabsf(ulb_signed_largest(weights, ULB_MXFP4_COLUMNS));
    int exponent = largest > 0 ? ilogbf(largest) - 2 + 127 : 0;
    *values = (struct ulb_block_values){.scale = {1}};
    values->d = ulb_exponent_scale((uint8_t)(exponent < 0 ? 0 : exponent > 254 ? 254 : exponent));
    ulb_quantise_by_table(weights, ULB_MXFP4_COLUMNS, ulb_mxfp4_table, 16, values);
}

static const struct ulb_block block = {ULB_ONE_GROUP(ULB_MXFP4_COLUMNS, sizeof(struct ulb_mxfp4)),
                                       .table = ulb_mxfp4_table, .d = ULB_SCALE_POWER};

const struct ulb_format ulb_mxfp4 = {.name = "mxfp4",
                                     .summary = "OCP: 4-bit floats, a power of two per 32",
                                     .bits = 4.25,
                                     .min = 0,
                                     .max = 15,
                                     .step = 1,
                                     .block = &block};

const struct ulb_layout ulb_mxfp4_in_place =
    ULB_IN_PLACE(ulb_mxfp4, ULB_MXFP4_COLUMNS, sizeof(struct ulb_mxfp4));

static const struct ulb_row_tile rows = {.codes = &ulb_nibbles, .sets = 3, .zero_point = 0};

const struct ulb_layout ulb_mxfp4_rows_48 =
    ULB_INTERLEAVED("rows-48", ulb_mxfp4, rows, 8, 6, ULB_MXFP4_COLUMNS, 1, 2, 1);
const struct ulb_layout ulb_mxfp4_rows_96 =
    ULB_INTERLEAVED("rows-96", ulb_mxfp4, rows, 16, 6, ULB_MXFP4_COLUMNS, 1, 2, 1);
