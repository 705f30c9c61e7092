/* Blocks of files: which bytes make which weights. Expected weights are those of ggml's dequantize_row_*().
 */
#include "common/mem.h"
#include "common/rng.h"
#include "kernels/activations.h"
#include "kernels/gguf_block.h"
#include "kernels/formats/iq4_nl/format.h"
#include "kernels/formats/mxfp4/format.h"
#include "kernels/formats/q2_k/format.h"
#include "kernels/formats/q3_k/format.h"
#include "kernels/formats/q4_0/format.h"
#include "kernels/formats/q4_1/format.h"
#include "kernels/formats/q4_k/format.h"
#include "kernels/formats/q5_0/format.h"
#include "kernels/formats/q5_1/format.h"
#include "kernels/formats/q5_k/format.h"
#include "kernels/formats/q6_k/format.h"
#include "kernels/formats/q8_0/format.h"
#include "kernels/formats/table4/format.h"
#include "kernels/formats/tq1_0/format.h"
#include "kernels/formats/tq2_0/format.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum {
    BYTES_MAX = 256,
    ITEMS_MAX = 12,
    HALF_1 = 0x3C /* upper bytes of 1, 2 and 0.5 */,
    HALF_2 = 0x40,
    HALF_05 = 0x38
};

/* A block of zeros but for some bytes; ends with one at 0 that is 0. */
static const struct {
    const struct ulb_format *format;
    struct {
        unsigned at, byte;
    } bytes[ITEMS_MAX];
    struct {
        unsigned column;
        double weight;
    } weights[ITEMS_MAX]; /* those of weight 0 at column 0 behind the last are true too, or replaced */
    unsigned n_weights;
    double rmse; /* of standard normal weights, at most */
} cases[] = {
    {&ulb_q4_0, {{1, HALF_1}, {17, 0x80}}, {{15, -8}, {31, 0}, {0, -8}}, 3, 0.1},
    {&ulb_q4_1, {{1, HALF_1}, {3, HALF_2}, {7, 0x5A}}, {{3, 12}, {19, 7}, {0, 2}}, 3, 0.1},
    {&ulb_q5_0,
     {{1, HALF_1}, {2, 0x08}, {4, 0x10}, {9, 0x5A}},
     {{3, 10}, {19, -11}, {20, 0}, {0, -16}},
     4,
     0.05},
    {&ulb_q5_1,
     {{1, HALF_1}, {3, HALF_05}, {4, 0x08}, {6, 0x10}, {11, 0x5A}},
     {{3, 26.5}, {19, 5.5}, {20, 16.5}, {0, 0.5}},
     4,
     0.05},
    {&ulb_q8_0, {{1, HALF_05}, {33, 0x80}, {2, 3}}, {{31, -64}, {0, 1.5}}, 2, 0.008},
    {&ulb_q2_k,
     {{0, 0x21}, {2, 1}, {4, 1}, {6, 1}, {9, 2}, {16, 0xE4}, {64, 3}, {81, HALF_1}, {83, HALF_05}},
     {{0, -1}, {32, 1}, {64, 2}, {96, 3}, {144, 6}, {1, -1}},
     6,
     0.35},
    {&ulb_q3_k,
     {{5, 0x02}, {37, 0x08}, {98, 0x05}, {106, 0x02}, {109, HALF_1}},
     {{37, 10}, {36, -20}, {0, 128}},
     3,
     0.25},
    {&ulb_q4_k,
     {{1, HALF_1}, {3, HALF_1}, {4, 0x42}, {8, 0x81}, {12, 0x13}, {16, 7}, {80, 2}},
     {{0, 13}, {1, -1}, {128, 5}, {129, -33}, {160, 0}},
     5,
     0.1},
    {&ulb_q5_k,
     {{1, HALF_1}, {3, HALF_1}, {4, 0x42}, {8, 0x81}, {12, 0x13}, {16, 0x11}, {48, 7}, {112, 2}},
     {{0, 45}, {1, -1}, {128, 309}, {129, -33}, {160, 0}},
     5,
     0.05},
    {&ulb_q6_k,
     {{5, 0x9C}, {97, 1}, {133, 0x21}, {161, 0x08}, {192, 0xFE}, {196, 3}, {202, 5}, {209, HALF_1}},
     {{5, 8}, {69, 27}, {161, 5}, {0, 64}},
     4,
     0.04},
    {&ulb_tq1_0,
     {{0, 0x94}, {33, 3}, {49, 0xCE}, {53, HALF_2}},
     {{0, 0},
      {32, 2},
      {64, -2},
      {96, 0},
      {128, 2},
      {161, -2},
      {225, 2},
      {241, 2},
      {245, 0},
      {249, -2},
      {253, 2}},
     11,
     1},
    {&ulb_tq2_0, {{0, 0x24}, {39, 2}, {65, HALF_2}}, {{0, -2}, {32, 0}, {64, 2}, {96, -2}, {135, 2}}, 5, 1},
    {&ulb_mxfp4, {{0, 128}, {1, 0xF7}, {2, 0x12}}, {{0, 12}, {16, -12}, {1, 2}, {17, 1}}, 4, 0.15},
    {&ulb_iq4_nl, {{1, HALF_1}, {4, 0xF0}}, {{2, -127}, {18, 113}, {0, -127}}, 3, 0.1},
};

