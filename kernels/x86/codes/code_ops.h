/* What unpacks and multiplies the codes of a repacked block format: made in kernels/x86/codes/codes.h, used
 * by the loops of kernels/x86/gemv/block.h and kernels/x86/gemm/block_unpacked.h. */
#ifndef ULB_KERNELS_X86_CODES_CODE_OPS_H
#define ULB_KERNELS_X86_CODES_CODE_OPS_H

#include "kernels/x86/simd/dot.h"
#include "kernels/x86/simd/vec_float.h"

#include <stddef.h>
#include <stdint.h>

enum { ULB_SHORT_GROUPS = 16 /* of 16 columns, in a block */, ULB_ZERO_FACTORS = 3 };

/* The zero point of the codes times the sum of a group's activations, in every lane; with ULB_MAGIC. What is
 * not used costs nothing. */
struct ulb_zero_sum {
    ulb_vec all, magic;
    /* Of a group of 16 columns, for dot products: with ULB_MAGIC, times factors of struct ulb_codes,
     * ULB_SHORT_GROUPS apart. */
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
    size_t s16_steps; /* of 16-bit sums, one per vector of rows: ULB_S16_STEPS(); 0: sums are int32 */
    /* One step of 4 columns; x: these 4 in every lane. */
    void (*step)(const uint8_t *w, ulb_vec x, ulb_vec *sums);
    /* The same of two tokens, where their sums and what a step needs are all registers; else NULL. */
    void (*pair)(const uint8_t *w, ulb_vec x0, ulb_vec x1, ulb_vec *sums0, ulb_vec *sums1);
    /* For several tokens, of its vectors of bytes: what it multiplies for sum i, or with 16-bit sums for
     * vector i of rows. */
    ulb_vec (*operand)(const ulb_vec *packed, size_t i);
    /* Of codes that dot products, too, have unpacked: that of vector i of rows, as bytes. */
    ulb_vec (*byte)(const ulb_vec *packed, size_t i);
    /* Where the step multiplies no such codes and 16-bit sums do for several tokens: their s16_steps, and
     * what they are too large by. */
    size_t operand_steps;
    int32_t operand_origin;
    /* What int32 sum i starts with; magic: one that loses ULB_MAGIC. */
    ulb_vec (*start)(size_t i, ulb_vec magic, const struct ulb_zero_sum *zero);
    /* Sums of values of each vector of rows, the zero point taken off. scale: NULL where there is none. */
    void (*floats)(const ulb_vec *sums, const struct ulb_zero_sum *zero, const struct ulb_sum_scale *scale,
                   ulb_floats *values);
    /* The values of vector v are 2^shift times too large. */
    unsigned (*shift)(size_t v);
    int16_t
        factors[ULB_ZERO_FACTORS]; /* 1, and more that zero points of groups of 16 columns have; 0: none */
};

#endif
