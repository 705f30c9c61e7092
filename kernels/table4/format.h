/* 4-bit codes that stand for real numbers, a scale in single precision per 64 columns: NF4, whose levels are
 * quantiles of a normal distribution (QLoRA, arXiv 2305.14314, appendix E), and FP4 with a sign, two bits of
 * exponent and one of mantissa. */
#ifndef ULB_KERNELS_TABLE4_FORMAT_H
#define ULB_KERNELS_TABLE4_FORMAT_H

#include "kernels/block.h"

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

extern const float ulb_nf4_levels[16], ulb_fp4_levels[16];

/* Rows interleaved, 64 or for 512-bit vectors 128: one plane of kernels/x86/planes.h, then the scales. */
#define ULB_TABLE4_DECLARE(of)                                                                               \
    extern const struct ulb_format ulb_##of;                                                                 \
    extern const struct ulb_layout ulb_##of##_rows, ulb_##of##_plane_64, ulb_##of##_plane_128;
ULB_TABLE4(ULB_TABLE4_DECLARE)
#undef ULB_TABLE4_DECLARE

#endif
