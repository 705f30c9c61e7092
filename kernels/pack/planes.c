#include "kernels/pack/planes.h"

#include <string.h>

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

/* bytes[k] gets some bits of the codes of a row, from bit first on, at bit place. */
static void add_field(const int16_t *q, int offset, unsigned columns, unsigned first, unsigned width,
                      unsigned place, uint8_t *bytes)
{
    unsigned mask = (1u << width) - 1;
    for (unsigned k = 0; k < columns; k++)
        bytes[k] = (uint8_t)(bytes[k] | ((unsigned)(q[k] + offset) >> first & mask) << place);
}

/* One lane of a vector after the other. */
uint8_t *ulb_planes_pack(unsigned bits, int offset, unsigned lanes, unsigned columns,
                         const struct ulb_block_values *values, uint8_t *plane)
{
    for (unsigned first = 0, width; first < bits; first += width, plane += columns * lanes * width) {
        width = ulb_plane_width(bits, first);
        for (unsigned at = 0; at < width * lanes; at++) {
            const struct ulb_block_values *row = values + at / lanes * (8 / width) * lanes + at % lanes;
            uint8_t bytes[ULB_BLOCK_COLUMNS_MAX] = {0};
            for (unsigned field = 0; field < 8 / width; field++)
                add_field(row[field * lanes].q, offset, columns, first, width, field * width, bytes);
            for (unsigned k = 0; k < columns; k += 4)
                memcpy(plane + (k * width * lanes + at * 4), bytes + k, 4);
        }
    }
    return plane;
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
