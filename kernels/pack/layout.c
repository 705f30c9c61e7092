#include "common/mem.h"
#include "kernels/pack/gguf_blocks.h"
#include "kernels/float_words.h"

#include <string.h>

/* A panel holds the rows of one tile and some of their columns; its stride is no power of two. */
enum {
    TILE_WEIGHTS_MAX = 8192,
    PANEL_ROWS_MAX = 128,
    PANEL_COLUMNS = 128,
    PANEL_STRIDE = PANEL_COLUMNS + 16
};

static size_t padded_rows(const struct ulb_layout *layout, size_t m)
{
    return ulb_round_up(m, layout->tile_m);
}

/* Whether scales are separate from the weights. */
static bool has_scales(const struct ulb_format *format)
{
    return !format->floating && !format->block;
}

/* Floating formats are moved as words of 16 bits. */
enum { WORD_BITS = 16 };

static unsigned field_bits(const struct ulb_layout *layout)
{
    return (unsigned)layout->format->bits;
}

size_t ulb_layout_tile_bytes(const struct ulb_layout *layout)
{
    return layout->kind == ULB_LAYOUT_FIELDS
               ? (size_t)layout->tile_m * layout->tile_k * field_bits(layout) / 8
               : layout->tile_bytes;
}

/* Slices that are read at once. */
static size_t at_once(const struct ulb_layout *layout)
{
    return layout->slices ? layout->slices : 1;
}

/* Tiles side by side in the slices of all rounds together. */
static size_t steps_of_turns(const struct ulb_layout *layout, size_t k)
{
    size_t columns = layout->tile_k * at_once(layout), steps = (k + columns - 1) / columns;
    return layout->format->group ? ulb_round_up(steps, layout->format->group / layout->tile_k) : steps;
}

static size_t turns(const struct ulb_layout *layout, size_t k)
{
    size_t most = layout->slice_tiles;
    return most ? (steps_of_turns(layout, k) + most - 1) / most : 1;
}

size_t ulb_layout_slices(const struct ulb_layout *layout, size_t k)
{
    return at_once(layout) * turns(layout, k);
}

size_t ulb_layout_steps(const struct ulb_layout *layout, size_t k)
{
    size_t n = turns(layout, k);
    return (steps_of_turns(layout, k) + n - 1) / n;
}

size_t ulb_layout_columns(const struct ulb_layout *layout, size_t k)
{
    return at_once(layout) * steps_of_turns(layout, k) * layout->tile_k;
}

size_t ulb_groups(const struct ulb_format *format, size_t k)
{
    return format->group ? (k + format->group - 1) / format->group : 1;
}

/* Groups of a packed row, padding included. */
static size_t packed_groups(const struct ulb_layout *layout, size_t k)
{
    return layout->format->group ? ulb_layout_columns(layout, k) / layout->format->group : 1;
}

/* Scales of a group that lie in the slice, before its tiles. */
static size_t ahead_bytes(const struct ulb_layout *layout)
{
    return layout->scales_ahead ? layout->tile_m * sizeof(float) : 0;
}

/* Offset from the beginning of a row of tiles to one of its tiles. */
static size_t tile_offset(const struct ulb_layout *layout, size_t step)
{
    size_t groups = layout->scales_ahead ? step * layout->tile_k / layout->format->group + 1 : 0;
    return step * ulb_layout_tile_bytes(layout) + groups * ahead_bytes(layout);
}

/* A row of some tiles. */
static size_t row_bytes(const struct ulb_layout *layout, size_t steps)
{
    return tile_offset(layout, steps) - ahead_bytes(layout);
}

size_t ulb_layout_row_bytes(const struct ulb_layout *layout, size_t k)
{
    return row_bytes(layout, ulb_layout_steps(layout, k));
}

/* Bytes of padding after a slice. Slices are read side by side, and for most matrices their size is a
 * multiple of a page. All streams would then end a page, where prefetchers stop, in the same iteration, and
 * use the same L1 sets. Padding of some lines, which are never read, prevents that. */
static size_t gap_bytes(const struct ulb_layout *layout, size_t slice)
{
    enum { PAGE = 4096, NEAR = 512, APART = 17 * ULB_CACHE_LINE };
    bool gains = layout->slices > 1 && layout->format->bits != 8;
    return gains && (slice + NEAR) % PAGE < 2 * NEAR ? APART : 0;
}

