/* Codes of rows of block formats as planes: what kernels/x86/gemv/planes.h reads. */
#ifndef ULB_KERNELS_PACK_PLANES_H
#define ULB_KERNELS_PACK_PLANES_H

#include "kernels/gguf_block.h"

/* Bits of the plane that begins at bit `first` of codes of `bits` bits: the largest of 8, 4, 2 and 1 that
 * fits. */
unsigned ulb_plane_width(unsigned bits, unsigned first);
/* Packs all planes of eight vectors of `lanes` rows, the lowest bits first. Every four columns have as many
 * vectors as the plane has bits, four columns of a row side by side. The fields of a byte are rows `lanes`
 * apart. offset: code = value + offset. Returns the end of the codes. */
uint8_t *ulb_planes_pack(unsigned bits, int offset, unsigned lanes, unsigned columns,
                         const struct ulb_block_values *values, uint8_t *bytes);
const uint8_t *ulb_planes_unpack(unsigned bits, int offset, unsigned lanes, unsigned columns,
                                 const uint8_t *bytes, struct ulb_block_values *values);

#endif
