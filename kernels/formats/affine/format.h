/* Groups of columns that share a scale in single precision. Codes have 1 to 8 bits, with or without a zero
 * point of as many bits.
 *
 * torchao's universal low-bit weights are u1 to u8 and u1z to u8z, with groups of 128 columns.
 * u1 to u8:   `weight = scale * q`, q signed.
 * u1z to u8z: `weight = scale * (q - zero)`, both unsigned.
 * The weight-only quantisation by group of Intel's extension for PyTorch (woq4g32 ...) has the same bits. It
 * also computes in single precision and bfloat16. */
#ifndef ULB_KERNELS_FORMATS_AFFINE_FORMAT_H
#define ULB_KERNELS_FORMATS_AFFINE_FORMAT_H

#include "kernels/gguf_block.h"

/* name, bits, whether there is a zero point, columns of a group. */
#define ULB_AFFINE_UNIVERSAL(X)                                                                              \
    X(u1, 1, 0, 128)                                                                                         \
    X(u2, 2, 0, 128)                                                                                         \
    X(u3, 3, 0, 128)                                                                                         \
    X(u4, 4, 0, 128)                                                                                         \
    X(u5, 5, 0, 128)                                                                                         \
    X(u6, 6, 0, 128)                                                                                         \
    X(u7, 7, 0, 128)                                                                                         \
    X(u8, 8, 0, 128)                                                                                         \
    X(u1z, 1, 1, 128)                                                                                        \
    X(u2z, 2, 1, 128)                                                                                        \
    X(u3z, 3, 1, 128)                                                                                        \
    X(u4z, 4, 1, 128)                                                                                        \
    X(u5z, 5, 1, 128)                                                                                        \
    X(u6z, 6, 1, 128)                                                                                        \
    X(u7z, 7, 1, 128)                                                                                        \
    X(u8z, 8, 1, 128)
#define ULB_AFFINE_WOQ_4(X)                                                                                  \
    X(woq4g32, 4, 0, 32)                                                                                     \
    X(woq4g64, 4, 0, 64)                                                                                     \
    X(woq4g128, 4, 0, 128)                                                                                   \
    X(woq4g256, 4, 0, 256)                                                                                   \
    X(woq4zg128, 4, 1, 128)
#define ULB_AFFINE_WOQ(X)                                                                                    \
    ULB_AFFINE_WOQ_4(X)                                                                                      \
    X(woq8g128, 8, 0, 128)                                                                                   \
    X(woq8zg128, 8, 1, 128)

/* A group in a row-major matrix: the scale, the zero point if there is one, the codes. Column k is in the
 * bits from k * bits of a little-endian number. */
#define ULB_AFFINE_BYTES(bits, zero, columns) (sizeof(float) + (zero) + (columns) * (bits) / 8)

/* Interleaved rows, 64 or for 512-bit vectors 128: planes of codes (kernels/x86/gemv/planes.h), scales, zero
 * points as bytes. sdot tiles have 32 and 128 rows, and bytes of codes ^ 0x80 (kernels/pack/sdot_tile.h). */
#define ULB_AFFINE_DECLARE(name, bits, zero, columns)                                                        \
    extern const struct ulb_format ulb_##name;                                                               \
    extern const struct ulb_layout ulb_##name##_rows, ulb_##name##_planes_64, ulb_##name##_planes_128,       \
        ulb_##name##_sdot_32, ulb_##name##_sdot_128;
ULB_AFFINE_UNIVERSAL(ULB_AFFINE_DECLARE)
ULB_AFFINE_WOQ(ULB_AFFINE_DECLARE)
#undef ULB_AFFINE_DECLARE

/* Eight 3-bit codes in three bytes, two of them whole in each, instead of planes. */
extern const struct ulb_layout ulb_u3_three_bit_64, ulb_u3_three_bit_128, ulb_u3z_three_bit_64,
    ulb_u3z_three_bit_128;

#endif
