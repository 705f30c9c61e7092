/* The scalar reference of a block format: integers inside a group of columns, exact; double precision across
 * groups and blocks. Every ref.c names its format; this is the dull loop. */
#ifndef ULB_KERNELS_REFERENCE_BLOCK_REF_H
#define ULB_KERNELS_REFERENCE_BLOCK_REF_H

#include "kernels/activations.h"
#include "kernels/gguf_block.h"
#include "kernels/reference/integer_ref.h"

/* The part of a block with int8 activations, without their scale, in double.
 * `|sum| <= 127 * 128 * 256 * 63`. */
static inline double ulb_ref_integers(const struct ulb_block *block, const struct ulb_block_values *values,
                                      const int8_t *x)
{
    double products = 0, minima = 0;
    for (unsigned g = 0; g < block->columns / block->group; g++) {
        int32_t sum = 0, x_sum = 0;
        for (unsigned k = g * block->group; k < (g + 1) * block->group; k++) {
            sum += ulb_block_value(block, values, k) * x[k];
            x_sum += x[k];
        }
        products += (double)values->scale[g] * sum;
        minima += (double)values->min[g] * x_sum;
    }
    return (double)values->d * products - (double)values->dmin * minima;
}

/* The part of a block of one group with zero points on both sides; x_zero: of the activations. It has four
 * terms, all integers (PyTorch's talk on low-bit kernels, "quantized dot product"). */
static inline double ulb_ref_zero_points(const struct ulb_block *block, const struct ulb_block_values *values,
                                         const int8_t *x, int32_t x_zero)
{
    int32_t products = 0, x_sum = 0, w_sum = 0, zero = values->min[0], n = (int32_t)block->columns;
    for (unsigned k = 0; k < block->columns; k++) {
        int32_t value = ulb_block_value(block, values, k);
        products += value * x[k];
        x_sum += x[k];
        w_sum += value;
    }
    return (double)values->d * (products - zero * x_sum - x_zero * w_sum + n * zero * x_zero);
}

/* The part of a block with floating activations, from column k of a token. */
static inline double ulb_ref_floats(const struct ulb_block *block, const struct ulb_block_values *values,
                                    enum ulb_activation kind, const void *x, size_t k)
{
    double weights[ULB_BLOCK_COLUMNS_MAX], sum = 0;
    ulb_block_dequantise(block, values, weights);
    for (unsigned i = 0; i < block->columns; i++)
        sum += weights[i] * (double)ulb_ref_float(kind, x, k + i);
    return sum;
}

/* One row of one token. */
static inline float ulb_ref_block_row(const struct ulb_gemm *g, const struct ulb_format *format,
                                      enum ulb_activation kind, size_t m, size_t n)
{
    const struct ulb_block *block = format->block;
    const uint8_t *row = (const uint8_t *)g->w + m * ulb_block_row_bytes(format, g->k);
    const char *x = (const char *)g->x + n * g->x_stride * ulb_activation_bytes(kind);
    const float *scale = g->x_scale + n * g->x_scale_stride;
    size_t x_block = ulb_activation_block(kind);
    double sum = 0, unit = ulb_block_unit(block);
    for (size_t k = 0; k < g->k; k += block->columns, row += block->bytes) {
        struct ulb_block_values values;
        block->decode(row, &values);
        if (ulb_activation_is_floating(kind))
            sum += ulb_ref_floats(block, &values, kind, x, k);
        else if (kind == ULB_ACT_A8Z)
            sum += unit * (double)*scale *
                   ulb_ref_zero_points(block, &values, (const int8_t *)x + k, g->x_zero[n]);
        else
            sum += unit * (double)scale[x_block ? k / x_block : 0] *
                   ulb_ref_integers(block, &values, (const int8_t *)x + k);
    }
    return (float)sum;
}

static inline void ulb_run_block_ref(const struct ulb_gemm *g, const struct ulb_format *format,
                                     enum ulb_activation kind)
{
    for (size_t n = 0; n < g->n; n++) {
        for (size_t m = g->m0; m < g->m1; m++)
            g->y[n * g->y_stride + m] = ulb_ref_block_row(g, format, kind, m, n);
    }
}

/* The kernel of a format's ref.c: of one that computes with several activations, and of others. */
#define ULB_BLOCK_REF(in_place, block_bytes, columns, kind, function)                                        \
    {                                                                                                        \
        .abi = ULB_KERNEL_ABI, .variant = "scalar", .isa = ULB_KERNEL_ISA, .needs = ULB_KERNEL_NEEDS,        \
        .layout = &(in_place), .activation = (kind), .mr = 1, .nr = 1, .kr = (columns),                      \
        .bytes_per_step = 32.0 * (block_bytes) / (columns), .tolerance = ULB_BLOCK_TOLERANCE,                \
        .run = (function),                                                                                   \
    }
#define ULB_BLOCK_REF_KERNEL(of, columns, kind)                                                              \
    static void run(const struct ulb_gemm *g)                                                                \
    {                                                                                                        \
        ulb_run_block_ref(g, &of, kind);                                                                     \
    }                                                                                                        \
    const struct ulb_kernel ULB_KERNEL = ULB_BLOCK_REF(of##_in_place, sizeof(struct of), columns, kind, run);

#endif
