/* The rank tests against published numbers, counting by hand, and their own error rates. */
#include "common/rng.h"
#include "results/compare/rank_tests.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
/* cmocka last: it needs the headers above. */
#include <cmocka.h>

#define CLOSE(value, wanted) assert_true(fabs((value) - (wanted)) <= 1e-9 + 1e-6 * fabs(wanted))

/* Permeability of the human chorioamnion, Hollander and Wolfe, table 4.1: the example of R's wilcox.test,
 * which gives W = 35, p = 0.1272 one-sided and 0.2544 two-sided, and a difference of 0.305. */
static const double at_term[] = {0.80, 0.83, 1.89, 1.04, 1.45, 1.38, 1.91, 1.64, 0.73, 1.46};
static const double earlier[] = {1.15, 0.88, 0.90, 0.74, 1.21};

static void test_published(void **state)
{
    (void)state;
    CLOSE(ulb_mann_whitney(at_term, 10, earlier, 5), 0.2544122544122544);
    CLOSE(ulb_mann_whitney(earlier, 5, at_term, 10), 0.2544122544122544);
    struct ulb_shift shift = ulb_hodges_lehmann(at_term, 10, earlier, 5);
    CLOSE(shift.estimate, -0.305);
    CLOSE(shift.lo, -0.76);
    CLOSE(shift.hi, 0.15);
}

static void count_up(double *out, size_t n, double from)
{
    for (size_t i = 0; i < n; i++)
        out[i] = from + (double)i;
}

/* Apart completely: 2 of the C(m + n, m) orders are so. Shifted and tied ones as SciPy 1.10 gives them, exact
 * and by its normal approximation. */
static void test_exact_and_approximate(void **state)
{
    (void)state;
    double a[40], b[40];
    count_up(a, 40, 0);
    count_up(b, 40, 100);
    CLOSE(ulb_mann_whitney(a, 3, b, 3), 2.0 / 20);
    CLOSE(ulb_mann_whitney(a, 9, b, 9), 2.0 / 48620);
    CLOSE(ulb_mann_whitney(a, 21, b, 21), 3.715691111961506e-12);
    count_up(b, 40, 6.5);
    CLOSE(ulb_mann_whitney(a, 25, b, 25), 0.00549521438434097);
    count_up(b, 40, 9.5);
    CLOSE(ulb_mann_whitney(a, 40, b, 40), 0.0012876067249747993);
    const double tied[] = {1, 2, 2, 3, 4, 4, 4, 5}, other[] = {3, 4, 5, 5, 6, 7, 7};
    CLOSE(ulb_mann_whitney(tied, 8, other, 7), 0.021920655864769517);
}

static void test_edges(void **state)
{
    (void)state;
    const double same[] = {2, 2, 2, 2}, one[] = {3};
    assert_true(ulb_mann_whitney(same, 4, same, 4) == 1);
    assert_true(ulb_mann_whitney(same, 0, same, 4) == 1 && ulb_mann_whitney(same, 4, same, 0) == 1);
    assert_true(isnan(ulb_hodges_lehmann(same, 0, same, 4).estimate));
    struct ulb_shift shift = ulb_hodges_lehmann(same, 4, one, 1);
    assert_true(shift.estimate == 1 && isinf(shift.lo) && isinf(shift.hi) && shift.lo < shift.hi);
    assert_true(ulb_mann_whitney(same, 4, one, 1) <= 1);
}

/* The example of R's p.adjust documentation, worked by hand: sorted p times 5, 4, 3, 2, 1, never falling. */
static void test_holm(void **state)
{
    (void)state;
    double p[] = {0.01, 0.04, 0.03, 0.005, 0.55};
    ulb_holm(p, 5);
    CLOSE(p[3], 0.025);
    CLOSE(p[0], 0.04);
    CLOSE(p[2], 0.09);
    CLOSE(p[1], 0.09); /* 2 x 0.04 would fall below the one before */
    CLOSE(p[4], 0.55);
    double large[] = {0.6, 0.7};
    ulb_holm(large, 2);
    assert_true(large[0] == 1 && large[1] == 1);
    ulb_holm(NULL, 0);
}

/* A skewed distribution, the same for both: the test speaks in 5 % of the cases, the interval holds 0 in the
 * others. */
static void test_error_rates(void **state)
{
    (void)state;
    enum { CASES = 2000, N = 15 };
    struct ulb_rng rng = {3};
    int spoke = 0, held = 0;
    for (int c = 0; c < CASES; c++) {
        double a[N], b[N];
        for (int i = 0; i < N; i++) {
            a[i] = exp(2 * (double)ulb_rng_float(&rng));
            b[i] = exp(2 * (double)ulb_rng_float(&rng));
        }
        struct ulb_shift shift = ulb_hodges_lehmann(a, N, b, N);
        spoke += ulb_mann_whitney(a, N, b, N) < 0.05;
        held += shift.lo <= 0 && 0 <= shift.hi;
    }
    assert_in_range(spoke, CASES * 3 / 100, CASES * 7 / 100);
    assert_in_range(held, CASES * 93 / 100, CASES * 97 / 100);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_published),   cmocka_unit_test(test_exact_and_approximate),
        cmocka_unit_test(test_edges),       cmocka_unit_test(test_holm),
        cmocka_unit_test(test_error_rates),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
