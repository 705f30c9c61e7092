#include "common/mem.h"
#include "kernels/pack/gguf_blocks.h"
#include "kernels/pack/block_interleave.h"

#include <math.h>
#include <string.h>

enum { TILE_BLOCKS_MAX = 192, EXPONENT_ORIGIN = 128 };

size_t ulb_block_row_bytes(const struct ulb_format *format, size_t k)
{
    return k / format->block->columns * format->block->bytes;
}

float ulb_exponent_scale(uint8_t byte)
{
    return ldexpf(1.0f, byte - EXPONENT_ORIGIN);
}

uint8_t ulb_exponent_byte(float scale)
{
    return (uint8_t)(scale > 0 ? ilogbf(scale) + EXPONENT_ORIGIN : 0);
}

void ulb_block_dequantise(const struct ulb_block *block, const struct ulb_block_values *values,
                          double *weights)
{
    for (unsigned k = 0; k < block->columns; k++) {
        unsigned g = k / block->group;
        weights[k] = (double)values->d * values->scale[g] * ulb_block_level(block, values, k) -
                     (double)values->dmin * values->min[g];
    }
}

float ulb_blocks_sum(const struct ulb_format *format, const struct ulb_matrix *matrix, size_t m)
{
    const uint8_t *row = matrix->blocks + m * ulb_block_row_bytes(format, matrix->k);
    const struct ulb_block *block = format->block;
    double sum = 0;
    for (size_t b = 0; b < matrix->k / block->columns; b++) {
        struct ulb_block_values values;
        block->decode(row + b * block->bytes, &values);
        for (unsigned g = 0; g < block->columns / block->group; g++) {
            int of_group = 0;
            for (unsigned k = g * block->group; k < (g + 1) * block->group; k++)
                of_group += ulb_block_value(block, &values, k);
            sum += (double)values.d * values.scale[g] * of_group -
                   (double)values.dmin * values.min[g] * block->group;
        }
    }
    return (float)sum;
}

/* Padding: codes of 0 with scales of 0. */
static void no_block(const struct ulb_format *format, struct ulb_block_values *values)
{
    const struct ulb_block *block = format->block;
    *values = (struct ulb_block_values){0};
    for (unsigned g = 0; g < block->columns / block->group; g++) {
        values->scale[g] = (int16_t)block->scale_max;
        values->min[g] = (int16_t)block->min_max;
    }
}

/* Block b of row m, or padding. */
static void decode_at(const struct ulb_format *format, const struct ulb_matrix *matrix, size_t m, size_t b,
                      struct ulb_block_values *values)
{
    if (m < matrix->m && b < matrix->k / format->block->columns)
        format->block->decode(
            matrix->blocks + m * ulb_block_row_bytes(format, matrix->k) + b * format->block->bytes, values);
    else
        no_block(format, values);
}

void ulb_blocks_pack(const struct ulb_layout *layout, const struct ulb_matrix *matrix, size_t m0, size_t m1,
                     uint8_t *packed)
{
    const struct ulb_format *format = layout->format;
    size_t steps = ulb_layout_steps(layout, matrix->k), tile_bytes = ulb_layout_tile_bytes(layout);
    size_t slices = ulb_layout_slices(layout, matrix->k), per_tile = layout->tile_k / format->block->columns;
    if (layout->kind == ULB_LAYOUT_IN_PLACE) {
        size_t row = ulb_block_row_bytes(format, matrix->k);
        memcpy(packed + m0 * row, matrix->blocks + m0 * row, (m1 - m0) * row);
        return;
    }
    struct ulb_code_tables tables;
    if (layout->kind == ULB_LAYOUT_INTERLEAVED)
        ulb_code_tables_fill(layout, &tables);
    for (size_t m = m0; m < m1; m += layout->tile_m) {
        for (size_t i = 0; i < slices * steps; i++) {
            struct ulb_block_values values[TILE_BLOCKS_MAX];
            for (size_t r = 0; r < layout->tile_m; r++) {
                for (size_t b = 0; b < per_tile; b++)
                    decode_at(format, matrix, m + r, i * per_tile + b, &values[r * per_tile + b]);
            }
            uint8_t *tile = packed + i / steps * ulb_layout_slice_bytes(layout, matrix->m, matrix->k) +
                            (m / layout->tile_m * steps + i % steps) * tile_bytes;
            if (layout->kind == ULB_LAYOUT_BLOCKS)
                layout->blocks.pack(values, tile);
            else
                ulb_tile_pack(layout, &tables, values, tile);
        }
    }
}

void ulb_blocks_unpack(const struct ulb_layout *layout, const uint8_t *packed, struct ulb_matrix *matrix)
{
    const struct ulb_format *format = layout->format;
    size_t steps = ulb_layout_steps(layout, matrix->k), tile_bytes = ulb_layout_tile_bytes(layout);
    size_t row_bytes = ulb_block_row_bytes(format, matrix->k), columns = format->block->columns;
    size_t per_tile = layout->tile_k / columns;
    if (layout->kind == ULB_LAYOUT_IN_PLACE) {
        memcpy(matrix->blocks, packed, matrix->m * row_bytes);
        return;
    }
    for (size_t m = 0; m < matrix->m; m += layout->tile_m) {
        for (size_t b = 0; b < matrix->k / columns; b += per_tile) {
            struct ulb_block_values values[TILE_BLOCKS_MAX];
            size_t i = b / per_tile;
            const uint8_t *tile = packed + i / steps * ulb_layout_slice_bytes(layout, matrix->m, matrix->k) +
                                  (m / layout->tile_m * steps + i % steps) * tile_bytes;
            if (layout->kind == ULB_LAYOUT_BLOCKS)
                layout->blocks.unpack(tile, values);
            else
                ulb_tile_unpack(layout, tile, values);
            for (size_t r = 0; r < layout->tile_m && m + r < matrix->m; r++) {
                for (size_t j = 0; j < per_tile && b + j < matrix->k / columns; j++)
                    format->block->encode(&values[r * per_tile + j], matrix->blocks + (m + r) * row_bytes +
                                                                         (b + j) * format->block->bytes);
            }
        }
    }
}
