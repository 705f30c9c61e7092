/* Operations of a decoder between its matrix products, on vectors of floats: norms, activation functions,
 * rotary embedding, softmax, argmax, and quantisation of activations.
 *
 * One source, kernels/vector/ops.c, is compiled for each instruction set. The order of sums depends on
 * lengths only, so that a table gives the same bits for every caller and every split of the work. Two tables
 * may differ by rounding. Like kernels, nothing here starts a thread, allocates or keeps state. */
#ifndef ULB_KERNELS_VECTOR_VECTOR_H
#define ULB_KERNELS_VECTOR_VECTOR_H

#include "common/isa.h"
#include "kernels/activations.h"

#include <stddef.h>
#include <stdint.h>

#define ULB_NORM_EPSILON 1e-5f

struct ulb_vector_ops {
    const char *isa;
    ulb_isa_set needs;

    /* out[i] = gain[i] * x[i] / sqrt(mean(x^2) + epsilon); out may be x. */
    void (*rms_norm)(const float *x, const float *gain, size_t n, float *out);
    /* out[i] = gain[i] * (x[i] - mean(x)) / sqrt(variance(x) + epsilon); out may be x. */
    void (*layer_norm)(const float *x, const float *gain, size_t n, float *out);
    /* out[i] = f(x[i]); out may be x.
     * silu: `v / (1 + exp(-v))`. gelu: the tanh form, `v / (1 + exp(-2 sqrt(2/pi) (v + 0.044715 v^3)))`.
     * relu: max(v, 0), and its square. */
    void (*silu)(const float *x, size_t n, float *out);
    void (*gelu)(const float *x, size_t n, float *out);
    void (*relu)(const float *x, size_t n, float *out);
    void (*relu2)(const float *x, size_t n, float *out);
    /* x[i] *= y[i] */
    void (*multiply)(float *x, const float *y, size_t n);
    /* x[i] += y[i]; x[i] += factor * y[i]. */
    void (*add)(float *x, const float *y, size_t n);
    void (*add_scaled)(float *x, const float *y, float factor, size_t n);
    /* Rotary embedding: rotates each pair (x[i], x[i + half]) by the angle with this cosine and sine. */
    void (*rotate)(float *x, const float *cosine, const float *sine, size_t half);
    void (*scale)(float *x, size_t n, float factor);
    /* Round to nearest even. */
    void (*to_bf16)(const float *x, size_t n, uint16_t *out);
    /* x[i] = exp(x[i] - largest of x); gives their sum and the largest. */
    float (*soften)(float *x, size_t n, float *largest);
    /* Index of the largest; of equal ones the first. n > 0. */
    size_t (*argmax)(const float *x, size_t n);
    /* The same bits as ulb_activations_set(), for columns of whole sums (ULB_SUM_COLUMNS). */
    void (*set_activations)(struct ulb_activations *a, size_t token, const float *x, size_t k);
};

/* The widest table that these instruction sets can run; there is always one. */
const struct ulb_vector_ops *ulb_vector_ops(ulb_isa_set isa);

#endif
