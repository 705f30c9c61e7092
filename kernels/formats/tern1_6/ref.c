#include "kernels/microkernel.h"
#include "kernels/formats/tern1_6/format.h"

enum { ROWS = ULB_TERN1_6_DIGITS };

/* The values of one byte, one for each of its rows. */
static void values_of(uint8_t byte, int values[ROWS])
{
    int number = byte * 243 / 256;
    for (int i = ROWS; i-- > 0; number /= 3)
        values[i] = number % 3 - ULB_TERN1_6_ZERO_POINT;
}

/* |sum| <= 127 * K fits int32 far beyond every K. */
static void run_rows(const struct ulb_gemm *g, size_t row, const float *scale)
{
    const uint8_t *tiles = (const uint8_t *)g->w + row / ROWS * g->k;
    size_t rows = ulb_rows_left(g, row, ROWS);
    for (size_t n = 0; n < g->n; n++) {
        const int8_t *x = (const int8_t *)g->x + n * g->x_stride;
        int32_t sums[ROWS] = {0};
        for (size_t k = 0; k < g->k; k++) {
            int values[ROWS];
            values_of(tiles[k], values);
            for (int i = 0; i < ROWS; i++)
                sums[i] += values[i] * x[k];
        }
        for (size_t i = 0; i < rows; i++)
            g->y[n * g->y_stride + row + i] = (float)sums[i] * scale[row + i] * g->x_scale[n];
    }
}

static void run(const struct ulb_gemm *g)
{
    const float *scale = ulb_row_scales(g, &ulb_tern1_6_rows);
    for (size_t row = g->m0; row < g->m1; row += ROWS)
        run_rows(g, row, scale);
}

const struct ulb_kernel ULB_KERNEL = {
    .abi = ULB_KERNEL_ABI,
    .variant = "scalar",
    .isa = ULB_KERNEL_ISA,
    .needs = ULB_KERNEL_NEEDS,
    .layout = &ulb_tern1_6_rows,
    .activation = ULB_ACT_A8,
    .mr = ROWS,
    .nr = 1,
    .kr = 1,
    .bytes_per_step = 6.4,
    .run = run,
};
