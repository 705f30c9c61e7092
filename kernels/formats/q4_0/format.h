/* GGUF's Q4_0: 32 weights, one scale in half precision, 4-bit codes with zero point 8. */
#ifndef ULB_KERNELS_FORMATS_Q4_0_FORMAT_H
#define ULB_KERNELS_FORMATS_Q4_0_FORMAT_H

#include "kernels/gguf_block.h"

enum { ULB_Q4_0_COLUMNS = 32, ULB_Q4_0_ZERO_POINT = 8 };

/* As in a file. */
struct ulb_q4_0 {
    uint16_t d;     /* half precision */
    uint8_t qs[16]; /* low nibbles: columns 0-15, high nibbles: 16-31 */
};
_Static_assert(sizeof(struct ulb_q4_0) == 18, "18 bytes in a file");

extern const struct ulb_format ulb_q4_0;
/* File rows as they are. */
extern const struct ulb_layout ulb_q4_0_in_place;
/* Rows interleaved (kernels/pack/block_interleave.h). */
extern const struct ulb_layout ulb_q4_0_rows_48, ulb_q4_0_rows_96;
/* Bytes ^ 0x80, in one set of lanes: for signed dot products (kernels/pack/sdot_tile.h). */
extern const struct ulb_layout ulb_q4_0_sdot_32, ulb_q4_0_sdot_128;

#endif
