/* GGUF's TQ1_0: 256 weights of -1, 0 and 1, a scale in half precision. A byte holds five codes with zero
 * point 1. They are the digits of a base-3 number N, and the byte is 256 N / 243, rounded up. */
#ifndef ULB_KERNELS_FORMATS_TQ1_0_FORMAT_H
#define ULB_KERNELS_FORMATS_TQ1_0_FORMAT_H

#include "kernels/gguf_block.h"

enum { ULB_TQ1_0_COLUMNS = 256, ULB_TQ1_0_ZERO_POINT = 1 };

/* As in a file. */
struct ulb_tq1_0 {
    /* Highest digit first. Bytes 0-31: columns m, m + 32, .. m + 128. Bytes 32-47: columns 160 + m, .. 224 +
     * m. */
    uint8_t qs[48];
    uint8_t qh[4]; /* columns 240 + m, 244 + m, 248 + m, 252 + m, and no fifth digit */
    uint16_t d;    /* half precision */
};
_Static_assert(sizeof(struct ulb_tq1_0) == 54, "54 bytes in a file");

extern const struct ulb_format ulb_tq1_0;
extern const struct ulb_layout ulb_tq1_0_in_place;
/* Rows interleaved (kernels/pack/block_interleave.h). */
extern const struct ulb_layout ulb_tq1_0_rows_40, ulb_tq1_0_rows_80, ulb_tq1_0_signed_rows_40;

#endif
