/* Weights to codes: what a format keeps of real numbers. */
#ifndef ULB_KERNELS_QUANTISE_QUANTISE_H
#define ULB_KERNELS_QUANTISE_QUANTISE_H

#include "kernels/kernel.h"

/* Quantises one row of k weights of a format without blocks. values: [k] in words (kernels/float_words.h).
 * scales and zeros: [ulb_groups()], zeros for formats that have them. A range with zeros is from the smallest
 * to the largest weight and includes 0.
 *
 * The scale of a group of {-1, +1} is the mean magnitude (XNOR-Net, Rastegari et al. 2016), and so is that of
 * {-1, 0, 1} (BitNet b1.58's absmean). Other formats take the scale of least squared error, among fractions
 * of the scale that maps the largest weight to the largest value. Floating formats round to nearest even and
 * leave scales unchanged. */
void ulb_quantise_row(const struct ulb_format *format, const float *weights, size_t k, int16_t *values,
                      float *scales, int16_t *zeros);

/* The weights that a quantised row stands for. */
void ulb_dequantise_row(const struct ulb_format *format, const int16_t *values, const float *scales,
                        const int16_t *zeros, size_t k, float *weights);

/* Quantises k weights, whole blocks of a block format, and converts them back. values and scales as above,
 * for formats without blocks. */
void ulb_round_trip(const struct ulb_format *format, const float *weights, size_t k, int16_t *values,
                    float *scales, int16_t *zeros, float *kept);

#endif
