/* GGUF's Q6_K: 256 weights in 16 groups of 16, as 6-bit codes with zero point 32. Each group has a signed
 * 8-bit scale. The block has a scale in half precision for them. */
#ifndef ULB_KERNELS_FORMATS_Q6_K_FORMAT_H
#define ULB_KERNELS_FORMATS_Q6_K_FORMAT_H

#include "kernels/gguf_block.h"

enum { ULB_Q6_K_COLUMNS = 256, ULB_Q6_K_GROUP = 16, ULB_Q6_K_GROUPS = 16, ULB_Q6_K_ZERO_POINT = 32 };

/* As in a file. */
struct ulb_q6_k {
    /* 64 bytes for each 128 columns: bits 0-3 of columns k and k + 64 in the low and high nibble of byte
     * k. */
    uint8_t ql[128];
    uint8_t qh[64]; /* bits 4 and 5: kernels/codes/two_bit.h */
    int8_t scales[16];
    uint16_t d; /* half precision */
};
_Static_assert(sizeof(struct ulb_q6_k) == 210, "210 bytes in a file");

extern const struct ulb_format ulb_q6_k;
extern const struct ulb_layout ulb_q6_k_in_place;
/* Rows interleaved (kernels/pack/block_interleave.h). */
extern const struct ulb_layout ulb_q6_k_rows_32, ulb_q6_k_rows_64;

#endif
