/* Where the prefetches of tunable kernels go (struct ulb_prefetch_policy): as the kernel does by itself, or
 * into which cache only and at what distance. What is fastest differs between cores and kernels, and on one
 * core with the speed of its memory. So it is measured (docs/measurements/prefetch.md). */
#ifndef ULB_HARNESS_COMPUTE_PREFETCH_TUNING_H
#define ULB_HARNESS_COMPUTE_PREFETCH_TUNING_H

#include "kernels/kernel.h"

#include <stdbool.h>
#include <stddef.h>

enum {
    ULB_PREFETCH_CANDIDATES = 6, /* at most, of a kernel: its own first */
    ULB_PREFETCH_SAMPLES = 9,
    ULB_PREFETCH_SAMPLES_LONG = 3 /* of calls that take long */
};

/* Whether calls of so many tokens have the choice. */
bool ulb_prefetch_chosen(const struct ulb_kernel *kernel, size_t tokens);

/* The settings that they may have: 1 without the choice, 2 of ULB_PREFETCH_OWN_OR_NONE. */
struct ulb_prefetch_candidates {
    const struct ulb_prefetch *at;
    size_t n;
};
struct ulb_prefetch_candidates ulb_prefetch_candidates(const struct ulb_kernel *kernel, size_t tokens);

/* The same call with each candidate; NAN: not measured. */
struct ulb_prefetch_times {
    double medians[ULB_PREFETCH_CANDIDATES]; /* in the unit of the samples */
    double ratios[ULB_PREFETCH_CANDIDATES];  /* median over rounds of its time divided by that of L1 */
};

/* Takes so many samples (at most ULB_PREFETCH_SAMPLES) with each of the candidates. They take turns, every
 * round in the other order, so that a machine that gets slower or faster treats all alike. sample(arg) gives
 * the time of a call that obeys *prefetch, which is left at any. */
struct ulb_prefetch_times ulb_prefetch_compare(struct ulb_prefetch *prefetch,
                                               struct ulb_prefetch_candidates candidates, size_t samples,
                                               double (*sample)(void *arg), void *arg);

/* The candidate with the least of such ratios, of equal ones the first. The kernel's own unless another is
 * faster by 2 % at least: what is less is noise, and its own needs no reason. */
size_t ulb_prefetch_best(const double ratios[ULB_PREFETCH_CANDIDATES]);

/* Compares and chooses: leaves the choice in *prefetch and returns its median. */
double ulb_prefetch_choose(struct ulb_prefetch *prefetch, struct ulb_prefetch_candidates candidates,
                           size_t samples, double (*sample)(void *arg), void *arg);

/* As the record has it. "L1": the kernel's own. "L2+1024": into L2 only, so many bytes ahead. "L1+1024": the
 * same into L1. "none": no prefetch. "": calls without the choice. */
const char *ulb_prefetch_name(const struct ulb_kernel *kernel, size_t tokens, struct ulb_prefetch prefetch);

#endif
