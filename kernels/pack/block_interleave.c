#include "kernels/pack/block_interleave.h"

#include "common/fp16.h"

#include <math.h>
#include <string.h>

const struct ulb_code_bytes ulb_whole_bytes = {1, 1, false, 1, {{0, 0, 1, 1, 256}}};
const struct ulb_code_bytes ulb_nibbles = {1, 2, false, 2, {{0, 0, 1, 1, 16}, {0, 1, 1, 16, 16}}};
const struct ulb_code_bytes ulb_two_bit = {
    1, 4, false, 4, {{0, 0, 1, 1, 4}, {0, 1, 1, 4, 4}, {0, 2, 1, 16, 4}, {0, 3, 1, 64, 4}}};
/* The order of kernels/codes/three_bit.h: two codes a byte, two more in what is left of three. */
const struct ulb_code_bytes ulb_three_bit = {3,
                                             8,
                                             false,
                                             10,
                                             {{0, 0, 1, 1, 8},
                                              {0, 1, 1, 8, 8},
                                              {0, 6, 1, 64, 4},
                                              {1, 2, 1, 1, 8},
                                              {1, 3, 1, 8, 8},
                                              {1, 7, 1, 64, 4},
                                              {2, 4, 1, 1, 8},
                                              {2, 5, 1, 8, 8},
                                              {2, 6, 4, 64, 2},
                                              {2, 7, 4, 128, 2}}};
/* A code a byte, three more in the 15 bits that are left of five. */
const struct ulb_code_bytes ulb_five_bit = {5,
                                            8,
                                            false,
                                            12,
                                            {{0, 0, 1, 1, 32},
                                             {1, 1, 1, 1, 32},
                                             {2, 2, 1, 1, 32},
                                             {3, 3, 1, 1, 32},
                                             {4, 4, 1, 1, 32},
                                             {0, 5, 1, 32, 8},
                                             {1, 5, 8, 32, 4},
                                             {1, 6, 1, 128, 2},
                                             {2, 6, 2, 32, 8},
                                             {3, 6, 16, 32, 2},
                                             {3, 7, 1, 64, 4},
                                             {4, 7, 4, 32, 8}}};
/* A code a byte, one more in the pairs of bits that are left of three. */
const struct ulb_code_bytes ulb_six_bit = {3,
                                           4,
                                           false,
                                           6,
                                           {{0, 0, 1, 1, 64},
                                            {1, 1, 1, 1, 64},
                                            {2, 2, 1, 1, 64},
                                            {0, 3, 1, 64, 4},
                                            {1, 3, 4, 64, 4},
                                            {2, 3, 16, 64, 4}}};
const struct ulb_code_bytes ulb_fifths = {
    1, 5, true, 5, {{0, 0, 1, 81, 3}, {0, 1, 1, 27, 3}, {0, 2, 1, 9, 3}, {0, 3, 1, 3, 3}, {0, 4, 1, 1, 3}}};

enum { FIFTHS = 243, NIBBLE_MAX = 15 };

/* The code of column col in a lane of a set. */
static int16_t *code_at(const struct ulb_layout *layout, struct ulb_block_values *values, unsigned set,
                        unsigned row, unsigned lane, unsigned col)
{
    return &values[(set * layout->interleaved.rows->codes->rows + row) * layout->interleaved.lanes + lane]
                .q[col];
}

/* Adds the byte's parts to codes that begin as 0. */
static void codes_of(const struct ulb_layout *layout, uint8_t stored, unsigned vector, unsigned lane,
                     unsigned col, struct ulb_block_values *values)
{
    const struct ulb_code_bytes *codes = layout->interleaved.rows->codes;
    unsigned byte = (uint8_t)(stored ^ layout->interleaved.rows->xor_mask);
    if (codes->fraction)
        byte = byte * FIFTHS / 256;
    for (unsigned i = 0; i < codes->n_parts; i++) {
        const struct ulb_code_part *part = &codes->parts[i];
        if (part->byte != vector % codes->bytes)
            continue;
        int16_t *code = code_at(layout, values, vector / codes->bytes, part->row, lane, col);
        *code = (int16_t)(*code + (int)(byte / part->factor % part->modulus * part->divisor));
    }
}

