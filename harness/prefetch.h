/* Where the prefetches of rows with prefetch_choice go, into L1 or into L2: cores differ in which is faster,
 * so that it is measured. */
#ifndef ULB_HARNESS_PREFETCH_H
#define ULB_HARNESS_PREFETCH_H

#include "kernels/kernel.h"

#include <stdbool.h>
#include <stddef.h>

enum { ULB_PREFETCH_SAMPLES = 9, ULB_PREFETCH_SAMPLES_LONG = 3 /* of calls that take long */ };

/* The same call with prefetches into L1 and into L2. */
struct ulb_prefetch_times {
    double l1, l2; /* medians, in the unit of the samples */
    double ratio;  /* median over the pairs of l2 / l1 */
};

/* Takes so many samples (at most ULB_PREFETCH_SAMPLES) with each, in turn and every pair in the other order,
 * so that a machine that gets slower or faster treats both alike. sample(arg) gives the time of a call that
 * obeys *l2, which is left at either. */
struct ulb_prefetch_times ulb_prefetch_compare(bool *l2, size_t samples, double (*sample)(void *arg),
                                               void *arg);

/* Whether L2 is taken at this ratio. Only when it is faster by 2 % at least: what is less is noise, and L1 is
 * where prefetches went before; not when the ratio is NAN. */
bool ulb_prefetch_takes_l2(double ratio);

/* Compares and chooses: leaves the choice in *l2 and returns its median. */
double ulb_prefetch_choose(bool *l2, size_t samples, double (*sample)(void *arg), void *arg);

/* As the record has it: "L1", "L2", or "none" of rows with prefetch_none; "" for a row without the choice. */
const char *ulb_prefetch_name(const struct ulb_kernel *kernel, bool l2);

#endif
