/* GGUF's Q8_0: 32 weights, a scale in half precision, signed bytes. */
#ifndef ULB_KERNELS_FORMATS_Q8_0_FORMAT_H
#define ULB_KERNELS_FORMATS_Q8_0_FORMAT_H

#include "kernels/gguf_block.h"

enum { ULB_Q8_0_COLUMNS = 32, ULB_Q8_0_ZERO_POINT = 128 /* of unsigned bytes */ };

/* As in a file. */
struct ulb_q8_0 {
    uint16_t d; /* half precision */
    int8_t qs[32];
};
_Static_assert(sizeof(struct ulb_q8_0) == 34, "34 bytes in a file");

extern const struct ulb_format ulb_q8_0;
extern const struct ulb_layout ulb_q8_0_in_place;
/* Rows interleaved (kernels/pack/block_interleave.h). */
extern const struct ulb_layout ulb_q8_0_rows_48, ulb_q8_0_rows_96, ulb_q8_0_signed_rows_48;
/* Bytes ^ 0x80, in one set of lanes: for signed dot products (kernels/pack/sdot_tile.h). */
extern const struct ulb_layout ulb_q8_0_sdot_32, ulb_q8_0_sdot_128;

#endif
