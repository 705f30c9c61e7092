#include "kernels/int8/format.h"

const struct ulb_format ulb_int8 = {.name = "int8",
                                    .summary = "8-bit integers, one scale per row",
                                    .bits = 8,
                                    .min = -128,
                                    .max = 127,
                                    .step = 1};

static unsigned row_major(unsigned row, unsigned col)
{
    return (row + col) * 8;
}

static unsigned vnni4(unsigned row, unsigned col)
{
    return (row * 4 + col) * 8;
}

static unsigned encode_biased(int value)
{
    return (unsigned)(value + ULB_INT8_ZERO_POINT);
}

static int decode_biased(unsigned code)
{
    return (int)code - ULB_INT8_ZERO_POINT;
}

static unsigned encode_signed(int value)
{
    return (unsigned)value & 0xFF;
}

static int decode_signed(unsigned code)
{
    return (int)(int8_t)(uint8_t)code;
}

const struct ulb_layout ulb_int8_rows = {"rows", &ulb_int8, 1, 1, row_major, encode_signed, decode_signed};
const struct ulb_layout ulb_int8_vnni4 = {"vnni4", &ulb_int8, 48, 4, vnni4, encode_biased, decode_biased};
const struct ulb_layout ulb_int8_vnni4_96 = {"vnni4-96", &ulb_int8,     96,           4,
                                             vnni4,      encode_biased, decode_biased};
const struct ulb_layout ulb_int8_vnni4_signed = {"vnni4-signed", &ulb_int8,     48,           4,
                                                 vnni4,          encode_signed, decode_signed};
