/* GGUF's TQ2_0: 256 weights of -1, 0 and 1, a scale in half precision, 2-bit codes with zero point 1. A code
 * of three would be 2; no tool writes it. */
#ifndef ULB_KERNELS_FORMATS_TQ2_0_FORMAT_H
#define ULB_KERNELS_FORMATS_TQ2_0_FORMAT_H

#include "kernels/gguf_block.h"

enum { ULB_TQ2_0_COLUMNS = 256, ULB_TQ2_0_ZERO_POINT = 1 };

/* As in a file. */
struct ulb_tq2_0 {
    uint8_t qs[64]; /* kernels/codes/two_bit.h */
    uint16_t d;     /* half precision */
};
_Static_assert(sizeof(struct ulb_tq2_0) == 66, "66 bytes in a file");

extern const struct ulb_format ulb_tq2_0;
extern const struct ulb_layout ulb_tq2_0_in_place;
/* Rows interleaved (kernels/pack/block_interleave.h). */
extern const struct ulb_layout ulb_tq2_0_rows_64, ulb_tq2_0_rows_96, ulb_tq2_0_rows_128;

#endif
