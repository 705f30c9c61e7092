#include "common/mem.h"
#include "common/rng.h"
#include "common/stats.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static void median_and_mad_are_those_by_hand(void **state)
{
    (void)state;
    const double samples[] = {5, 1, 4, 2, 100};
    struct ulb_stats stats = ulb_stats_of(samples, 5, 1);
    assert_true(stats.median == 4 && stats.mad == 2 && stats.min == 1 && stats.max == 100);
    assert_true(stats.ci_lo >= 1 && stats.ci_lo <= 4 && stats.ci_hi >= 4 && stats.ci_hi <= 100);
    assert_true(samples[0] == 5); /* the caller's order stays */
    double even[] = {4, 1, 3, 2};
    assert_true(ulb_median(even, 4) == 2.5);
}

static void nothing_gives_nan(void **state)
{
    (void)state;
    struct ulb_stats stats = ulb_stats_of(NULL, 0, 1);
    assert_true(isnan(stats.median) && isnan(stats.mad) && isnan(stats.ci_lo) && stats.n == 0);
    assert_true(isnan(ulb_median(NULL, 0)));
}

static void median_of_leaves_the_samples_alone(void **state)
{
    (void)state;
    double samples[] = {3, 1, 2, 4};
    assert_true(ulb_median_of(samples, 4) == 2.5 && ulb_median_of(samples, 3) == 2);
    assert_true(samples[0] == 3 && samples[3] == 4);
    assert_true(isnan(ulb_median_of(samples, 0)));
    samples[1] = NAN;
    assert_true(isnan(ulb_median_of(samples, 4)) && ulb_median_of(samples, 1) == 3);
}

static void quantiles_are_values_of_the_set(void **state)
{
    (void)state;
    double values[] = {40, 10, 20, 30};
    ulb_sort(values, 4);
    assert_true(ulb_quantile(values, 4, 0.25) == 10 && ulb_quantile(values, 4, 0.26) == 20);
    assert_true(ulb_quantile(values, 4, 0) == 10 && ulb_quantile(values, 4, 1) == 40);
    assert_true(ulb_quantile(values, 4, 0.5) == 25 && ulb_quantile(values, 3, 0.5) == 20);
    assert_true(isnan(ulb_quantile(values, 0, 0.5)));
}

/* The 95 % interval of the median of 41 uniform samples holds the true median in about 95 % of the cases. */
static void interval_covers_the_median(void **state)
{
    (void)state;
    struct ulb_rng rng = {1};
    int covered = 0;
    for (int round = 0; round < 200; round++) {
        double samples[41];
        for (int i = 0; i < 41; i++)
            samples[i] = (double)ulb_rng_float(&rng);
        struct ulb_stats stats = ulb_stats_of(samples, 41, (uint64_t)round);
        covered += stats.ci_lo <= 0 && 0 <= stats.ci_hi;
    }
    assert_in_range(covered, 176, 200);
}

/* Also of more samples than a resampled set has: of 16 times as many it is about a quarter as wide. */
static void interval_narrows_with_the_root_of_n(void **state)
{
    (void)state;
    static double samples[8192];
    struct ulb_rng rng = {5};
    double width[2] = {0};
    for (int round = 0; round < 20; round++) {
        for (size_t i = 0; i < 8192; i++)
            samples[i] = (double)ulb_rng_float(&rng);
        for (size_t i = 0; i < 2; i++) {
            struct ulb_stats stats = ulb_stats_of(samples, i ? 8192 : 512, (uint64_t)round);
            width[i] += stats.ci_hi - stats.ci_lo;
        }
    }
    assert_true(width[0] / width[1] > 3 && width[0] / width[1] < 5.3);
}

static void shuffles_are_permutations_and_repeat(void **state)
{
    (void)state;
    size_t a[100], b[100];
    int seen[100] = {0}, moved = 0;
    for (size_t i = 0; i < 100; i++)
        a[i] = b[i] = i;
    struct ulb_rng one = {7}, two = {7};
    ulb_rng_shuffle(&one, a, 100);
    ulb_rng_shuffle(&two, b, 100);
    for (size_t i = 0; i < 100; i++) {
        assert_int_equal(a[i], b[i]);
        assert_int_equal(seen[a[i]]++, 0);
        moved += a[i] != i;
    }
    assert_true(moved > 80);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(median_and_mad_are_those_by_hand),
        cmocka_unit_test(nothing_gives_nan),
        cmocka_unit_test(median_of_leaves_the_samples_alone),
        cmocka_unit_test(interval_covers_the_median),
        cmocka_unit_test(interval_narrows_with_the_root_of_n),
        cmocka_unit_test(quantiles_are_values_of_the_set),
        cmocka_unit_test(shuffles_are_permutations_and_repeat),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
