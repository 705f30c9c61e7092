/* A library of one kernel: int8 weights as the suite's layout `rows` has them, by whatever the compiler makes
 * of a plain loop. The definitions are faults for the tests. */
#include "kernels/int8/format.h"
#include "kernels/library.h"
#include "kernels/row.h"

#ifndef LIBRARY_ABI
#define LIBRARY_ABI ULB_KERNEL_ABI
#endif
#ifndef VARIANT
#define VARIANT "mine"
#endif
#ifndef EXPORTED
#define EXPORTED ulb_kernel_library
#endif
#ifndef TOO_MUCH
#define TOO_MUCH 0
#endif

static void run(const struct ulb_gemm *g)
{
    const float *scales = ulb_row_scales(g, &ulb_int8_rows);
    for (size_t n = 0; n < g->n; n++) {
        const int8_t *x = (const int8_t *)g->x + n * g->x_stride;
        for (size_t m = g->m0; m < g->m1; m++) {
            const int8_t *w = (const int8_t *)g->w + m * g->k;
            int32_t dot = TOO_MUCH;
            for (size_t k = 0; k < g->k; k++)
                dot += w[k] * x[k];
            ulb_finish_rows(g->y + n * g->y_stride + m, &dot, scales + m, 1, 0, g->x_scale[n]);
        }
    }
}

static const struct ulb_kernel mine = {
    .abi = ULB_KERNEL_ABI,
    .variant = VARIANT,
    .isa = "any",
    .layout = &ulb_int8_rows,
    .activation = ULB_ACT_A8,
    .mr = 1,
    .nr = 1,
    .kr = 1,
    .bytes_per_step = 32,
    .run = run,
};

extern const struct ulb_kernel_library EXPORTED;
const struct ulb_kernel_library EXPORTED = {LIBRARY_ABI, (const struct ulb_kernel *const[]){&mine}, 1};
