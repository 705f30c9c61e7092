/* The truth for bf16: products and sums in double, rounded to float once. */
#include "common/bf16.h"
#include "kernels/bf16/format.h"
#include "kernels/row.h"

static void run(const struct ulb_gemm *g)
{
    for (size_t n = 0; n < g->n; n++) {
        const float *x = (const float *)g->x + n * g->x_stride;
        for (size_t m = g->m0; m < g->m1; m++) {
            const uint16_t *row = (const uint16_t *)g->w + m * g->k;
            double sum = 0.0;
            for (size_t k = 0; k < g->k; k++)
                sum += (double)ulb_bf16_to_float(row[k]) * (double)x[k];
            g->y[n * g->y_stride + m] = (float)sum;
        }
    }
}

const struct ulb_kernel ULB_ROW = {
    .abi = ULB_KERNEL_ABI,
    .variant = "scalar",
    .isa = ULB_ROW_ISA,
    .needs = ULB_ROW_NEEDS,
    .layout = &ulb_bf16_rows,
    .activation = ULB_ACT_F32,
    .mr = 1,
    .nr = 1,
    .kr = 1,
    .bytes_per_step = 64,
    .run = run,
};
