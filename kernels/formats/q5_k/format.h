/* GGUF's Q5_K: 256 weights of 5 bits in eight groups of 32. Each group has a 6-bit scale and a 6-bit minimum.
 * The block has two scales in half precision for them. */
#ifndef ULB_KERNELS_FORMATS_Q5_K_FORMAT_H
#define ULB_KERNELS_FORMATS_Q5_K_FORMAT_H

#include "kernels/formats/q4_k/k_head.h"

enum { ULB_Q5_K_COLUMNS = 256 };

/* As in a file. */
struct ulb_q5_k {
    struct ulb_k_head head;
    uint8_t qh[32]; /* bit 4 of column k: bit k / 32 of byte k % 32 */
    uint8_t
        qs[128]; /* bits 0-3: groups 2i and 2i + 1 in the low and high nibbles of bytes 32 i to 32 i + 31 */
};
_Static_assert(sizeof(struct ulb_q5_k) == 176, "176 bytes in a file");

extern const struct ulb_format ulb_q5_k;
extern const struct ulb_layout ulb_q5_k_in_place;
/* Rows interleaved (kernels/pack/block_interleave.h). */
extern const struct ulb_layout ulb_q5_k_rows_64, ulb_q5_k_rows_128;

#endif
