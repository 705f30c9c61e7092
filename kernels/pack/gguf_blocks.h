/* For kernels/pack/layout.c: packed matrices of block formats (kernels/gguf_block.h). */
#ifndef ULB_KERNELS_PACK_GGUF_BLOCKS_H
#define ULB_KERNELS_PACK_GGUF_BLOCKS_H

#include "kernels/gguf_block.h"

/* As ulb_layout_pack() and ulb_layout_unpack(). */
void ulb_blocks_pack(const struct ulb_layout *layout, const struct ulb_matrix *matrix, size_t m0, size_t m1,
                     uint8_t *packed);
void ulb_blocks_unpack(const struct ulb_layout *layout, const uint8_t *packed, struct ulb_matrix *matrix);
/* Sum of the weights of row m, codes taken for ulb_block_value() as integer sums do, in ulb_block_unit(). */
float ulb_blocks_sum(const struct ulb_format *format, const struct ulb_matrix *matrix, size_t m);

#endif
