/* Rows of block formats interleaved: what repacked layouts are made of. */
#ifndef ULB_KERNELS_INTERLEAVE_H
#define ULB_KERNELS_INTERLEAVE_H

#include "kernels/block.h"

/* Codes of so many rows of one block: for every 4 columns so many vectors, each of lanes groups of 4 bytes,
 * one byte for each column; a byte holds fields codes of bits bits, the lowest first, of rows lanes apart.
 * Row (vector * fields + field) * lanes + lane. */
struct ulb_interleave {
    unsigned lanes, vectors, fields, bits;
    unsigned first_bit; /* of the code that is stored; bits of them */
    int zero_point;     /* added to a value to give its code */
};

/* Bytes that columns columns take. */
size_t ulb_interleaved_bytes(const struct ulb_interleave *how, unsigned columns);
/* Sets bytes; and adds the bits to values[row].q, which begin as 0 and end with the zero point subtracted. */
void ulb_interleave(const struct ulb_interleave *how, const struct ulb_block_values *values, unsigned columns,
                    uint8_t *bytes);
void ulb_deinterleave(const struct ulb_interleave *how, const uint8_t *bytes, unsigned columns,
                      struct ulb_block_values *values);

/* Scales of rows, one after the other, in half precision. */
void ulb_store_half_scales(const struct ulb_block_values *values, unsigned rows, void *out);
void ulb_load_half_scales(const void *in, unsigned rows, struct ulb_block_values *values);
void ulb_store_half_minima(const struct ulb_block_values *values, unsigned rows, void *out);
void ulb_load_half_minima(const void *in, unsigned rows, struct ulb_block_values *values);

/* Integer scales, a byte each: [groups][rows]. */
void ulb_store_byte_scales(const struct ulb_block_values *values, unsigned rows, unsigned groups, void *out);
void ulb_load_byte_scales(const void *in, unsigned rows, unsigned groups, struct ulb_block_values *values);
/* Integer minima, a byte each, those of 4 groups side by side: [groups / 4][rows][4]. */
void ulb_store_min_quads(const struct ulb_block_values *values, unsigned rows, unsigned groups, void *out);
void ulb_load_min_quads(const void *in, unsigned rows, unsigned groups, struct ulb_block_values *values);

#endif
