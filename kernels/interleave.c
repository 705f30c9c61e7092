#include "kernels/interleave.h"

#include "common/fp16.h"

#include <string.h>

size_t ulb_interleaved_bytes(const struct ulb_interleave *how, unsigned columns)
{
    return (size_t)columns * how->lanes * how->vectors;
}

static unsigned row_of(const struct ulb_interleave *how, unsigned vector, unsigned field, unsigned lane)
{
    return (vector * how->fields + field) * how->lanes + lane;
}

void ulb_interleave(const struct ulb_interleave *how, const struct ulb_block_values *values, unsigned columns,
                    uint8_t *bytes)
{
    unsigned mask = (1u << how->bits) - 1;
    for (unsigned k = 0; k < columns; k += 4) {
        for (unsigned at = 0; at < how->vectors * how->lanes * 4; at++) {
            unsigned vector = at / (how->lanes * 4), lane = at / 4 % how->lanes, byte = 0;
            for (unsigned field = 0; field < how->fields; field++) {
                int q = values[row_of(how, vector, field, lane)].q[k + at % 4];
                byte |= ((unsigned)(q + how->zero_point) >> how->first_bit & mask) << field * how->bits;
            }
            *bytes++ = (uint8_t)byte;
        }
    }
}

void ulb_deinterleave(const struct ulb_interleave *how, const uint8_t *bytes, unsigned columns,
                      struct ulb_block_values *values)
{
    unsigned mask = (1u << how->bits) - 1;
    for (unsigned k = 0; k < columns; k += 4) {
        for (unsigned at = 0; at < how->vectors * how->lanes * 4; at++) {
            unsigned vector = at / (how->lanes * 4), lane = at / 4 % how->lanes, byte = *bytes++;
            for (unsigned field = 0; field < how->fields; field++) {
                int16_t *q = &values[row_of(how, vector, field, lane)].q[k + at % 4];
                int code = (int)((byte >> field * how->bits & mask) << how->first_bit);
                *q = (int16_t)(*q + code - how->zero_point);
            }
        }
    }
}

static void store_half(float value, void *out, unsigned i)
{
    uint16_t half = ulb_fp16_from_float(value);
    memcpy((char *)out + i * sizeof half, &half, sizeof half);
}

static float load_half(const void *in, unsigned i)
{
    uint16_t half;
    memcpy(&half, (const char *)in + i * sizeof half, sizeof half);
    return ulb_fp16_to_float(half);
}

void ulb_store_half_scales(const struct ulb_block_values *values, unsigned rows, void *out)
{
    for (unsigned i = 0; i < rows; i++)
        store_half(values[i].d, out, i);
}

void ulb_load_half_scales(const void *in, unsigned rows, struct ulb_block_values *values)
{
    for (unsigned i = 0; i < rows; i++)
        values[i].d = load_half(in, i);
}

void ulb_store_half_minima(const struct ulb_block_values *values, unsigned rows, void *out)
{
    for (unsigned i = 0; i < rows; i++)
        store_half(values[i].dmin, out, i);
}

void ulb_load_half_minima(const void *in, unsigned rows, struct ulb_block_values *values)
{
    for (unsigned i = 0; i < rows; i++)
        values[i].dmin = load_half(in, i);
}

void ulb_store_byte_scales(const struct ulb_block_values *values, unsigned rows, unsigned groups, void *out)
{
    for (unsigned i = 0; i < groups * rows; i++)
        ((uint8_t *)out)[i] = (uint8_t)values[i % rows].scale[i / rows];
}

void ulb_load_byte_scales(const void *in, unsigned rows, unsigned groups, struct ulb_block_values *values)
{
    for (unsigned i = 0; i < groups * rows; i++)
        values[i % rows].scale[i / rows] = ((const uint8_t *)in)[i];
}

void ulb_store_min_quads(const struct ulb_block_values *values, unsigned rows, unsigned groups, void *out)
{
    for (unsigned i = 0; i < groups * rows; i++)
        ((uint8_t *)out)[i] = (uint8_t)values[i / 4 % rows].min[i / (4 * rows) * 4 + i % 4];
}

void ulb_load_min_quads(const void *in, unsigned rows, unsigned groups, struct ulb_block_values *values)
{
    for (unsigned i = 0; i < groups * rows; i++)
        values[i / 4 % rows].min[i / (4 * rows) * 4 + i % 4] = ((const uint8_t *)in)[i];
}
