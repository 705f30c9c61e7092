/* GEMM of int2 and tern2 (kernels/x86/gemm/field_tile.h). Sums and layouts are those of
 * kernels/formats/int2/mask.h. A file that includes this header defines LAYOUT and ZERO_POINT.
 *
 * Registers at 512 bits: 16 accumulators, four vectors of activations. With AVX2: eight word sums, two tokens
 * by four fields. */
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
