/* Interleaved rows of block formats, the parts of repacked layouts.
 *
 * A tile is one block of some rows, in the order in which it is read. It is one address stream, because
 * anything read out of order would not have been prefetched. Its parts, in order:
 *   for each group: scales, a byte a row; codes: for every 4 columns some vectors of bytes, each of `lanes`
 *                   groups of 4 bytes, one byte for each column
 *   minima of all groups, 4 groups of a row side by side
 *   d of each row, then dmin of each row, in half precision
 * If integers fit 4 bits, two share a byte. Scales of groups 2i and 2i + 1 stand before the codes of both;
 * minima of quads i and i + half of the quads share a byte. d of a format of powers of two is the byte of the
 * exponent. */
#ifndef ULB_KERNELS_PACK_BLOCK_INTERLEAVE_H
#define ULB_KERNELS_PACK_BLOCK_INTERLEAVE_H

#include "kernels/gguf_block.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { ULB_CODE_PARTS_MAX = 12 };

/* A part of a byte: (code / divisor % modulus) * factor. */
struct ulb_code_part {
    uint8_t byte, row; /* vector of bytes; vector of rows whose code it is */
    uint8_t divisor, factor;
    uint16_t modulus;
};

/* How some vectors of bytes hold the codes of some vectors of rows. */
struct ulb_code_bytes {
    unsigned bytes, rows;
    /* Parts are digits of base 3. The byte is 256 / 243 times their number, rounded up, never 0. */
    bool fraction;
    unsigned n_parts;
    struct ulb_code_part parts[ULB_CODE_PARTS_MAX];
};

/* Codes in bytes: one row a byte; two rows of 4 bits; four of 2 bits; eight of 3 bits in three bytes; eight
 * of 5 bits in five; four of 6 bits in three; five digits of base 3. */
extern const struct ulb_code_bytes ulb_whole_bytes, ulb_nibbles, ulb_two_bit, ulb_three_bit, ulb_five_bit,
    ulb_six_bit, ulb_fifths;

struct ulb_row_tile {
    const struct ulb_code_bytes *codes;
    unsigned sets;    /* of these vectors side by side */
    int zero_point;   /* added to a value to give its code */
    uint8_t xor_mask; /* XOR mask of a byte; 0x80 subtracts 128 and makes the byte signed */
};

/* Bytes of a row's d, dmin, minima and scales; of a tile of some rows all. Constant expressions. */
#define ULB_TILE_BYTES(columns, rows, code_bytes, code_rows, scale_bytes)                                    \
    ((size_t)(rows) * (columns) * (code_bytes) / (code_rows) + (size_t)(rows) * (scale_bytes))

/* A repacked layout; how: a struct ulb_row_tile; scale_bytes: of a row. */
#define ULB_INTERLEAVED(layout_name, of, how, row_lanes, row_vectors, columns, code_bytes, code_rows,        \
                        scale_bytes)                                                                         \
    {                                                                                                        \
        .name = (layout_name), .format = &(of), .tile_m = (row_lanes) * (row_vectors), .tile_k = (columns),  \
        .slices = 2,                                                                                         \
        .tile_bytes =                                                                                        \
            ULB_TILE_BYTES(columns, (row_lanes) * (row_vectors), code_bytes, code_rows, scale_bytes),        \
        .kind = ULB_LAYOUT_INTERLEAVED, .interleaved = {                                                     \
            .rows = &(how),                                                                                  \
            .lanes = (row_lanes)                                                                             \
        }                                                                                                    \
    }

/* What each part of a byte makes of each code of the format, for all tiles of a layout. */
struct ulb_code_tables {
    uint8_t of_part[ULB_CODE_PARTS_MAX][256];
};

void ulb_code_tables_fill(const struct ulb_layout *layout, struct ulb_code_tables *tables);

/* A tile from its blocks, and back. */
void ulb_tile_pack(const struct ulb_layout *layout, const struct ulb_code_tables *tables,
                   const struct ulb_block_values *values, uint8_t *tile);
void ulb_tile_unpack(const struct ulb_layout *layout, const uint8_t *tile, struct ulb_block_values *values);

#ifdef __cplusplus
}
#endif

#endif
