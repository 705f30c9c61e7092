/* GGUF's Q5_1: 32 weights, a scale and a minimum in half precision, 5-bit codes. w = d q + m. */
#ifndef ULB_KERNELS_FORMATS_Q5_1_FORMAT_H
#define ULB_KERNELS_FORMATS_Q5_1_FORMAT_H

#include "kernels/gguf_block.h"

enum { ULB_Q5_1_COLUMNS = 32 };

/* As in a file. */
struct ulb_q5_1 {
    uint16_t d, m;  /* half precision */
    uint8_t qh[4];  /* bit 4 of column k: bit k, the lowest first */
    uint8_t qs[16]; /* bits 0-3; low nibbles: columns 0-15, high nibbles: 16-31 */
};
_Static_assert(sizeof(struct ulb_q5_1) == 24, "24 bytes in a file");

extern const struct ulb_format ulb_q5_1;
extern const struct ulb_layout ulb_q5_1_in_place;
/* Rows interleaved (kernels/pack/block_interleave.h). */
extern const struct ulb_layout ulb_q5_1_rows_64, ulb_q5_1_rows_128;

#endif
