/* int2 and tern2 for several tokens at once (kernels/x86/gemm/field_tile.h); sums and layouts are those of
 * int2/mask.h.
 *
 * 512 bits: 16 accumulators, 4 vectors of activations. Ports: per vector of weights 3 and, 16 dp on two
 * ports: 0.30 cycle per 32 weights and token. AVX2: 8 word sums of 2 tokens, 4 fields. Ports: per vector 4
 * and, shift, 8 maddubs, 8 add and 2 of widening: 23 operations on three ports are 0.96 cycle per 32 weights
 * and token, on the four of Zen 0.72. Included by a file that says LAYOUT and ZERO_POINT. */
#ifndef ULB_KERNELS_FORMATS_INT2_MASK_GEMM_H
#define ULB_KERNELS_FORMATS_INT2_MASK_GEMM_H

#include "kernels/formats/int2/mask.h"
#include "kernels/x86/gemm/field_tile.h"

#define VARIANT  "maskn"
#define VECTORS  1
#define FIELDS   ULB_FIELDS2
#define BITS     2
#define TOKENS   ULB_BY_SUMS(2, 4)
#define SLICES   ULB_FIELDS2_SLICES
#define NEAR     1024
#define FAR      ULB_BY_SUMS(0, 4096)
#define STRIDE   ULB_LINE
#define SEPARATE ulb_fields2_separate
#define K_BLOCKS ULB_BY_SUMS(0, 1)

#include "kernels/x86/field_gemm_kernel.h"

#endif
