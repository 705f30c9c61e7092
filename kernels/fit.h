/* Parts of quantising: scales and codes from weights. */
#ifndef ULB_KERNELS_FIT_H
#define ULB_KERNELS_FIT_H

/* The value of largest magnitude, the first of equals. */
float ulb_signed_largest(const float *values, unsigned n);
/* The nearest integer, even of two, in a range. */
int ulb_round_within(float value, int least, int most);
/* The nearest number in half precision. */
float ulb_half(float value);
/* Scale and minimum of the affine codes 0..most of n weights: w = scale * code - min with min >= 0, so that 0
 * is a weight and the range ends at the least and the largest. */
void ulb_fit_affine(const float *weights, unsigned n, int most, float *scale, float *min);

#endif
