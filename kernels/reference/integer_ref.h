/* The scalar reference of an integer format. Every ref.c defines the value of one weight; this header has the
 * plain loop.
 * `|sum| <= 128 * 127 * K` fits int32 up to `K = 132,104`. */
#ifndef ULB_KERNELS_REFERENCE_INTEGER_REF_H
#define ULB_KERNELS_REFERENCE_INTEGER_REF_H

#include "common/bf16.h"
#include "kernels/microkernel.h"

/* Activation k of a token in single precision or bfloat16. */
static inline float ulb_ref_float(enum ulb_activation kind, const void *x, size_t k)
{
    return kind == ULB_ACT_F32 ? ((const float *)x)[k] : ulb_bf16_to_float(((const uint16_t *)x)[k]);
}

/* Logical value of weight k of a packed row. */
typedef int ulb_value_fn(const uint8_t *row, size_t k);

/* One row of one token: the integer sum of each group, times its scale. */
static inline __attribute__((always_inline)) float ulb_ref_row(const struct ulb_layout *layout,
                                                               const uint8_t *row, const float *scale,
                                                               const int8_t *x, size_t columns,
                                                               ulb_value_fn *value)
{
    size_t group = layout->format->group ? layout->format->group : columns;
    double result = 0; /* the reference adds up groups as exactly as it can */
    for (size_t k = 0; k < columns; scale++) {
        size_t end = columns - k < group ? columns : k + group;
        int32_t sum = 0;
        for (; k < end; k++)
            sum += value(row, k) * x[k];
        result += (double)((float)sum * *scale);
    }
    return (float)result;
}

/* Layouts of one row per tile. */
static inline __attribute__((always_inline)) void
ulb_run_ref(const struct ulb_gemm *g, const struct ulb_layout *layout, ulb_value_fn *value)
{
    size_t row_bytes = ulb_layout_steps(layout, g->k) * ulb_layout_tile_bytes(layout);
    size_t groups = ulb_groups(layout->format, g->k);
    const float *scale = ulb_row_scales(g, layout);
    for (size_t n = 0; n < g->n; n++) {
        const int8_t *x = (const int8_t *)g->x + n * g->x_stride;
        for (size_t m = g->m0; m < g->m1; m++)
            g->y[n * g->y_stride + m] = ulb_ref_row(layout, (const uint8_t *)g->w + m * row_bytes,
                                                    scale + m * groups, x, g->k, value) *
                                        g->x_scale[n];
    }
}

/* The kernel of a format's ref.c, which has value(): columns whose codes fill whole bytes. */
#define ULB_INTEGER_REF_KERNEL(layout_, columns, bytes_of_32)                                                \
    static void run(const struct ulb_gemm *g)                                                                \
    {                                                                                                        \
        ulb_run_ref(g, &(layout_), value);                                                                   \
    }                                                                                                        \
    const struct ulb_kernel ULB_KERNEL = {                                                                   \
        .abi = ULB_KERNEL_ABI,                                                                               \
        .variant = "scalar",                                                                                 \
        .isa = ULB_KERNEL_ISA,                                                                               \
        .needs = ULB_KERNEL_NEEDS,                                                                           \
        .layout = &(layout_),                                                                                \
        .activation = ULB_ACT_A8,                                                                            \
        .mr = 1,                                                                                             \
        .nr = 1,                                                                                             \
        .kr = (columns),                                                                                     \
        .bytes_per_step = (bytes_of_32),                                                                     \
        .run = run,                                                                                          \
    };

#endif
