/* Weight-only quantisation of Intel's extension for PyTorch, with a scale for each output channel. Codes have
 * 8 or 4 bits.
 * Symmetric:         `weight = scale * value`.
 * With a zero point: `weight = scale * (value - zero)`, with a zero point of as many bits.
 * Activations are in single precision, in bfloat16, or quantised to int8 with their own zero point; the
 * weights are the same. By groups of input channels: kernels/formats/affine. */
#ifndef ULB_KERNELS_FORMATS_WOQ_FORMAT_H
#define ULB_KERNELS_FORMATS_WOQ_FORMAT_H

#include "kernels/kernel.h"

/* name, bits, whether there is a zero point. */
#define ULB_WOQ_8(X)                                                                                         \
    X(woq8, 8, 0)                                                                                            \
    X(woq8z, 8, 1)
#define ULB_WOQ_4(X)                                                                                         \
    X(woq4, 4, 0)                                                                                            \
    X(woq4z, 4, 1)
#define ULB_WOQ(X) ULB_WOQ_8(X) ULB_WOQ_4(X)

/* Row-major; and `[M/64][K/4][m][k4]` in two slices, one plane of kernels/x86/gemv/planes.h. The two 4-bit
 * codes of a byte are rows 8 apart. The last layout is for 512-bit vectors: 128 rows, fields 16 apart. */
#define ULB_WOQ_DECLARE(of, bits, zeros)                                                                     \
    extern const struct ulb_format ulb_##of;                                                                 \
    extern const struct ulb_layout ulb_##of##_rows, ulb_##of##_plane_64, ulb_##of##_plane_128;
ULB_WOQ(ULB_WOQ_DECLARE)
#undef ULB_WOQ_DECLARE

#endif
