/* The scalar reference of a floating format: products and sums in double, rounded to float once. */
#ifndef ULB_KERNELS_REFERENCE_FLOAT_REF_H
#define ULB_KERNELS_REFERENCE_FLOAT_REF_H

#include "kernels/activations.h"
#include "kernels/float_words.h"
#include "kernels/reference/integer_ref.h"

/* Layouts of one number per tile, row-major. */
static inline __attribute__((always_inline)) void ulb_run_float_ref(const struct ulb_gemm *g,
                                                                    enum ulb_float_kind kind, size_t bytes,
                                                                    enum ulb_activation activation)
{
    for (size_t n = 0; n < g->n; n++) {
        const char *x = (const char *)g->x + n * g->x_stride * ulb_activation_bytes(activation);
        for (size_t m = g->m0; m < g->m1; m++) {
            const char *row = (const char *)g->w + m * g->k * bytes;
            double sum = 0.0;
            for (size_t k = 0; k < g->k; k++)
                sum += (double)ulb_float_of(kind, row + k * bytes) * (double)ulb_ref_float(activation, x, k);
            g->y[n * g->y_stride + m] = (float)sum;
        }
    }
}

/* The kernel of a format's ref.c. */
#define ULB_FLOAT_REF_KERNEL(rows, bytes, kind, function)                                                    \
    {                                                                                                        \
        .abi = ULB_KERNEL_ABI, .variant = "scalar", .isa = ULB_KERNEL_ISA, .needs = ULB_KERNEL_NEEDS,        \
        .layout = &(rows), .activation = (kind), .mr = 1, .nr = 1, .kr = 1, .bytes_per_step = 32 * (bytes),  \
        .run = (function),                                                                                   \
    }

#endif