enum { CASES = sizeof cases / sizeof *cases };

static void bytes_make_weights(void **state)
{
    (void)state;
    for (size_t i = 0; i < CASES; i++) {
        const struct ulb_block *block = cases[i].format->block;
        uint8_t bytes[BYTES_MAX] = {0}, again[BYTES_MAX] = {0};
        for (size_t j = 0; j < ITEMS_MAX; j++)
            bytes[cases[i].bytes[j].at] = (uint8_t)(bytes[cases[i].bytes[j].at] | cases[i].bytes[j].byte);
        struct ulb_block_values values;
        double weights[ULB_BLOCK_COLUMNS_MAX];
        block->decode(bytes, &values);
        ulb_block_dequantise(block, &values, weights);
        for (size_t j = 0; j < cases[i].n_weights; j++) {
            unsigned column = cases[i].weights[j].column;
            if (weights[column] != cases[i].weights[j].weight)
                fail_msg("%s: weight %u is %g, not %g", cases[i].format->name, column, weights[column],
                         cases[i].weights[j].weight);
        }
        block->encode(&values, again);
        assert_memory_equal(again, bytes, block->bytes);
    }
}

/* A standard normal number, nearly: Irwin and Hall. */
static float normal(struct ulb_rng *rng)
{
    float sum = 0;
    for (int i = 0; i < 12; i++)
        sum += ulb_rng_float(rng);
    return sum / 2;
}

static void quantised_weights_are_near(void **state)
{
    (void)state;
    enum { BLOCKS = 64 };
    for (size_t i = 0; i < CASES; i++) {
        const struct ulb_block *block = cases[i].format->block;
        struct ulb_rng rng = {5};
        double squares = 0;
        for (size_t b = 0; b < BLOCKS; b++) {
            float weights[ULB_BLOCK_COLUMNS_MAX];
            double back[ULB_BLOCK_COLUMNS_MAX];
            uint8_t bytes[BYTES_MAX];
            struct ulb_block_values values;
            for (unsigned k = 0; k < block->columns; k++)
                weights[k] = normal(&rng);
            block->quantise(weights, &values);
            block->encode(&values, bytes);
            block->decode(bytes, &values);
            ulb_block_dequantise(block, &values, back);
            for (unsigned k = 0; k < block->columns; k++)
                squares += (back[k] - (double)weights[k]) * (back[k] - (double)weights[k]);
        }
        double rmse = sqrt(squares / (BLOCKS * block->columns));
        if (rmse > cases[i].rmse)
            fail_msg("%s: RMSE %g of normal weights is above %g", cases[i].format->name, rmse, cases[i].rmse);
    }
}

/* A block of zeros has no largest weight. */
static void zeros_stay_zeros(void **state)
{
    (void)state;
    for (size_t i = 0; i < CASES; i++) {
        const struct ulb_block *block = cases[i].format->block;
        const float weights[ULB_BLOCK_COLUMNS_MAX] = {0};
        double back[ULB_BLOCK_COLUMNS_MAX];
        uint8_t bytes[BYTES_MAX];
        struct ulb_block_values values;
        block->quantise(weights, &values);
        block->encode(&values, bytes);
        block->decode(bytes, &values);
        ulb_block_dequantise(block, &values, back);
        for (unsigned k = 0; k < block->columns; k++)
            assert_true(back[k] == 0);
    }
}