void ulb_code_tables_fill(const struct ulb_layout *layout, struct ulb_code_tables *tables)
{
    const struct ulb_code_bytes *codes = layout->interleaved.rows->codes;
    unsigned values = (unsigned)(layout->format->max - layout->format->min) + 1;
    for (unsigned i = 0; i < codes->n_parts; i++) {
        const struct ulb_code_part *part = &codes->parts[i];
        for (unsigned code = 0; code < values; code++)
            tables->of_part[i][code] = (uint8_t)(code / part->divisor % part->modulus * part->factor);
    }
}

/* Sums of a byte's parts become what is stored. */
static void finish_bytes(const struct ulb_row_tile *rows, unsigned columns, uint8_t *bytes)
{
    for (unsigned k = 0; k < columns && rows->codes->fraction; k++)
        bytes[k] = (uint8_t)(bytes[k] * 256 / FIFTHS + 1);
    for (unsigned k = 0; k < columns; k++)
        bytes[k] ^= rows->xor_mask;
}

/* bytes[k] += what a part makes of the codes of a row. */
static void add_part(const uint8_t *part, const int16_t *q, int zero_point, unsigned columns, uint8_t *bytes)
{
    for (unsigned k = 0; k < columns; k++)
        bytes[k] = (uint8_t)(bytes[k] + part[q[k] + zero_point]);
}

static unsigned groups_of(const struct ulb_block *block)
{
    return block->columns / block->group;
}

static bool has_group_scales(const struct ulb_block *block)
{
    return groups_of(block) > 1;
}

/* Bytes of the codes of some columns. */
static size_t codes_bytes(const struct ulb_layout *layout, unsigned columns)
{
    return (size_t)columns / 4 * layout->interleaved.rows->sets * layout->interleaved.rows->codes->bytes *
           layout->interleaved.lanes * 4;
}

/* Groups whose scales lie together, before their codes, and how many bytes these are. */
static unsigned groups_together(const struct ulb_block *block)
{
    return has_group_scales(block) && block->scale_max <= NIBBLE_MAX ? 2 : 1;
}

static unsigned columns_together(const struct ulb_block *block)
{
    return block->group * groups_together(block);
}

static size_t scales_together(const struct ulb_layout *layout)
{
    return has_group_scales(layout->format->block) ? layout->tile_m : 0;
}

/* Offset of the codes of four columns from k. */
static size_t codes_at(const struct ulb_layout *layout, unsigned k)
{
    unsigned scales_before = k / columns_together(layout->format->block) + 1;
    return codes_bytes(layout, k) + scales_before * scales_together(layout);
}

/* Bytes of codes, one lane of a vector after the other. */
static void pack_codes(const struct ulb_layout *layout, const struct ulb_code_tables *tables,
                       const struct ulb_block_values *values, uint8_t *tile)
{
    const struct ulb_row_tile *rows = layout->interleaved.rows;
    const struct ulb_code_bytes *codes = rows->codes;
    unsigned vectors = rows->sets * codes->bytes, vector_bytes = layout->interleaved.lanes * 4;
    unsigned together = columns_together(layout->format->block);
    for (unsigned at = 0; at < vectors * layout->interleaved.lanes; at++) {
        unsigned vector = at / layout->interleaved.lanes, lane = at % layout->interleaved.lanes;
        uint8_t bytes[ULB_BLOCK_COLUMNS_MAX] = {0}, *out = tile + vector * vector_bytes + lane * 4;
        for (unsigned i = 0; i < codes->n_parts; i++) {
            unsigned row = vector / codes->bytes * codes->rows + codes->parts[i].row;
            if (codes->parts[i].byte == vector % codes->bytes)
                add_part(tables->of_part[i], values[row * layout->interleaved.lanes + lane].q,
                         rows->zero_point, layout->tile_k, bytes);
        }
        finish_bytes(rows, layout->tile_k, bytes);
        for (unsigned begin = 0; begin < layout->tile_k; begin += together) {
            uint8_t *codes_of_groups = out + codes_at(layout, begin);
            for (unsigned k = 0; k < together; k += 4)
                memcpy(codes_of_groups + k / 4 * vectors * vector_bytes, bytes + begin + k, 4);
        }
    }
}

