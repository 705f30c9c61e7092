/* Parts of quantising: scales and codes from weights. */
#ifndef ULB_KERNELS_QUANTISE_FIT_SCALES_H
#define ULB_KERNELS_QUANTISE_FIT_SCALES_H

#include "kernels/gguf_block.h"

/* The value of largest magnitude, the first of equals. */
float ulb_signed_largest(const float *values, unsigned n);
/* The nearest integer, even of two, in a range. */
int ulb_round_within(float value, int least, int most);
/* The nearest number in half precision. */
float ulb_half(float value);
/* Scale and minimum of the affine codes 0..most of n weights: w = scale * code - min with min >= 0. 0 is
 * therefore a weight, and the range ends at the smallest and the largest weight. */
void ulb_fit_affine(const float *weights, unsigned n, int most, float *scale, float *min);

/* Blocks, as the formats' own tools make them, without their search for scales of a smaller error. */

/* One scale: the weight of largest magnitude becomes least. */
void ulb_quantise_signed(const float *weights, unsigned columns, int least, int most,
                         struct ulb_block_values *values);
/* One scale, the largest magnitude, for -1, 0 and 1. */
void ulb_quantise_ternary(const float *weights, unsigned columns, struct ulb_block_values *values);
/* One scale and one minimum: the range ends at the least and the largest. */
void ulb_quantise_range(const float *weights, unsigned columns, int most, struct ulb_block_values *values);
/* A scale and a minimum for each group, 0..most_scale. */
void ulb_quantise_affine_groups(const float *weights, unsigned group, int most, int most_scale,
                                struct ulb_block_values *values);
/* A signed scale for each group; the largest becomes least_scale, a group's largest weight least. */
void ulb_quantise_signed_groups(const float *weights, unsigned group, int least, int least_scale,
                                struct ulb_block_values *values);
/* Entries of a table, the nearest ones; d is given. */
void ulb_quantise_by_table(const float *weights, unsigned columns, const int8_t *table, unsigned entries,
                           struct ulb_block_values *values);

#endif
