#include "kernels/planes.h"

unsigned ulb_plane_width(unsigned bits, unsigned first)
{
    unsigned left = bits - first;
    return left >= 8 ? 8 : left >= 4 ? 4 : left >= 2 ? 2 : 1;
}

/* Byte at of a plane: 4 columns of a lane, the lanes of a vector, the vectors of 4 columns. */
static unsigned column_of(unsigned at, unsigned width, unsigned lanes)
{
    return at / (4 * lanes * width) * 4 + at % 4;
}

static unsigned row_of(unsigned at, unsigned width, unsigned lanes, unsigned field)
{
    unsigned vector = at / (4 * lanes) % width;
    return (vector * (8 / width) + field) * lanes + at / 4 % lanes;
}

uint8_t *ulb_planes_pack(unsigned bits, int offset, unsigned lanes, unsigned columns,
                         const struct ulb_block_values *values, uint8_t *bytes)
{
    for (unsigned first = 0, width; first < bits; first += width) {
        width = ulb_plane_width(bits, first);
        for (unsigned at = 0; at < columns * lanes * width; at++) {
            unsigned byte = 0;
            for (unsigned field = 0; field < 8 / width; field++) {
                int q = values[row_of(at, width, lanes, field)].q[column_of(at, width, lanes)];
                byte |= ((unsigned)(q + offset) >> first & ((1u << width) - 1)) << field * width;
            }
            *bytes++ = (uint8_t)byte;
        }
    }
    return bytes;
}

const uint8_t *ulb_planes_unpack(unsigned bits, int offset, unsigned lanes, unsigned columns,
                                 const uint8_t *bytes, struct ulb_block_values *values)
{
    for (unsigned row = 0; row < 8 * lanes; row++) {
        for (unsigned k = 0; k < columns; k++)
            values[row].q[k] = (int16_t)-offset;
    }
    for (unsigned first = 0, width; first < bits; first += width) {
        width = ulb_plane_width(bits, first);
        for (unsigned at = 0; at < columns * lanes * width; at++, bytes++) {
            for (unsigned field = 0; field < 8 / width; field++) {
                int16_t *q = &values[row_of(at, width, lanes, field)].q[column_of(at, width, lanes)];
                unsigned code = (unsigned)*bytes >> field * width & ((1u << width) - 1);
                *q = (int16_t)(*q + (int)(code << first));
            }
        }
    }
    return bytes;
}
