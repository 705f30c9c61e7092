#include "kernels/formats/tq1_0/format.h"

#include "common/fp16.h"
#include "kernels/quantise/fit_scales.h"
#include "kernels/pack/block_interleave.h"

#include <string.h>

enum { DIGITS = 5, FIFTHS = 243 };

/* Places of the digits in the 52 bytes: digit i of byte m is column first + m + i * stride. */
static const struct {
    unsigned bytes, first, stride, digits;
} runs[] = {{32, 0, 32, DIGITS}, {16, 160, 16, DIGITS}, {4, 240, 4, DIGITS - 1}};

static uint8_t encode_byte(const int16_t *q, unsigned stride, unsigned digits)
{
    unsigned number = 0;
    for (unsigned i = 0; i < DIGITS; i++)
        number = number * 3 + (i < digits ? (unsigned)(q[i * stride] + ULB_TQ1_0_ZERO_POINT) : 0);
    return (uint8_t)((number * 256 + FIFTHS - 1) / FIFTHS);
}

/* A multiplication by three overflows 256 by the next digit. */
static void decode_byte(uint8_t byte, unsigned stride, unsigned digits, int16_t *q)
{
    for (unsigned i = 0; i < digits; i++, byte = (uint8_t)(byte * 3))
        q[i * stride] = (int16_t)((byte * 3 >> 8) - ULB_TQ1_0_ZERO_POINT);
}

static void encode(const struct ulb_block_values *values, void *block)
{
    struct ulb_tq1_0 out = {.d = ulb_fp16_from_float(values->d)};
    uint8_t bytes[sizeof out.qs + sizeof out.qh], *byte = bytes;
    for (unsigned r = 0; r < sizeof runs / sizeof *runs; r++) {
        for (unsigned m = 0; m < runs[r].bytes; m++)
            *byte++ = encode_byte(values->q + runs[r].first + m, runs[r].stride, runs[r].digits);
    }
    memcpy(out.qs, bytes, sizeof out.qs);
    memcpy(out.qh, bytes + sizeof out.qs, sizeof out.qh);
    memcpy(block, &out, sizeof out);
}

static void decode(const void *block, struct ulb_block_values *values)
{
    struct ulb_tq1_0 in;
    memcpy(&in, block, sizeof in);
    ulb_one_scale(values, ulb_fp16_to_float(in.d));
    const uint8_t *byte = block;
    for (unsigned r = 0; r < sizeof runs / sizeof *runs; r++) {
        for (unsigned m = 0; m < runs[r].bytes; m++)
            decode_byte(*byte++, runs[r].stride, runs[r].digits, values->q + runs[r].first + m);
    }
}

static void quantise(const float *weights, struct ulb_block_values *values)
{
    ulb_quantise_ternary(weights, ULB_TQ1_0_COLUMNS, values);
}

static const struct ulb_block block = {ULB_ONE_GROUP(ULB_TQ1_0_COLUMNS, sizeof(struct ulb_tq1_0)),
                                       .d = ULB_SCALE_HALF};

const struct ulb_format ulb_tq1_0 = {.name = "tq1_0",
                                     .summary = "GGUF: ternary, five in a byte, scale per 256",
                                     .bits = 1.6875,
                                     .min = -1,
                                     .max = 1,
                                     .step = 1,
                                     .block = &block};

const struct ulb_layout ulb_tq1_0_in_place =
    ULB_IN_PLACE(ulb_tq1_0, ULB_TQ1_0_COLUMNS, sizeof(struct ulb_tq1_0));

static const struct ulb_row_tile signed_rows = {
    .codes = &ulb_fifths, .sets = 1, .zero_point = ULB_TQ1_0_ZERO_POINT, .xor_mask = 0x80};
static const struct ulb_row_tile rows = {.codes = &ulb_fifths, .sets = 1, .zero_point = ULB_TQ1_0_ZERO_POINT};

const struct ulb_layout ulb_tq1_0_rows_40 =
    ULB_INTERLEAVED("rows-40", ulb_tq1_0, rows, 8, 5, ULB_TQ1_0_COLUMNS, 1, 5, 2);
const struct ulb_layout ulb_tq1_0_rows_80 =
    ULB_INTERLEAVED("rows-80", ulb_tq1_0, rows, 16, 5, ULB_TQ1_0_COLUMNS, 1, 5, 2);
/* Bytes less 128: for kernels without dot products. */
const struct ulb_layout ulb_tq1_0_signed_rows_40 =
    ULB_INTERLEAVED("signed-rows-40", ulb_tq1_0, signed_rows, 8, 5, ULB_TQ1_0_COLUMNS, 1, 5, 2);
