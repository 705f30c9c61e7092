/* Packed weights of device kernels: tiles of 16 rows by what one matrix instruction takes of K, in 32-bit
 * words. Word i of row r is word 16 * i + r of a tile, so that 16 lanes read 64 contiguous bytes.
 *
 * vnni16:   16 x 32 two-bit codes, 16 columns a word; two's complement.
 * vnni4-16: 16 x 32 bytes, 4 columns a word; two's complement.
 * vnni2-16: 16 x 16 bfloat16, 2 columns a word. */
#ifndef ULB_KERNELS_OPENCL_DEVICE_LAYOUTS_H
#define ULB_KERNELS_OPENCL_DEVICE_LAYOUTS_H

#include "kernels/kernel.h"

#ifdef __cplusplus
extern "C" {
#endif

extern const struct ulb_layout ulb_int2_vnni16, ulb_tern2_vnni16, ulb_int8_vnni4_16, ulb_bf16_vnni2_16;

#ifdef __cplusplus
}
#endif

#endif
