#include "results/compare/rank_tests.h"

#include "common/stats.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

static const double EXACT_WAYS = 4503599627370496.0; /* 2^52: counts below it are exact in a double */
static const double Z_95 = 1.959964;

struct ranked {
    double value;
    bool is_b;
};

static int by_value(const void *a, const void *b)
{
    double x = ((const struct ranked *)a)->value, y = ((const struct ranked *)b)->value;
    return (x > y) - (x < y);
}

struct test {
    double u;    /* pairs in which b is the larger, ties half */
    double ties; /* sum of t^3 - t over groups of equal values */
    bool known;
};

static struct test u_of(const double *a, size_t m, const double *b, size_t n)
{
    struct test test = {0, 0, false};
    struct ranked *all = malloc((m + n) * sizeof *all);
    if (!all)
        return test;
    for (size_t i = 0; i < m + n; i++)
        all[i] = (struct ranked){i < m ? a[i] : b[i - m], i >= m};
    qsort(all, m + n, sizeof *all, by_value);
    double ranks = 0; /* of b, from 1 on; equal values share the mean */
    for (size_t i = 0, j; i < m + n; i = j) {
        for (j = i; j < m + n && !(all[i].value < all[j].value); j++)
            ;
        double t = (double)(j - i), rank = (double)(i + 1 + j) / 2;
        test.ties += t * t * t - t;
        for (size_t k = i; k < j; k++)
            ranks += all[k].is_b ? rank : 0;
    }
    free(all);
    test.u = ranks - (double)n * (double)(n + 1) / 2;
    test.known = true;
    return test;
}

/* Ways to draw m of m + n; infinite when beyond what can be counted exactly. */
static double ways(size_t m, size_t n)
{
    double count = 1;
    for (size_t i = 1; i <= m && count < EXACT_WAYS; i++)
        count = count * (double)(n + i) / (double)i;
    return count < EXACT_WAYS ? count : INFINITY;
}

/* How many draws give U = 0, 1, .. m n: the coefficients of the Gaussian binomial, the product of
 * (1 - x^(n+i)) / (1 - x^i) for i = 1 .. m. To be freed; NULL without memory. */
static double *draws_by_u(size_t m, size_t n)
{
    size_t degree = m * n;
    double *count = calloc(degree + 1, sizeof *count);
    if (!count)
        return NULL;
    count[0] = 1;
    for (size_t i = 1; i <= m; i++) {
        for (size_t u = degree; u >= n + i; u--)
            count[u] -= count[u - n - i];
        for (size_t u = i; u <= degree; u++)
            count[u] += count[u - i];
    }
    return count;
}

/* P(U <= u) for whole u; NAN without memory. */
static double exact_tail(size_t m, size_t n, double u)
{
    double *count = draws_by_u(m, n), sum = 0;
    if (!count)
        return NAN;
    for (size_t i = 0; (double)i <= u && i <= m * n; i++)
        sum += count[i];
    free(count);
    return sum / ways(m, n);
}

static double deviation_of_u(size_t m, size_t n, double ties)
{
    double all = (double)(m + n);
    return sqrt((double)m * (double)n / 12 * (all + 1 - ties / (all * (all - 1))));
}

double ulb_mann_whitney(const double *a, size_t m, const double *b, size_t n)
{
    if (m == 0 || n == 0)
        return 1;
    struct test test = u_of(a, m, b, n);
    if (!test.known)
        return NAN;
    double middle = (double)m * (double)n / 2, lower = fmin(test.u, 2 * middle - test.u);
    if (test.ties == 0 && isfinite(ways(m, n))) {
        double tail = exact_tail(m, n, lower);
        return isnan(tail) ? NAN : fmin(1, 2 * tail);
    }
    double deviation = deviation_of_u(m, n, test.ties);
    return deviation > 0 ? fmin(1, erfc(fmax(0, middle - lower - 0.5) / deviation / sqrt(2))) : 1;
}

/* How many of the m n sorted differences lie outside the 95 % interval on each side; -1: it has no bounds.
 * False without memory. */
static bool find_outside(size_t m, size_t n, long *below)
{
    if (!isfinite(ways(m, n))) {
        *below = (long)floor((double)m * (double)n / 2 - Z_95 * deviation_of_u(m, n, 0)) - 1;
        return true;
    }
    double *count = draws_by_u(m, n), sum = 0, bound = 0.025 * ways(m, n);
    if (!count)
        return false;
    *below = -1;
    while ((size_t)(*below + 1) <= m * n && (sum += count[*below + 1]) <= bound)
        ++*below;
    free(count);
    return true;
}

struct ulb_shift ulb_hodges_lehmann(const double *a, size_t m, const double *b, size_t n)
{
    struct ulb_shift shift = {NAN, NAN, NAN};
    size_t pairs = m * n;
    double *differences = pairs ? malloc(pairs * sizeof *differences) : NULL;
    long below;
    if (!differences || !find_outside(m, n, &below)) {
        free(differences);
        return shift;
    }
    for (size_t i = 0; i < m; i++) {
        for (size_t j = 0; j < n; j++)
            differences[i * n + j] = b[j] - a[i];
    }
    shift.estimate = ulb_median(differences, pairs);
    shift.lo = below < 0 ? -INFINITY : differences[below];
    shift.hi = below < 0 ? INFINITY : differences[pairs - 1 - (size_t)below];
    free(differences);
    return shift;
}

struct numbered {
    double p;
    size_t place;
};

static int by_p(const void *a, const void *b)
{
    const struct numbered *x = a, *y = b;
    return (x->p > y->p) - (x->p < y->p);
}

bool ulb_holm(double *p, size_t n)
{
    struct numbered *order = n ? malloc(n * sizeof *order) : NULL;
    if (n > 0 && !order)
        return false;
    for (size_t i = 0; i < n; i++)
        order[i] = (struct numbered){p[i], i};
    if (n > 0)
        qsort(order, n, sizeof *order, by_p);
    double largest = 0;
    for (size_t i = 0; i < n; i++) {
        largest = fmax(largest, fmin(1, (double)(n - i) * order[i].p));
        p[order[i].place] = largest;
    }
    free(order);
    return true;
}
