/* The scalar truth of an integer format: every ref.c gives the value of one weight, this the dull loop.
 * |sum| <= 128 * 127 * K fits int32 up to K = 132,104. */
#ifndef ULB_KERNELS_REF_H
#define ULB_KERNELS_REF_H

#include "kernels/row.h"

/* Logical value of weight k of a packed row. */
typedef int ulb_value_fn(const uint8_t *row, size_t k);

static inline __attribute__((always_inline)) void
ulb_run_ref(const struct ulb_gemm *g, const struct ulb_layout *layout, ulb_value_fn *value)
{
    size_t row_bytes = ulb_layout_steps(layout, g->k) * ulb_layout_tile_bytes(layout);
    const float *scale = ulb_row_scales(g, layout);
    for (size_t n = 0; n < g->n; n++) {
        const int8_t *x = (const int8_t *)g->x + n * g->x_stride;
        for (size_t m = g->m0; m < g->m1; m++) {
            const uint8_t *row = (const uint8_t *)g->w + m * row_bytes;
            int32_t sum = 0;
            for (size_t k = 0; k < g->k; k++)
                sum += value(row, k) * x[k];
            g->y[n * g->y_stride + m] = (float)sum * scale[m] * g->x_scale[n];
        }
    }
}

#endif
