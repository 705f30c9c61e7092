/* GGUF's Q4_1: 32 weights, a scale and a minimum in half precision, 4-bit codes. w = d q + m. */
#ifndef ULB_KERNELS_FORMATS_Q4_1_FORMAT_H
#define ULB_KERNELS_FORMATS_Q4_1_FORMAT_H

#include "kernels/gguf_block.h"

enum { ULB_Q4_1_COLUMNS = 32 };

/* As in a file. */
struct ulb_q4_1 {
    uint16_t d, m;  /* half precision */
    uint8_t qs[16]; /* low nibbles: columns 0-15, high nibbles: 16-31 */
};
_Static_assert(sizeof(struct ulb_q4_1) == 20, "20 bytes in a file");

extern const struct ulb_format ulb_q4_1;
extern const struct ulb_layout ulb_q4_1_in_place;
/* Rows interleaved (kernels/pack/block_interleave.h). */
extern const struct ulb_layout ulb_q4_1_rows_48, ulb_q4_1_rows_96;

#endif