/* Bytes of a slice with `steps` tiles side by side, without the padding after it. */
static size_t used_bytes(const struct ulb_layout *layout, size_t m, size_t steps)
{
    size_t rows = padded_rows(layout, m) / layout->tile_m;
    return ulb_round_up(rows * row_bytes(layout, steps), ULB_CACHE_LINE);
}

static size_t slice_bytes(const struct ulb_layout *layout, size_t m, size_t steps)
{
    size_t used = used_bytes(layout, m, steps);
    return used + gap_bytes(layout, used);
}

size_t ulb_layout_slice_bytes(const struct ulb_layout *layout, size_t m, size_t k)
{
    return slice_bytes(layout, m, ulb_layout_steps(layout, k));
}

struct ulb_slice ulb_layout_slice(const struct ulb_layout *layout, size_t m, size_t k, size_t i)
{
    const size_t n = turns(layout, k), all = steps_of_turns(layout, k), side = at_once(layout);
    const size_t turn = i / side, least = all / n, longer = side * (all % n); /* slices of one tile more */
    const size_t before = i < longer ? i : longer, steps = least + (i < longer);
    return (struct ulb_slice){
        .steps = steps,
        .first = side * turn * least + side * (turn < all % n ? turn : all % n) + i % side * steps,
        .offset = before * slice_bytes(layout, m, least + 1) + (i - before) * slice_bytes(layout, m, least)};
}

size_t ulb_layout_scales_offset(const struct ulb_layout *layout, size_t m, size_t k)
{
    return ulb_layout_slice(layout, m, k, ulb_layout_slices(layout, k)).offset;
}

/* Bytes of one fp32 for each scale. */
static size_t scales_bytes(const struct ulb_layout *layout, size_t m, size_t k)
{
    bool apart = has_scales(layout->format) && !layout->scales_ahead;
    size_t scales = apart ? padded_rows(layout, m) * packed_groups(layout, k) : 0;
    return ulb_round_up(scales * sizeof(float), ULB_CACHE_LINE);
}

size_t ulb_layout_zeros_offset(const struct ulb_layout *layout, size_t m, size_t k)
{
    return ulb_layout_scales_offset(layout, m, k) + scales_bytes(layout, m, k);
}

size_t ulb_layout_sums_offset(const struct ulb_layout *layout, size_t m, size_t k)
{
    return ulb_layout_zeros_offset(layout, m, k) + (layout->format->zeros ? scales_bytes(layout, m, k) : 0);
}

size_t ulb_layout_bytes(const struct ulb_layout *layout, size_t m, size_t k)
{
    size_t sums = layout->row_sums ? padded_rows(layout, m) * sizeof(float) : 0;
    return ulb_layout_sums_offset(layout, m, k) + ulb_round_up(sums, ULB_CACHE_LINE);
}

size_t ulb_layout_read_bytes(const struct ulb_layout *layout, size_t m, size_t k)
{
    size_t gaps = 0;
    for (size_t i = 0; i < ulb_layout_slices(layout, k); i++)
        gaps += gap_bytes(layout, used_bytes(layout, m, ulb_layout_slice(layout, m, k, i).steps));
    return ulb_layout_bytes(layout, m, k) - gaps;
}

static unsigned get_code(const uint8_t *tile, unsigned offset, unsigned bits)
{
    const uint8_t *byte = tile + offset / 8;
    return (unsigned)*byte >> offset % 8 & ((1u << bits) - 1);
}

/* One tile, the same for all: where in a panel the weight of each slot of bits is, in order of slots. Every
 * slot is used exactly once, so that a tile can be written byte by byte without reading it. */
struct tile_map {
    unsigned slots;
    uint16_t in_panel[TILE_WEIGHTS_MAX];
};

static void map_tile(const struct ulb_layout *layout, struct tile_map *map)
{
    unsigned words = (unsigned)ulb_words(layout->format), bits = field_bits(layout) / words;
    map->slots = layout->tile_m * layout->tile_k * words;
    for (unsigned row = 0; row < layout->tile_m; row++) {
        for (unsigned i = 0; i < layout->tile_k * words; i++)
            map->in_panel[layout->fields.bit_offset(row, i / words) / bits + i % words] =
                (uint16_t)(row * PANEL_STRIDE + i);
    }
}

