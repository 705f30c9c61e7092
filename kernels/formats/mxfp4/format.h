/* GGUF's MXFP4 (OCP Microscaling Formats 1.0): 32 weights of 4 bits (E2M1) and one scale, a power of two
 * (E8M0). */
#ifndef ULB_KERNELS_FORMATS_MXFP4_FORMAT_H
#define ULB_KERNELS_FORMATS_MXFP4_FORMAT_H

#include "kernels/gguf_block.h"

enum { ULB_MXFP4_COLUMNS = 32 };

/* Twice the numbers that codes stand for. */
extern const int8_t ulb_mxfp4_table[16];

/* As in a file. */
struct ulb_mxfp4 {
    uint8_t e;      /* the scale is 2^(e - 127); 255, NaN in the specification, is not used */
    uint8_t qs[16]; /* low nibbles: columns 0-15, high nibbles: 16-31 */
};
_Static_assert(sizeof(struct ulb_mxfp4) == 17, "17 bytes in a file");

extern const struct ulb_format ulb_mxfp4;
extern const struct ulb_layout ulb_mxfp4_in_place;
/* Rows interleaved (kernels/pack/block_interleave.h). */
extern const struct ulb_layout ulb_mxfp4_rows_48, ulb_mxfp4_rows_96;

#endif