/* What integer sums take levels for: the nearest of the integers, so that both ends are exact; FP4's all are.
 */
static void integers_of_levels_are_near(void **state)
{
    (void)state;
    const struct ulb_format *const formats[] = {&ulb_nf4, &ulb_fp4};
    const double allowed[] = {0.5 / 2047, 1e-7};
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
        const struct ulb_block *block = formats[i]->block;
        for (int q = formats[i]->min; q <= formats[i]->max; q++) {
            struct ulb_block_values values = {.q = {(int16_t)q}};
            double level = ulb_block_level(block, &values, 0);
            double taken = ulb_block_unit(block) * ulb_block_value(block, &values, 0);
            if (!(fabs(taken - level) <= (fabs(level) < 1 ? allowed[i] : 0)))
                fail_msg("%s: level %d is %g, and in sums %g", formats[i]->name, q, level, taken);
        }
    }
}

/* y of 64 rows of 64 weights by one kernel of the table. */
static void run_kernel(const struct ulb_kernel *kernel, const struct ulb_matrix *matrix,
                       const struct ulb_activations *x, float *y)
{
    size_t bytes = ulb_round_up(ulb_layout_bytes(kernel->layout, matrix->m, matrix->k), ULB_CACHE_LINE);
    void *packed = aligned_alloc(ULB_CACHE_LINE, bytes);
    assert_non_null(packed);
    struct ulb_gemm g = {
        .w = packed, .m = matrix->m, .k = matrix->k, .n = 1, .m1 = matrix->m, .y = y, .y_stride = matrix->m};
    ulb_activations_give(x, &g);
    ulb_layout_pack(kernel->layout, matrix, 0, matrix->m, packed);
    kernel->run(&g);
    free(packed);
}

/* Powers of two: bytes whose float is no normal number, and 255, which ggml takes for the next power. */
static void every_exponent_is_its_power(void **state)
{
    (void)state;
    enum { M = 64, K = 64, BLOCKS = K / ULB_MXFP4_COLUMNS };
    struct ulb_mxfp4 blocks[M][BLOCKS];
    struct ulb_matrix matrix = {.m = M, .k = K, .blocks = (uint8_t *)blocks};
    float xf[K], y[M], expected[M];
    size_t rows = 0, bytes = ulb_round_up(ulb_activations_bytes(ULB_ACT_Q8_0, 1, K), ULB_CACHE_LINE);
    void *memory = aligned_alloc(ULB_CACHE_LINE, bytes);
    assert_non_null(memory);
    for (size_t i = 0; i < ulb_kernel_count; i++) {
        const struct ulb_kernel *kernel = ulb_kernels[i];
        if (kernel->layout->format != &ulb_mxfp4 || kernel->needs & ~ulb_isa_detect())
            continue;
        rows++;
        for (unsigned e = 0; e < 256; e++) {
            struct ulb_activations x;
            for (size_t k = 0; k < K; k++)
                xf[k] = ldexpf((float)(k % 5) - 1, e < 128 ? 0 : -10);
            ulb_activations_place(&x, ULB_ACT_Q8_0, 1, K, memory);
            ulb_activations_set(&x, 0, xf, K);
            for (size_t b = 0; b < (size_t)M * BLOCKS; b++) {
                (&blocks[0][0] + b)->e = (uint8_t)e;
                memset((&blocks[0][0] + b)->qs, (int)(0x21 + b % 7), sizeof blocks[0][0].qs);
            }
            run_kernel(ulb_kernel_reference(kernel), &matrix, &x, expected);
            run_kernel(kernel, &matrix, &x, y);
            for (size_t m = 0; m < M; m++) {
                if (!(fabsf(y[m] - expected[m]) <= ldexpf(fabsf(expected[m]), -20)))
                    fail_msg("row %zu, exponent %u: %g, not %g", i, e, (double)y[m], (double)expected[m]);
            }
        }
        assert_true(isfinite(y[0]) && y[0] > 1e30f);
    }
    free(memory);
    if (rows == 0)
        skip(); /* a build of some formats alone (ULB_ONLY) */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bytes_make_weights),
        cmocka_unit_test(quantised_weights_are_near),
        cmocka_unit_test(zeros_stay_zeros),
        cmocka_unit_test(integers_of_levels_are_near),
        cmocka_unit_test(every_exponent_is_its_power),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
