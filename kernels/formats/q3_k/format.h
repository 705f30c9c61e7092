/* GGUF's Q3_K: 256 weights in 16 groups of 16, as 3-bit codes with zero point 4. Each group has a signed
 * 6-bit scale. The block has a scale in half precision for them. */
#ifndef ULB_KERNELS_FORMATS_Q3_K_FORMAT_H
#define ULB_KERNELS_FORMATS_Q3_K_FORMAT_H

#include "kernels/gguf_block.h"

enum {
    ULB_Q3_K_COLUMNS = 256,
    ULB_Q3_K_GROUP = 16,
    ULB_Q3_K_GROUPS = 16,
    ULB_Q3_K_ZERO_POINT = 4,
    ULB_Q3_K_SCALE_ZERO = 32
};

/* As in a file. */
struct ulb_q3_k {
    uint8_t hmask[32]; /* bit 2 of column k: bit k / 32 of byte k % 32 */
    uint8_t qs[64];    /* bits 0 and 1: kernels/codes/two_bit.h */
    /* Scales with zero point 32. Bits 0-3: groups 0-7 in the low nibbles of bytes 0-7, groups 8-15 in the
     * high nibbles. Bits 4-5: groups i, i + 4, i + 8, i + 12 in byte 8 + i. */
    uint8_t scales[12];
    uint16_t d; /* half precision */
};
_Static_assert(sizeof(struct ulb_q3_k) == 110, "110 bytes in a file");

extern const struct ulb_format ulb_q3_k;
extern const struct ulb_layout ulb_q3_k_in_place;
/* Rows interleaved (kernels/pack/block_interleave.h). */
extern const struct ulb_layout ulb_q3_k_rows_64, ulb_q3_k_rows_128;

#endif
