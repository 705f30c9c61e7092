/* GGUF's Q2_K: 256 weights of 2 bits in 16 groups of 16. Each group has a 4-bit scale and a 4-bit minimum.
 * The block has two scales in half precision for them. */
#ifndef ULB_KERNELS_FORMATS_Q2_K_FORMAT_H
#define ULB_KERNELS_FORMATS_Q2_K_FORMAT_H

#include "kernels/gguf_block.h"

enum { ULB_Q2_K_COLUMNS = 256, ULB_Q2_K_GROUP = 16, ULB_Q2_K_GROUPS = 16 };

/* As in a file. */
struct ulb_q2_k {
    uint8_t scales[16]; /* low nibble: scale, high: minimum */
    uint8_t qs[64];     /* kernels/codes/two_bit.h */
    uint16_t d, dmin;   /* half precision */
};
_Static_assert(sizeof(struct ulb_q2_k) == 84, "84 bytes in a file");

extern const struct ulb_format ulb_q2_k;
extern const struct ulb_layout ulb_q2_k_in_place;
/* Rows interleaved (kernels/pack/block_interleave.h). */
extern const struct ulb_layout ulb_q2_k_rows_32, ulb_q2_k_rows_64;

#endif
