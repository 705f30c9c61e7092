/* Activations as kernels read them: tokens of K columns, as floats or quantised to int8 with a scale for each
 * group of columns. Nothing here allocates. */
#ifndef ULB_KERNELS_ACTIVATIONS_H
#define ULB_KERNELS_ACTIVATIONS_H

#include "kernels/kernel.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { ULB_SUM_COLUMNS = 16 /* columns of one sum of int8 activations */ };

/* "a8", "f32", "q8_0" ...: as in the names of kernels. */
const char *ulb_activation_name(enum ulb_activation kind);
/* Numbers of their own, without scales: f32 and bf16. */
bool ulb_activation_is_floating(enum ulb_activation kind);
/* Bytes of one activation. */
size_t ulb_activation_bytes(enum ulb_activation kind);
/* Columns that share a scale; 0: all of a token's, and for f32, which has none. */
size_t ulb_activation_block(enum ulb_activation kind);
/* Scales, and sums of ULB_SUM_COLUMNS activations, of a token with `columns` columns, padding included. */
size_t ulb_activation_scales(enum ulb_activation kind, size_t columns);
size_t ulb_activation_sums(enum ulb_activation kind, size_t columns);

/* Elements from one token to the next: an odd number of cache lines, so that the same columns of many tokens
 * are in different cache sets. */
size_t ulb_activation_stride(enum ulb_activation kind, size_t columns);

/* n tokens. columns: of each token, padding included. */
struct ulb_activations {
    enum ulb_activation kind;
    size_t n, columns, stride;
    void *x;       /* int8_t, float or uint16_t [n][stride] */
    float *scale;  /* [n][ulb_activation_scales()] */
    int16_t *sums; /* [n][ulb_activation_sums()] */
    int32_t *sum;  /* [n], of a whole token */
    int32_t *zero; /* [n], what stands for 0; other than 0 in a8z only */
};

/* Bytes of all arrays, and their places in so much memory, 64-byte aligned. */
size_t ulb_activations_bytes(enum ulb_activation kind, size_t n, size_t columns);
void ulb_activations_place(struct ulb_activations *a, enum ulb_activation kind, size_t n, size_t columns,
                           void *memory);

/* 2^-118: the inverse of a smaller scale would be infinite. */
#define ULB_LEAST_SPAN 0x1p-118f

/* Converts one token of k <= columns floats. Columns after k are zeros with scale 0. Values that span less
 * than ULB_LEAST_SPAN are zeros with scale 0.
 * `a8`:   scale `absmax / 127` over the token; round to nearest even.
 * `a8z`:  scale `(max - min) / 254`, zero point -127 to 127. 0 is exact. The negative of a token has the
 *        negative codes.
 * `bf16`: round to nearest even.
 * `q8_0`: as a8 for each 32 columns. The scale is rounded to half precision after the division, as in
 *        GGUF's Q8_0 and Q8_1.
 * `q8_k`: each 256 columns. The value of largest magnitude becomes -127, so that the scale has the
 *        opposite sign, as in llama.cpp's Q8_K. */
void ulb_activations_set(struct ulb_activations *a, size_t token, const float *x, size_t k);

/* |activation| + |zero point|, times the scale, of a token's first k: what roundings are bounded by. */
void ulb_activations_magnitudes(const struct ulb_activations *a, size_t token, size_t k, double *magnitudes);

/* The real number that activation k of a token stands for. */
double ulb_activations_at(const struct ulb_activations *a, size_t token, size_t k);

/* Points a call's arguments at the tokens. */
void ulb_activations_give(const struct ulb_activations *a, struct ulb_gemm *g);

#ifdef __cplusplus
}
#endif

#endif
