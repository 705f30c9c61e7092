/* Operations that unpack and multiply the codes of a repacked block format. kernels/x86/codes/codes.h defines
 * them; the loops of kernels/x86/gemv/block.h and kernels/x86/gemm/block_unpacked.h use them. */
#ifndef ULB_KERNELS_X86_CODES_CODE_OPS_H
#define ULB_KERNELS_X86_CODES_CODE_OPS_H

#include "kernels/x86/simd/dot.h"
#include "kernels/x86/simd/vec_float.h"

#include <stddef.h>
#include <stdint.h>

enum { ULB_SHORT_GROUPS = 16 /* of 16 columns, in a block */, ULB_ZERO_FACTORS = 3 };

/* The zero point of the codes times the sum of a group's activations, in every lane, and the same plus
 * ULB_MAGIC. Unused members cost nothing. */
struct ulb_zero_sum {
    ulb_vec all, magic;
    /* For dot products of groups of 16 columns: ULB_MAGIC plus the zero point's product, for each factor of
     * struct ulb_codes. Factors are ULB_SHORT_GROUPS apart. */
    const int32_t *scaled;
};

/* What sums are multiplied by as they become floats, and what that takes to lose ULB_MAGIC. */
struct ulb_sum_scale {
    ulb_floats by, less;
};

/* How codes lie in bytes (struct ulb_code_bytes) and how this build multiplies them:
 * kernels/x86/codes/codes.h. All constants, functions inline. */
struct ulb_codes {
    size_t bytes;     /* vectors of bytes for 4 columns */
    size_t rows;      /* vectors of rows in them */
    size_t sums;      /* that a step adds to */
    size_t s16_steps; /* steps of 16-bit sums, one per vector of rows: ULB_S16_STEPS(); 0: sums are int32 */
    /* One step of 4 columns; x: these 4 in every lane. */
    void (*step)(const uint8_t *w, ulb_vec x, ulb_vec *sums);
    /* A step of two tokens, if their sums and the operands of a step fit the registers; otherwise NULL. */
    void (*pair)(const uint8_t *w, ulb_vec x0, ulb_vec x1, ulb_vec *sums0, ulb_vec *sums1);
    /* For several tokens: the operand for sum i from the step's vectors of bytes, or with 16-bit sums for
     * vector i of rows. */
    ulb_vec (*operand)(const ulb_vec *packed, size_t i);
    /* Codes of vector i of rows, as bytes. Set if dot products also work on unpacked codes. */
    ulb_vec (*byte)(const ulb_vec *packed, size_t i);
    /* Set if the step multiplies no unpacked codes, and 16-bit sums suffice for several tokens: their
     * s16_steps, and the offset of the codes. */
    size_t operand_steps;
    int32_t operand_origin;
    /* What int32 sum i starts with; magic: one that loses ULB_MAGIC. */
    ulb_vec (*start)(size_t i, ulb_vec magic, const struct ulb_zero_sum *zero);
    /* Sums of values of each vector of rows, the zero point taken off. scale: NULL where there is none. */
    void (*floats)(const ulb_vec *sums, const struct ulb_zero_sum *zero, const struct ulb_sum_scale *scale,
                   ulb_floats *values);
    /* The values of vector v are 2^shift times too large. */
    unsigned (*shift)(size_t v);
    int16_t factors[ULB_ZERO_FACTORS]; /* 1, then the further factors of zero points of groups of 16 columns;
                                          0: none */
};

#endif
