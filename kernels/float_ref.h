/* The scalar truth of a floating format: products and sums in double, rounded to float once. */
#ifndef ULB_KERNELS_FLOAT_REF_H
#define ULB_KERNELS_FLOAT_REF_H

#include "kernels/floating.h"
#include "kernels/row.h"

/* Layouts of one number per tile, row-major. */
static inline __attribute__((always_inline)) void ulb_run_float_ref(const struct ulb_gemm *g,
                                                                    enum ulb_float_kind kind, size_t bytes)
{
    for (size_t n = 0; n < g->n; n++) {
        const float *x = (const float *)g->x + n * g->x_stride;
        for (size_t m = g->m0; m < g->m1; m++) {
            const char *row = (const char *)g->w + m * g->k * bytes;
            double sum = 0.0;
            for (size_t k = 0; k < g->k; k++)
                sum += (double)ulb_float_of(kind, row + k * bytes) * (double)x[k];
            g->y[n * g->y_stride + m] = (float)sum;
        }
    }
}

/* The row of a format's ref.c. */
#define ULB_FLOAT_REF_ROW(rows, bytes)                                                                       \
    {                                                                                                        \
        .abi = ULB_KERNEL_ABI, .variant = "scalar", .isa = ULB_ROW_ISA, .needs = ULB_ROW_NEEDS,              \
        .layout = &(rows), .activation = ULB_ACT_F32, .mr = 1, .nr = 1, .kr = 1,                             \
        .bytes_per_step = 32 * (bytes), .run = run,                                                          \
    }

#endif
