/* GGUF's Q5_0: 32 weights, a scale in half precision, 5-bit codes with zero point 16. */
#ifndef ULB_KERNELS_FORMATS_Q5_0_FORMAT_H
#define ULB_KERNELS_FORMATS_Q5_0_FORMAT_H

#include "kernels/gguf_block.h"

enum { ULB_Q5_0_COLUMNS = 32, ULB_Q5_0_ZERO_POINT = 16 };

/* As in a file. */
struct ulb_q5_0 {
    uint16_t d;     /* half precision */
    uint8_t qh[4];  /* bit 4 of column k: bit k, the lowest first */
    uint8_t qs[16]; /* bits 0-3; low nibbles: columns 0-15, high nibbles: 16-31 */
};
_Static_assert(sizeof(struct ulb_q5_0) == 22, "22 bytes in a file");

extern const struct ulb_format ulb_q5_0;
extern const struct ulb_layout ulb_q5_0_in_place;
/* Rows interleaved (kernels/pack/block_interleave.h). */
extern const struct ulb_layout ulb_q5_0_rows_64, ulb_q5_0_rows_128;

#endif
