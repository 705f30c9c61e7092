/* Changes of level: found where they were made, and nowhere else. */
#include "results/history/change_points.h"

#include "common/rng.h"
#include "results/history/t_test.h"
#include "tests/results/otava_series.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

enum { LONGEST = 10000 };

static struct ulb_error err;
static double values[LONGEST];

/* A normal deviate, near enough: the sum of twelve uniform ones. */
static double deviate(struct ulb_rng *rng)
{
    double sum = -6;
    for (int i = 0; i < 12; i++)
        sum += (double)ulb_rng_next(rng) / 18446744073709551616.0;
    return sum;
}

static void fill(size_t n, double noise, uint64_t seed)
{
    struct ulb_rng rng = {seed};
    for (size_t i = 0; i < n; i++)
        values[i] = 0.8 * exp(noise * deviate(&rng));
}

static void scale(size_t from, size_t to, double factor)
{
    for (size_t i = from; i < to; i++)
        values[i] *= factor;
}

static size_t find(size_t n, bool exact, struct ulb_change *first)
{
    struct ulb_change *changes;
    size_t found;
    assert_int_equal(ulb_find_changes(values, n, exact ? 0.001 : 0.05, exact, &changes, &found, &err),
                     ULB_OK);
    if (found > 0)
        *first = changes[0];
    free(changes);
    return found;
}

static void test_steps_are_found_where_they_are(void **state)
{
    (void)state;
    static const double factors[] = {0.93, 1.07, 0.85, 1.3};
    for (uint64_t seed = 0; seed < 40; seed++) {
        size_t n = 12 + 11 * (size_t)seed, at = n / 4 + (size_t)seed % (n / 2);
        double factor = factors[seed % 4];
        struct ulb_change change;
        fill(n, 0.012, seed);
        scale(at, n, factor);
        assert_int_equal(find(n, false, &change), 1);
        assert_in_range(change.at, at - 1, at + 1);
        assert_true(fabs(change.after / change.before / factor - 1) < 0.02);
    }
}

static void test_noise_is_no_change(void **state)
{
    (void)state;
    struct ulb_change change;
    size_t found = 0;
    for (uint64_t seed = 0; seed < 300; seed++) {
        fill(3 + (size_t)seed, seed % 2 ? 0.02 : 0.1, seed + 1000);
        found += find(3 + (size_t)seed, false, &change);
    }
    assert_true(found <= 3);
}

/* Less than asked for; a single outlier; two in a row; a spike in the newest record. */
static void test_what_is_no_change(void **state)
{
    (void)state;
    struct ulb_change change;
    fill(60, 0.01, 7);
    scale(30, 60, 0.97);
    assert_int_equal(find(60, false, &change), 0);
    fill(60, 0.01, 8);
    scale(20, 21, 0.5);
    scale(40, 42, 2);
    scale(59, 60, 0.6);
    assert_int_equal(find(60, false, &change), 0);
}

static void test_several_changes(void **state)
{
    (void)state;
    struct ulb_change *changes;
    size_t n;
    fill(200, 0.01, 9);
    scale(50, 200, 0.9);
    scale(80, 200, 1.2);
    scale(150, 200, 0.8);
    assert_int_equal(ulb_find_changes(values, 200, 0.05, false, &changes, &n, &err), ULB_OK);
    assert_int_equal(n, 3);
    assert_int_equal(changes[0].at, 50);
    assert_int_equal(changes[1].at, 80);
    assert_int_equal(changes[2].at, 150);
    assert_true(changes[1].before == changes[0].after);
    free(changes);
}

/* Counts have no noise: the newest record alone can show a change, of any size above the threshold. */
static void test_exact_figures(void **state)
{
    (void)state;
    struct ulb_change change;
    fill(30, 0, 1);
    assert_int_equal(find(30, true, &change), 0);
    scale(29, 30, 1.002);
    assert_int_equal(find(30, true, &change), 1);
    assert_int_equal(change.at, 29);
    scale(29, 30, 1 / 1.002 * 1.0005);
    assert_int_equal(find(30, true, &change), 0);
}

static void test_sizes(void **state)
{
    (void)state;
    struct ulb_change change;
    fill(LONGEST, 0.02, 3);
    for (size_t n = 0; n < 8; n++)
        assert_int_equal(find(n, false, &change), 0);
    assert_int_equal(find(LONGEST, false, &change), 0);
    scale(9990, LONGEST, 0.85);
    assert_int_equal(find(LONGEST, false, &change), 1);
    assert_in_range(change.at, 9989, 9991);
}

static void test_otavas_series(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof otava_series / sizeof *otava_series; i++) {
        const struct otava_series *series = &otava_series[i];
        struct ulb_change *changes;
        size_t n;
        assert_int_equal(
            ulb_find_changes(series->values, series->n, series->least, false, &changes, &n, &err), ULB_OK);
        assert_int_equal(n, series->n_changes);
        for (size_t j = 0; j < n; j++)
            assert_int_equal(changes[j].at, series->changes[j]);
        free(changes);
    }
}

/* The 97.5 % points of Student's t, as tables have them. */
static void test_t_test(void **state)
{
    (void)state;
    static const struct {
        size_t freedom;
        double t;
    } table[] = {{1, 12.706}, {2, 4.303}, {3, 3.182}, {4, 2.776}, {9, 2.262}, {10, 2.228}, {120, 1.980}};
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        /* One value against n others: the variance of the difference is 1 + 1 / n. */
        size_t n = table[i].freedom + 1;
        struct ulb_moments one = {1, table[i].t * sqrt(1 + 1 / (double)n), 0};
        struct ulb_moments others = {n, 0, (double)table[i].freedom};
        assert_true(fabs(ulb_t_test(&one, &others) - 0.05) < 1e-4);
        assert_true(fabs(ulb_t_test(&others, &one) - 0.05) < 1e-4);
    }
    static const double same[] = {1, 1, 1}, more[] = {2, 2};
    struct ulb_moments a = ulb_moments_of(same, 3), b = ulb_moments_of(more, 2), c = ulb_moments_of(more, 1);
    struct ulb_moments d = ulb_moments_of(same, 1);
    assert_true(ulb_t_test(&a, &a) == 1 && ulb_t_test(&a, &b) == 0 && ulb_t_test(&c, &d) == 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_steps_are_found_where_they_are),
        cmocka_unit_test(test_noise_is_no_change),
        cmocka_unit_test(test_what_is_no_change),
        cmocka_unit_test(test_several_changes),
        cmocka_unit_test(test_exact_figures),
        cmocka_unit_test(test_sizes),
        cmocka_unit_test(test_otavas_series),
        cmocka_unit_test(test_t_test),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
