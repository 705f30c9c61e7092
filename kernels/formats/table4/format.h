/* 4-bit codes of a codebook, with a scale in single precision per 64 columns. The levels of NF4 are quantiles
 * of a normal distribution (QLoRA, arXiv 2305.14314, appendix E). FP4 has a sign, two bits of exponent and
 * one of mantissa. */
#ifndef ULB_KERNELS_FORMATS_TABLE4_FORMAT_H
#define ULB_KERNELS_FORMATS_TABLE4_FORMAT_H

#include "kernels/gguf_block.h"

#define ULB_TABLE4(X)                                                                                        \
    X(nf4)                                                                                                   \
    X(fp4)

enum { ULB_TABLE4_COLUMNS = 64 };

/* A group in a row-major matrix. */
struct ulb_table4 {
    float d;                           /* largest magnitude */
    uint8_t q[ULB_TABLE4_COLUMNS / 2]; /* column k in the low nibble of byte k / 2 where k is even */
};
_Static_assert(sizeof(struct ulb_table4) == 36, "4.5 bits per weight");

/* Levels by code. */
#define ULB_NF4_LEVELS(X)                                                                                    \
    X(-1.0f)                                                                                                 \
    X(-0.6961928009986877f)                                                                                  \
    X(-0.5250730514526367f)                                                                                  \
    X(-0.39491748809814453f)                                                                                 \
    X(-0.28444138169288635f)                                                                                 \
    X(-0.18477343022823334f)                                                                                 \
    X(-0.09105003625154495f)                                                                                 \
    X(0.0f)                                                                                                  \
    X(0.07958029955625534f)                                                                                  \
    X(0.16093020141124725f)                                                                                  \
    X(0.24611230194568634f)                                                                                  \
    X(0.33791524171829224f)                                                                                  \
    X(0.44070982933044434f)                                                                                  \
    X(0.5626170039176941f)                                                                                   \
    X(0.7229568362236023f)                                                                                   \
    X(1.0f)
/* 0, 0.5, 1, 1.5, 2, 3, 4, 6 and their negatives, divided by 6. */
#define ULB_FP4_LEVELS(X)                                                                                    \
    X(0.0f)                                                                                                  \
    X(1.0f / 12)                                                                                             \
    X(1.0f / 6)                                                                                              \
    X(0.25f)                                                                                                 \
    X(1.0f / 3)                                                                                              \
    X(0.5f)                                                                                                  \
    X(2.0f / 3)                                                                                              \
    X(1.0f)                                                                                                  \
    X(-0.0f)                                                                                                 \
    X(-1.0f / 12)                                                                                            \
    X(-1.0f / 6)                                                                                             \
    X(-0.25f)                                                                                                \
    X(-1.0f / 3)                                                                                             \
    X(-0.5f)                                                                                                 \
    X(-2.0f / 3)                                                                                             \
    X(-1.0f)

/* Integer sums use the nearest integer to level * one. The levels of FP4 are exact. The levels of NF4 are
 * within 2^-12, a sixteenth of the rounding of int8 activations. Two parts of 6 bits fit 16-bit sums
 * twice. */
enum { ULB_NF4_ONE = 2047, ULB_FP4_ONE = 12 };
#define ULB_LEVEL_INTEGER(level, one) ((int16_t)((level) * (one) + ((level) < 0 ? -0.5f : 0.5f)))

/* Interleaved rows, 64 or for 512-bit vectors 128: one plane of kernels/x86/gemv/planes.h, then the
 * scales. */
#define ULB_TABLE4_DECLARE(of)                                                                               \
    extern const struct ulb_format ulb_##of;                                                                 \
    extern const struct ulb_layout ulb_##of##_rows, ulb_##of##_plane_64, ulb_##of##_plane_128;
ULB_TABLE4(ULB_TABLE4_DECLARE)
#undef ULB_TABLE4_DECLARE

#endif
