/* SmoothQuant's scaling: the product stays, the error of int8 falls. */
#include "common/rng.h"
#include "kernels/activations.h"
#include "kernels/quantise/smooth.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { N = 8, M = 24, K = 96, OUTLIER = 17 };

static float x[N * K], w[M * K], factors[K];

/* One input channel of the activations is 60 times larger than the others: what LLMs have. */
static void fill(void)
{
    struct ulb_rng rng = {3};
    for (size_t i = 0; i < N * K; i++)
        x[i] = ulb_rng_float(&rng) * (i % K == OUTLIER ? 60.0f : 1.0f);
    for (size_t i = 0; i < M * K; i++)
        w[i] = ulb_rng_float(&rng);
}

/* Y = X W^T of real numbers. */
static void multiply(const float *a, const float *b, double y[N * M])
{
    for (size_t i = 0; i < N * M; i++) {
        y[i] = 0;
        for (size_t k = 0; k < K; k++)
            y[i] += (double)a[i / M * K + k] * (double)b[i % M * K + k];
    }
}

/* Rows as int8 with a scale each, and back. */
static void round_rows(float *rows, size_t n)
{
    size_t bytes = ulb_activations_bytes(ULB_ACT_A8, n, K);
    void *memory = aligned_alloc(64, bytes);
    struct ulb_activations a;
    assert_non_null(memory);
    ulb_activations_place(&a, ULB_ACT_A8, n, K, memory);
    for (size_t i = 0; i < n; i++)
        ulb_activations_set(&a, i, rows + i * K, K);
    for (size_t i = 0; i < n * K; i++)
        rows[i] = (float)ulb_activations_at(&a, i / K, i % K);
    free(memory);
}

/* Root of the mean square of what int8 on both sides changes. */
static double error_of_int8(void)
{
    double before[N * M], after[N * M], sum = 0;
    multiply(x, w, before);
    round_rows(x, N);
    round_rows(w, M);
    multiply(x, w, after);
    for (size_t i = 0; i < N * M; i++)
        sum += (after[i] - before[i]) * (after[i] - before[i]);
    return sqrt(sum / (N * M));
}

static double smoothed_error(float alpha)
{
    fill();
    ulb_smooth_factors(x, N, w, M, K, alpha, factors);
    ulb_smooth_activations(factors, N, K, x);
    ulb_smooth_weights(factors, M, K, w);
    return error_of_int8();
}

static void product_is_unchanged(void **state)
{
    (void)state;
    double before[N * M], after[N * M];
    fill();
    multiply(x, w, before);
    ulb_smooth_factors(x, N, w, M, K, 0.5f, factors);
    ulb_smooth_activations(factors, N, K, x);
    ulb_smooth_weights(factors, M, K, w);
    multiply(x, w, after);
    for (size_t i = 0; i < N * M; i++)
        assert_true(fabs(before[i] - after[i]) < 1e-4);
}

static void factors_follow_the_formula(void **state)
{
    (void)state;
    const float two[4] = {1.0f, -8.0f, 4.0f, 2.0f}, weights[2] = {0.5f, -2.0f}, none[2] = {0, 1};
    float s[2];
    ulb_smooth_factors(two, 2, weights, 1, 2, 0.5f, s); /* max|X| 4 and 8, max|W| 0.5 and 2 */
    assert_true(fabsf(s[0] - sqrtf(8.0f)) < 1e-6f && fabsf(s[1] - 2.0f) < 1e-6f);
    ulb_smooth_factors(two, 2, weights, 1, 2, 1.0f, s);
    assert_true(fabsf(s[0] - 4.0f) < 1e-6f && fabsf(s[1] - 8.0f) < 1e-6f);
    ulb_smooth_factors(two, 2, none, 1, 2, 0.5f, s);
    assert_true(s[0] == 1.0f);
}

static void outliers_move_into_the_weights(void **state)
{
    (void)state;
    fill();
    double plain = error_of_int8();
    assert_true(smoothed_error(0.5f) < 0.5 * plain);
    /* alpha = 1 leaves activations of one size and makes the weights bear the outlier. */
    assert_true(smoothed_error(0.5f) < smoothed_error(1.0f));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(product_is_unchanged),
        cmocka_unit_test(factors_follow_the_formula),
        cmocka_unit_test(outliers_move_into_the_weights),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