static void unpack_codes(const struct ulb_layout *layout, const uint8_t *tile,
                         struct ulb_block_values *values)
{
    unsigned vectors = layout->interleaved.rows->sets * layout->interleaved.rows->codes->bytes;
    for (unsigned k = 0; k < layout->tile_k; k += 4) {
        const uint8_t *byte = tile + codes_at(layout, k);
        for (unsigned at = 0; at < vectors * layout->interleaved.lanes * 4; at++)
            codes_of(layout, *byte++, at / (layout->interleaved.lanes * 4),
                     at / 4 % layout->interleaved.lanes, k + at % 4, values);
    }
    for (unsigned i = 0; i < layout->tile_m * layout->tile_k; i++)
        values[i / layout->tile_k].q[i % layout->tile_k] =
            (int16_t)(values[i / layout->tile_k].q[i % layout->tile_k] -
                      layout->interleaved.rows->zero_point);
}

static bool has_group_minima(const struct ulb_block *block)
{
    return block->min_max > 1;
}

/* Offset of the minimum of a group of a row, and its shift in bits. */
static size_t minimum_at(const struct ulb_layout *layout, unsigned row, unsigned group, unsigned *shift)
{
    const struct ulb_block *block = layout->format->block;
    unsigned quads = groups_of(block) / 4, quad = group / 4;
    bool nibbles = block->min_max <= NIBBLE_MAX;
    *shift = nibbles && quad >= quads / 2 ? 4 : 0;
    return ((size_t)(nibbles ? quad % (quads / 2) : quad) * layout->tile_m + row) * 4 + group % 4;
}

static size_t minima_bytes(const struct ulb_layout *layout)
{
    const struct ulb_block *block = layout->format->block;
    size_t bytes = has_group_minima(block) ? (size_t)groups_of(block) * layout->tile_m : 0;
    return block->min_max <= NIBBLE_MAX ? bytes / 2 : bytes;
}

/* Offset of the scale of a group for the first row, and its shift in bits. */
static size_t scales_at(const struct ulb_layout *layout, unsigned group, unsigned *shift)
{
    const struct ulb_block *block = layout->format->block;
    unsigned first = group / groups_together(block) * groups_together(block);
    *shift = group > first ? 4 : 0;
    return codes_at(layout, first * block->group) - scales_together(layout);
}

static size_t scales_and_codes(const struct ulb_layout *layout)
{
    return codes_at(layout, layout->tile_k) - scales_together(layout);
}

static uint8_t *pack_minima(const struct ulb_layout *layout, const struct ulb_block_values *values,
                            uint8_t *at)
{
    unsigned groups = groups_of(layout->format->block), shift;
    size_t bytes = minima_bytes(layout);
    memset(at, 0, bytes);
    for (unsigned i = 0; bytes > 0 && i < layout->tile_m * groups; i++) {
        uint8_t *minimum = at + minimum_at(layout, i / groups, i % groups, &shift);
        *minimum = (uint8_t)(*minimum | (unsigned)values[i / groups].min[i % groups] << shift);
    }
    return at + bytes;
}

static void pack_scales(const struct ulb_layout *layout, const struct ulb_block_values *values, uint8_t *tile)
{
    const struct ulb_block *block = layout->format->block;
    if (!has_group_scales(block))
        return;
    for (unsigned g = 0; g < groups_of(block); g++) {
        unsigned shift;
        uint8_t *scales = tile + scales_at(layout, g, &shift);
        for (unsigned row = 0; row < layout->tile_m; row++)
            scales[row] = (uint8_t)((shift ? scales[row] : 0) | (unsigned)values[row].scale[g] << shift);
    }
}

