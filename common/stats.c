#include "common/stats.h"

#include "common/rng.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* So many samples need no memory but the stack's: figures do not depend on whether more can be had. */
enum { BOOTSTRAP_ROUNDS = 400, SAMPLES_MAX = 512 };

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

void ulb_sort(double *values, size_t n)
{
    if (n > 0)
        qsort(values, n, sizeof *values, compare);
}

double ulb_quantile(const double *sorted, size_t n, double share)
{
    if (n == 0)
        return NAN;
    size_t rank = (size_t)ceil(share * (double)n);
    double value = sorted[rank > 0 ? rank - 1 : 0];
    return share == 0.5 && n % 2 == 0 ? (value + sorted[n / 2]) / 2 : value;
}

double ulb_median(double *samples, size_t n)
{
    if (n == 0)
        return NAN;
    ulb_sort(samples, n);
    return n % 2 ? samples[n / 2] : (samples[n / 2 - 1] + samples[n / 2]) / 2;
}

/* Room for a copy of n samples: few, or memory, which may be had or not; NULL when not. */
static double *room_for(size_t n, double few[SAMPLES_MAX])
{
    return n <= SAMPLES_MAX ? few : malloc(n * sizeof *few);
}

double ulb_median_of(const double *samples, size_t n)
{
    double few[SAMPLES_MAX], median = NAN, *copy = n ? room_for(n, few) : NULL;
    bool known = copy != NULL;
    for (size_t i = 0; i < n && known; i++) {
        copy[i] = samples[i];
        known = !isnan(samples[i]);
    }
    if (known)
        median = ulb_median(copy, n);
    if (copy != few)
        free(copy);
    return median;
}

/* Of medians of resampled sets. A set has at most SAMPLES_MAX to bound time and stack; the interval of a
 * larger one is narrower by the root of the ratio. median: of all samples. */
static void bootstrap(const double *samples, size_t n, uint64_t seed, double median, double *lo, double *hi)
{
    double resampled[SAMPLES_MAX], medians[BOOTSTRAP_ROUNDS];
    struct ulb_rng rng = {seed};
    size_t size = n < SAMPLES_MAX ? n : SAMPLES_MAX;
    for (size_t round = 0; round < BOOTSTRAP_ROUNDS; round++) {
        for (size_t i = 0; i < size; i++)
            resampled[i] = samples[ulb_rng_below(&rng, n)];
        medians[round] = ulb_median(resampled, size);
    }
    ulb_median(medians, BOOTSTRAP_ROUNDS);
    double narrower = sqrt((double)size / (double)n);
    *lo = median + (medians[BOOTSTRAP_ROUNDS / 40] - median) * narrower;
    *hi = median + (medians[BOOTSTRAP_ROUNDS - 1 - BOOTSTRAP_ROUNDS / 40] - median) * narrower;
}

struct ulb_stats ulb_stats_of(const double *samples, size_t n, uint64_t seed)
{
    struct ulb_stats stats = {NAN, NAN, NAN, NAN, NAN, NAN, n};
    double few[SAMPLES_MAX], *copy = n ? room_for(n, few) : NULL;
    if (!copy)
        return stats;
    memcpy(copy, samples, n * sizeof *copy);
    stats.median = ulb_median(copy, n);
    stats.min = copy[0];
    stats.max = copy[n - 1];
    for (size_t i = 0; i < n; i++)
        copy[i] = fabs(samples[i] - stats.median);
    stats.mad = ulb_median(copy, n);
    bootstrap(samples, n, seed, stats.median, &stats.ci_lo, &stats.ci_hi);
    if (copy != few)
        free(copy);
    return stats;
}
