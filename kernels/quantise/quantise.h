/* Weights to codes: what a format keeps of real numbers. */
#ifndef ULB_KERNELS_QUANTISE_QUANTISE_H
#define ULB_KERNELS_QUANTISE_QUANTISE_H

#include "kernels/kernel.h"

/* One row of k weights of a format without blocks: values [k] in words (kernels/float_words.h), and scales
 * and zeros [ulb_groups()], these of formats that have them: from the least to the largest weight, 0
 * included. Of a group the scale is of {-1, +1} the mean magnitude (XNOR-Net, Rastegari et al. 2016), of {-1,
 * 0, 1} too (BitNet b1.58's absmean), else the one of least squared error among fractions of that at which
 * the largest weight is the largest value. Floating formats are rounded to nearest even and leave scales as
 * they are. */
void ulb_quantise_row(const struct ulb_format *format, const float *weights, size_t k, int16_t *values,
                      float *scales, int16_t *zeros);

/* The weights that a quantised row stands for. */
void ulb_dequantise_row(const struct ulb_format *format, const int16_t *values, const float *scales,
                        const int16_t *zeros, size_t k, float *weights);

/* Quantises k weights, whole blocks of a block format, and back: what the format keeps of them. values and
 * scales as above, for formats without blocks. */
void ulb_round_trip(const struct ulb_format *format, const float *weights, size_t k, int16_t *values,
                    float *scales, int16_t *zeros, float *kept);

#endif