/* Codes of all values, for a format of at most 8 bits: looking up beats calling encode for every weight. */
struct code_table {
    int min;
    uint8_t code[256];
};

static void fill_codes(const struct ulb_layout *layout, struct code_table *table)
{
    const struct ulb_format *format = layout->format;
    table->min = format->min;
    for (int value = format->min; !format->floating && value <= format->max; value += format->step)
        table->code[value - format->min] = (uint8_t)layout->fields.encode(value);
}

/* Columns and rows of padding hold 0, or the smallest value where the format has no 0. */
static int padding_value(const struct ulb_format *format)
{
    return format->floating || format->step == 1 ? 0 : format->min;
}

/* Copies columns [k, k + columns) of one row of tiles into panel, padding included, counted in words of the
 * matrix. In the matrix the rows of a tile are a power of two apart, and would use the same few L1 sets. */
static void copy_panel(const struct ulb_matrix *matrix, const struct ulb_layout *layout, int padding,
                       size_t m, size_t k, size_t columns, int16_t *panel)
{
    size_t all = matrix->k * ulb_words(layout->format);
    size_t inside = k >= all ? 0 : all - k < columns ? all - k : columns;
    for (unsigned row = 0; row < layout->tile_m; row++, panel += PANEL_STRIDE) {
        size_t copied = m + row < matrix->m ? inside : 0;
        if (copied > 0)
            memcpy(panel, matrix->values + (m + row) * all + k, copied * sizeof *panel);
        for (size_t col = copied; col < columns; col++)
            panel[col] = (int16_t)padding;
    }
}

/* values: the panel's, at the tile's first column. */
static void pack_fields(const int16_t *values, const struct tile_map *map, const struct code_table *table,
                        unsigned bits, uint8_t *tile)
{
    if (bits >= WORD_BITS) {
        for (unsigned slot = 0; slot < map->slots; slot++)
            memcpy(tile + 2 * slot, values + map->in_panel[slot], sizeof *values);
        return;
    }
    for (unsigned slot = 0; slot < map->slots; tile++) {
        unsigned byte = 0;
        for (unsigned shift = 0; shift < 8; shift += bits, slot++)
            byte |= (unsigned)table->code[values[map->in_panel[slot]] - table->min] << shift;
        *tile = (uint8_t)byte;
    }
}

/* Byte offset of the scales of a group of a row of tiles. */
static size_t scales_at(const struct ulb_layout *layout, const struct ulb_matrix *matrix, size_t row,
                        size_t group)
{
    size_t steps = ulb_layout_steps(layout, matrix->k), step = group * layout->format->group / layout->tile_k;
    if (!layout->scales_ahead)
        return ulb_layout_scales_offset(layout, matrix->m, matrix->k) +
               (row * packed_groups(layout, matrix->k) + group) * layout->tile_m * sizeof(float);
    return step / steps * ulb_layout_slice_bytes(layout, matrix->m, matrix->k) +
           row * ulb_layout_row_bytes(layout, matrix->k) + tile_offset(layout, step % steps) -
           ahead_bytes(layout);
}

/* Distance from a scale to its zero point. */
static size_t zeros_behind(const struct ulb_layout *layout, const struct ulb_matrix *matrix)
{
    return (ulb_layout_zeros_offset(layout, matrix->m, matrix->k) -
            ulb_layout_scales_offset(layout, matrix->m, matrix->k)) /
           sizeof(float);
}

static void pack_scales(const struct ulb_layout *layout, const struct ulb_matrix *matrix, size_t m0,
                        size_t m1, void *packed)
{
    size_t padded = m1 < matrix->m ? m1 : padded_rows(layout, matrix->m), tile_m = layout->tile_m;
    size_t groups = ulb_groups(layout->format, matrix->k), all = packed_groups(layout, matrix->k);
    size_t behind = zeros_behind(layout, matrix);
    for (size_t i = m0 / tile_m * all; i < padded / tile_m * all; i++) {
        size_t g = i % all, m = i / all * tile_m;
        float *at = (float *)((char *)packed + scales_at(layout, matrix, i / all, g));
        for (size_t row = 0; row < tile_m; row++, m++) {
            bool there = m < matrix->m && g < groups;
            at[row] = there ? matrix->scales[m * groups + g] : 0.0f;
            if (layout->format->zeros)
                at[behind + row] = there ? (float)matrix->zeros[m * groups + g] : 0.0f;
        }
    }
}

