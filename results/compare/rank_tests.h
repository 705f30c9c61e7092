/* Comparing two sets of samples by their ranks: no assumption about how they scatter. */
#ifndef ULB_RESULTS_COMPARE_RANK_TESTS_H
#define ULB_RESULTS_COMPARE_RANK_TESTS_H

#include <stdbool.h>
#include <stddef.h>

/* Two-sided p-value of the Mann-Whitney U test that a[m] and b[n] come from one distribution: exact while
 * the number of ways to draw m of m + n fits a double and no two values are equal, else by the normal
 * approximation with corrections for ties and continuity (Hollander and Wolfe, Nonparametric Statistical
 * Methods, 4.1). 1 when either is empty, NAN without memory. */
double ulb_mann_whitney(const double *a, size_t m, const double *b, size_t n);

struct ulb_shift {
    double estimate; /* of b - a: median of all differences */
    double lo, hi;   /* its 95 % interval, from the same test (Hollander and Wolfe, 4.2, 4.3) */
};

/* Hodges-Lehmann. All NAN when either is empty, or without memory; lo and hi are infinite where so few
 * samples cannot bound it. */
struct ulb_shift ulb_hodges_lehmann(const double *a, size_t m, const double *b, size_t n);

/* Holm's correction of n p-values for their number, in place (Holm, 1979). False without memory. */
bool ulb_holm(double *p, size_t n);

#endif