static const uint8_t *unpack_minima(const struct ulb_layout *layout, const uint8_t *at,
                                    struct ulb_block_values *values)
{
    const struct ulb_block *block = layout->format->block;
    size_t bytes = minima_bytes(layout);
    for (unsigned i = 0; i < layout->tile_m * groups_of(block); i++) {
        unsigned row = i / groups_of(block), g = i % groups_of(block), shift;
        values[row].min[g] = (int16_t)block->min_max;
        if (bytes > 0) {
            uint8_t byte = at[minimum_at(layout, row, g, &shift)];
            byte = (uint8_t)(byte >> shift);
            values[row].min[g] = block->min_max <= NIBBLE_MAX ? byte & NIBBLE_MAX : byte;
        }
    }
    return at + bytes;
}

static int16_t stored_scale(const struct ulb_block *block, uint8_t byte)
{
    if (block->scale_max <= NIBBLE_MAX)
        return byte & NIBBLE_MAX;
    return block->scale_min < 0 ? (int8_t)byte : byte;
}

static void unpack_scales(const struct ulb_layout *layout, const uint8_t *tile,
                          struct ulb_block_values *values)
{
    const struct ulb_block *block = layout->format->block;
    for (unsigned g = 0; g < groups_of(block); g++) {
        unsigned shift;
        const uint8_t *scales = tile + scales_at(layout, g, &shift);
        for (unsigned row = 0; row < layout->tile_m; row++)
            values[row].scale[g] = has_group_scales(block)
                                       ? stored_scale(block, (uint8_t)(scales[row] >> shift))
                                       : (int16_t)block->scale_max;
    }
}

static uint8_t *store_half(float value, uint8_t *at)
{
    uint16_t half = ulb_fp16_from_float(value);
    memcpy(at, &half, sizeof half);
    return at + sizeof half;
}

static float load_half(const uint8_t *at)
{
    uint16_t half;
    memcpy(&half, at, sizeof half);
    return ulb_fp16_to_float(half);
}

void ulb_tile_pack(const struct ulb_layout *layout, const struct ulb_code_tables *tables,
                   const struct ulb_block_values *values, uint8_t *tile)
{
    const struct ulb_block *block = layout->format->block;
    pack_scales(layout, values, tile);
    pack_codes(layout, tables, values, tile);
    uint8_t *at = pack_minima(layout, values, tile + scales_and_codes(layout));
    for (unsigned row = 0; row < layout->tile_m; row++) {
        if (block->d == ULB_SCALE_POWER)
            *at++ = ulb_exponent_byte(values[row].d);
        else
            at = store_half(values[row].d, at);
    }
    for (unsigned row = 0; row < layout->tile_m && block->min_max > 0; row++)
        at = store_half(values[row].dmin, at);
}

void ulb_tile_unpack(const struct ulb_layout *layout, const uint8_t *tile, struct ulb_block_values *values)
{
    const struct ulb_block *block = layout->format->block;
    memset(values, 0, layout->tile_m * sizeof *values);
    unpack_scales(layout, tile, values);
    unpack_codes(layout, tile, values);
    const uint8_t *at = unpack_minima(layout, tile + scales_and_codes(layout), values);
    size_t d_bytes = block->d == ULB_SCALE_POWER ? 1 : sizeof(uint16_t);
    for (unsigned row = 0; row < layout->tile_m; row++, at += d_bytes)
        values[row].d = block->d == ULB_SCALE_POWER ? ulb_exponent_scale(*at) : load_half(at);
    for (unsigned row = 0; row < layout->tile_m && block->min_max > 0; row++, at += sizeof(uint16_t))
        values[row].dmin = load_half(at);
}
