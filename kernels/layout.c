#include "common/mem.h"
#include "kernels/kernel.h"

#include <string.h>

enum { TILE_WEIGHTS_MAX = 1024 };

static size_t padded_rows(const struct ulb_layout *layout, size_t m)
{
    return ulb_round_up(m, layout->tile_m);
}

static size_t tile_bits(const struct ulb_layout *layout)
{
    return (size_t)layout->tile_m * layout->tile_k * layout->format->bits;
}

static size_t tiles_per_row(const struct ulb_layout *layout, size_t k)
{
    return (k + layout->tile_k - 1) / layout->tile_k;
}

size_t ulb_layout_scales_offset(const struct ulb_layout *layout, size_t m, size_t k)
{
    size_t tiles = padded_rows(layout, m) / layout->tile_m * tiles_per_row(layout, k);
    return ulb_round_up((tiles * tile_bits(layout) + 7) / 8, ULB_CACHE_LINE);
}

size_t ulb_layout_bytes(const struct ulb_layout *layout, size_t m, size_t k)
{
    size_t scales = layout->format->floating ? 0 : padded_rows(layout, m) * sizeof(float);
    return ulb_layout_scales_offset(layout, m, k) + ulb_round_up(scales, ULB_CACHE_LINE);
}

/* Codes are at most 16 bits and never cross a byte unless they fill whole bytes. */
static void put_code(uint8_t *tile, unsigned offset, unsigned bits, unsigned code)
{
    uint8_t *byte = tile + offset / 8;
    if (bits == 16) {
        byte[0] = (uint8_t)code;
        byte[1] = (uint8_t)(code >> 8);
    } else {
        *byte = (uint8_t)(*byte | code << offset % 8);
    }
}

static unsigned get_code(const uint8_t *tile, unsigned offset, unsigned bits)
{
    const uint8_t *byte = tile + offset / 8;
    if (bits == 16)
        return byte[0] | (unsigned)byte[1] << 8;
    return (unsigned)*byte >> offset % 8 & ((1u << bits) - 1);
}

/* Bit offsets of one tile, row-major: the same for every tile, so they are looked up instead of computed. */
static void tile_map(const struct ulb_layout *layout, unsigned map[TILE_WEIGHTS_MAX])
{
    for (unsigned row = 0; row < layout->tile_m; row++) {
        for (unsigned col = 0; col < layout->tile_k; col++)
            map[row * layout->tile_k + col] = layout->bit_offset(row, col);
    }
}

static void pack_tile(const struct ulb_layout *layout, const struct ulb_matrix *matrix, const unsigned *map,
                      size_t m, size_t k, uint8_t *tile)
{
    unsigned bits = layout->format->bits;
    int padding = layout->format->floating || layout->format->min > 0 || layout->format->step > 1
                      ? layout->format->min
                      : 0;
    for (unsigned row = 0; row < layout->tile_m; row++) {
        for (unsigned col = 0; col < layout->tile_k; col++) {
            int inside = m + row < matrix->m && k + col < matrix->k;
            int value = inside ? matrix->values[(m + row) * matrix->k + k + col] : padding;
            put_code(tile, map[row * layout->tile_k + col], bits, layout->encode(value));
        }
    }
}

void ulb_layout_pack(const struct ulb_layout *layout, const struct ulb_matrix *matrix, size_t m0, size_t m1,
                     void *packed)
{
    unsigned map[TILE_WEIGHTS_MAX];
    tile_map(layout, map);
    size_t bytes_per_tile = tile_bits(layout) / 8;
    size_t per_row = tiles_per_row(layout, matrix->k);
    for (size_t m = m0; m < m1; m += layout->tile_m) {
        uint8_t *tile = (uint8_t *)packed + m / layout->tile_m * per_row * bytes_per_tile;
        for (size_t k = 0; k < matrix->k; k += layout->tile_k, tile += bytes_per_tile)
            pack_tile(layout, matrix, map, m, k, tile);
    }
    if (layout->format->floating)
        return;
    float *scales = (float *)((char *)packed + ulb_layout_scales_offset(layout, matrix->m, matrix->k));
    size_t end = m1 < matrix->m ? m1 : matrix->m;
    memcpy(scales + m0, matrix->scales + m0, (end - m0) * sizeof *scales);
}

void ulb_layout_unpack(const struct ulb_layout *layout, const void *packed, struct ulb_matrix *matrix)
{
    unsigned map[TILE_WEIGHTS_MAX];
    tile_map(layout, map);
    size_t bytes_per_tile = tile_bits(layout) / 8;
    size_t per_row = tiles_per_row(layout, matrix->k);
    for (size_t m = 0; m < matrix->m; m++) {
        for (size_t k = 0; k < matrix->k; k++) {
            size_t tile = m / layout->tile_m * per_row + k / layout->tile_k;
            unsigned offset = map[m % layout->tile_m * layout->tile_k + k % layout->tile_k];
            unsigned code =
                get_code((const uint8_t *)packed + tile * bytes_per_tile, offset, layout->format->bits);
            matrix->values[m * matrix->k + k] = (int16_t)layout->decode(code);
        }
    }
    if (!layout->format->floating)
        memcpy(matrix->scales, (const char *)packed + ulb_layout_scales_offset(layout, matrix->m, matrix->k),
               matrix->m * sizeof *matrix->scales);
}