/* Sum of value - zero of a row, or of its blocks' integer weights. */
static float sum_of_row(const struct ulb_layout *layout, const struct ulb_matrix *matrix, size_t m)
{
    size_t groups = ulb_groups(layout->format, matrix->k);
    int64_t sum = 0;
    if (layout->format->block)
        return ulb_blocks_sum(layout->format, matrix, m);
    for (size_t k = 0; k < matrix->k; k++) {
        size_t group = layout->format->group ? k / layout->format->group : 0;
        sum += matrix->values[m * matrix->k + k] - (matrix->zeros ? matrix->zeros[m * groups + group] : 0);
    }
    return (float)sum;
}

static void pack_sums(const struct ulb_layout *layout, const struct ulb_matrix *matrix, size_t m0, size_t m1,
                      void *packed)
{
    float *sums = (float *)((char *)packed + ulb_layout_sums_offset(layout, matrix->m, matrix->k));
    size_t padded = m1 < matrix->m ? m1 : padded_rows(layout, matrix->m);
    for (size_t m = m0; m < padded; m++)
        sums[m] = m < matrix->m ? sum_of_row(layout, matrix, m) : 0.0f;
}

static void unpack_scales(const struct ulb_layout *layout, const void *packed, struct ulb_matrix *matrix)
{
    size_t groups = ulb_groups(layout->format, matrix->k), tile_m = layout->tile_m;
    size_t behind = zeros_behind(layout, matrix);
    for (size_t i = 0; i < matrix->m * groups; i++) {
        size_t m = i / groups;
        const float *at =
            (const float *)((const char *)packed + scales_at(layout, matrix, m / tile_m, i % groups));
        matrix->scales[i] = at[m % tile_m];
        if (layout->format->zeros)
            matrix->zeros[i] = (int16_t)at[behind + m % tile_m];
    }
}

/* Bits of every byte of a tile that are stored inverted. */
static uint8_t xor_mask(const struct ulb_layout *layout)
{
    return layout->kind == ULB_LAYOUT_FIELDS ? layout->fields.xor_mask : layout->tiles.xor_mask;
}

static void xor_bytes(const struct ulb_layout *layout, uint8_t *tile)
{
    uint8_t mask = xor_mask(layout);
    size_t bytes = mask ? ulb_layout_tile_bytes(layout) : 0;
    for (size_t i = 0; i < bytes; i++)
        tile[i] ^= mask;
}

/* One row of tiles of one slice, whose first column is k, from row. */
static void pack_slice(const struct ulb_layout *layout, const struct ulb_matrix *matrix, size_t m, size_t k,
                       size_t steps, const struct tile_map *map, const struct code_table *table, uint8_t *row)
{
    int padding = padding_value(layout->format);
    size_t width = layout->tile_k * ulb_words(layout->format), per_panel = PANEL_COLUMNS / width;
    int16_t panel[PANEL_ROWS_MAX * PANEL_STRIDE];
    for (size_t step = 0; step < steps; step++) {
        const int16_t *values = panel + step % per_panel * width;
        uint8_t *tile = row + tile_offset(layout, step);
        if (step % per_panel == 0)
            copy_panel(matrix, layout, padding, m, k * ulb_words(layout->format) + step * width,
                       per_panel * width, panel);
        if (layout->kind == ULB_LAYOUT_TILES)
            layout->tiles.pack(values, PANEL_STRIDE, tile);
        else
            pack_fields(values, map, table, field_bits(layout), tile);
        xor_bytes(layout, tile);
    }
}

