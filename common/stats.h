/* Robust statistics of samples: median, MAD, bootstrap interval. No sample is thrown away here. */
#ifndef ULB_COMMON_STATS_H
#define ULB_COMMON_STATS_H

#include <stddef.h>
#include <stdint.h>

struct ulb_stats {
    double median, mad; /* MAD: median of |x - median|, not scaled */
    double min, max;
    double ci_lo, ci_hi; /* 95 % percentile bootstrap interval of the median */
    size_t n;
};

/* All fields are NAN when n is 0. seed makes the bootstrap reproducible. samples is not changed. */
struct ulb_stats ulb_stats_of(const double *samples, size_t n, uint64_t seed);

void ulb_sort(double *values, size_t n);

/* The smallest of n sorted values that a share of them, 0 to 1, does not exceed; for 0.5 of an even number
 * the mean of the two in the middle. NAN when n is 0. */
double ulb_quantile(const double *sorted, size_t n, double share);

/* Median of n samples (NAN when n is 0); reorders them. */
double ulb_median(double *samples, size_t n);

/* The same without reordering them; NAN also when one of them is NAN, or memory is short. */
double ulb_median_of(const double *samples, size_t n);

#endif
