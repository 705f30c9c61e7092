/* The reference: integers minus their zero points, products exact in 64 bits; or in double with floating
 * activations. */
#include "kernels/reference/integer_ref.h"
#include "kernels/formats/woq/format.h"

/* Weight k of a row without its scale. */
static inline int weight_at(const struct ulb_format *format, const uint8_t *row, int zero, size_t k)
{
    int code = format->bits == 8 ? row[k] : row[k / 2] >> k % 2 * 4 & 15;
    return code + format->min - zero;
}

static int64_t integer_row(const struct ulb_format *format, const uint8_t *row, int zero,
                           const struct ulb_gemm *g, size_t n)
{
    const int8_t *x = (const int8_t *)g->x + n * g->x_stride;
    int64_t sum = 0;
    for (size_t k = 0; k < g->k; k++)
        sum += weight_at(format, row, zero, k) * (x[k] - g->x_zero[n]);
    return sum;
}

static double floating_row(const struct ulb_format *format, const uint8_t *row, int zero,
                           const struct ulb_gemm *g, size_t n, enum ulb_activation kind)
{
    double sum = 0;
    for (size_t k = 0; k < g->k; k++)
        sum += weight_at(format, row, zero, k) * (double)ulb_ref_float(kind, g->x, n * g->x_stride + k);
    return sum;
}

static void run(const struct ulb_gemm *g, const struct ulb_layout *layout, enum ulb_activation kind)
{
    const struct ulb_format *format = layout->format;
    size_t row_bytes = ulb_layout_steps(layout, g->k) * ulb_layout_tile_bytes(layout);
    const float *scale = ulb_row_scales(g, layout), *zeros = ulb_row_zeros(g, layout);
    for (size_t n = 0; n < g->n; n++) {
        for (size_t m = g->m0; m < g->m1; m++) {
            const uint8_t *row = (const uint8_t *)g->w + m * row_bytes;
            int zero = format->zeros ? (int)zeros[m] : 0;
            float *y = g->y + n * g->y_stride + m;
            if (kind == ULB_ACT_A8Z)
                *y = (float)integer_row(format, row, zero, g, n) * scale[m] * g->x_scale[n];
            else
                *y = (float)(floating_row(format, row, zero, g, n, kind) * (double)scale[m]);
        }
    }
}

#define ROW(of, kind_, symbol, bits_)                                                                        \
    static void run_##symbol(const struct ulb_gemm *g)                                                       \
    {                                                                                                        \
        run(g, &ulb_##of##_rows, kind_);                                                                     \
    }                                                                                                        \
    ULB_KERNEL_VARIANT(symbol) = {                                                                           \
        .abi = ULB_KERNEL_ABI,                                                                               \
        .variant = "scalar",                                                                                 \
        .isa = ULB_KERNEL_ISA,                                                                               \
        .needs = ULB_KERNEL_NEEDS,                                                                           \
        .layout = &ulb_##of##_rows,                                                                          \
        .activation = (kind_),                                                                               \
        .mr = 1,                                                                                             \
        .nr = 1,                                                                                             \
        .kr = 8 / (bits_),                                                                                   \
        .bytes_per_step = 4 * (bits_),                                                                       \
        .run = run_##symbol,                                                                                 \
    };
#define INTEGER(of, bits, zeros) ROW(of, ULB_ACT_A8Z, of, bits)
#define SINGLE(of, bits, zeros)  ROW(of, ULB_ACT_F32, of##_f32, bits)
#define BFLOAT(of, bits, zeros)  ROW(of, ULB_ACT_BF16, of##_bf16, bits)

ULB_WOQ(INTEGER)
ULB_WOQ(SINGLE)
ULB_WOQ(BFLOAT)
