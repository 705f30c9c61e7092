/* SmoothQuant (Xiao et al., arXiv 2211.10438): outliers of activations are moved into the weights before both
 * become int8.
 *   Y = (X diag(s)^-1) (diag(s) W), s_j = max|X_j|^alpha / max|W_j|^(1 - alpha) for input channel j
 * alpha = 0 leaves the outliers in the activations, alpha = 1 moves them to the weights; 0.5 is usual. */
#ifndef ULB_KERNELS_QUANTISE_SMOOTH_H
#define ULB_KERNELS_QUANTISE_SMOOTH_H

#include <stddef.h>

/* factors[k] of tokens x[n][k] and weights w[m][k]. A channel without activations or without weights has
 * factor 1, so that nothing is divided by 0. 0 <= alpha <= 1. */
void ulb_smooth_factors(const float *x, size_t n, const float *w, size_t m, size_t k, float alpha,
                        float *factors);
/* x[n][k] divided, w[m][k] multiplied by their channel's factor. */
void ulb_smooth_activations(const float *factors, size_t n, size_t k, float *x);
void ulb_smooth_weights(const float *factors, size_t m, size_t k, float *w);

#endif