void ulb_layout_pack(const struct ulb_layout *layout, const struct ulb_matrix *matrix, size_t m0, size_t m1,
                     void *packed)
{
    struct tile_map map;
    struct code_table table;
    if (layout->row_sums)
        pack_sums(layout, matrix, m0, m1, packed);
    if (layout->format->block) {
        ulb_blocks_pack(layout, matrix, m0, m1, packed);
        return;
    }
    map.slots = 0;
    table.min = 0;
    if (layout->kind == ULB_LAYOUT_FIELDS) {
        map_tile(layout, &map);
        fill_codes(layout, &table);
    }
    for (size_t i = 0; i < ulb_layout_slices(layout, matrix->k); i++) {
        struct ulb_slice slice = ulb_layout_slice(layout, matrix->m, matrix->k, i);
        for (size_t m = m0; m < m1; m += layout->tile_m)
            pack_slice(layout, matrix, m, slice.first * layout->tile_k, slice.steps, &map, &table,
                       (uint8_t *)packed + slice.offset +
                           m / layout->tile_m * row_bytes(layout, slice.steps));
    }
    if (has_scales(layout->format))
        pack_scales(layout, matrix, m0, m1, packed);
}

static void unpack_words(const struct ulb_layout *layout, const uint8_t *tile, int16_t *values)
{
    struct tile_map map;
    map_tile(layout, &map);
    for (unsigned slot = 0; slot < map.slots; slot++)
        memcpy(values + map.in_panel[slot], tile + 2 * slot, sizeof *values);
}

static void unpack_fields(const struct ulb_layout *layout, const uint8_t *tile, int16_t *values)
{
    if (field_bits(layout) >= WORD_BITS) {
        unpack_words(layout, tile, values);
        return;
    }
    for (unsigned row = 0; row < layout->tile_m; row++) {
        for (unsigned col = 0; col < layout->tile_k; col++) {
            unsigned code = get_code(tile, layout->fields.bit_offset(row, col), field_bits(layout));
            values[row * PANEL_STRIDE + col] = (int16_t)layout->fields.decode(code);
        }
    }
}

/* One tile into a panel. */
static void unpack_tile(const struct ulb_layout *layout, const uint8_t *tile, int16_t *panel)
{
    uint8_t bytes[TILE_WEIGHTS_MAX];
    if (xor_mask(layout)) {
        memcpy(bytes, tile, ulb_layout_tile_bytes(layout));
        xor_bytes(layout, bytes);
        tile = bytes;
    }
    if (layout->kind == ULB_LAYOUT_TILES)
        layout->tiles.unpack(tile, panel, PANEL_STRIDE);
    else
        unpack_fields(layout, tile, panel);
}

/* One row of tiles of one slice, from row m on. */
static void unpack_row(const struct ulb_layout *layout, const struct ulb_slice *slice, const void *packed,
                       size_t m, struct ulb_matrix *matrix)
{
    const uint8_t *row =
        (const uint8_t *)packed + slice->offset + m / layout->tile_m * row_bytes(layout, slice->steps);
    const size_t words = ulb_words(layout->format);
    for (size_t step = 0; step < slice->steps; step++) {
        int16_t panel[PANEL_ROWS_MAX * PANEL_STRIDE];
        size_t k = (slice->first + step) * layout->tile_k;
        if (k >= matrix->k)
            return;
        unpack_tile(layout, row + tile_offset(layout, step), panel);
        size_t columns = matrix->k - k < layout->tile_k ? matrix->k - k : layout->tile_k;
        for (size_t r = 0; r < layout->tile_m && m + r < matrix->m; r++)
            memcpy(matrix->values + ((m + r) * matrix->k + k) * words, panel + r * PANEL_STRIDE,
                   columns * words * sizeof *panel);
    }
}

void ulb_layout_unpack(const struct ulb_layout *layout, const void *packed, struct ulb_matrix *matrix)
{
    if (layout->format->block) {
        ulb_blocks_unpack(layout, packed, matrix);
        return;
    }
    for (size_t i = 0; i < ulb_layout_slices(layout, matrix->k); i++) {
        struct ulb_slice slice = ulb_layout_slice(layout, matrix->m, matrix->k, i);
        for (size_t m = 0; m < matrix->m; m += layout->tile_m)
            unpack_row(layout, &slice, packed, m, matrix);
    }
    if (has_scales(layout->format))
        unpack_scales(layout, packed, matrix);
}
