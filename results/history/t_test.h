/* Student's t-test of two samples. */
#ifndef ULB_RESULTS_HISTORY_T_TEST_H
#define ULB_RESULTS_HISTORY_T_TEST_H

#include <stddef.h>

struct ulb_moments {
    size_t n;
    double mean, squares; /* squares: sum of squared deviations from the mean */
};

struct ulb_moments ulb_moments_of(const double *values, size_t n);

/* Two-sided p-value that both samples have one mean, their variance being the same. 1 for fewer than three
 * values together: two values alone tell nothing about their noise. */
double ulb_t_test(const struct ulb_moments *a, const struct ulb_moments *b);

#endif
