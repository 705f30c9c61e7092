/* The checker of one kernel at one problem: guard pages right before and behind every buffer, canaries round
 * the result, whole run, split run and second run bit-equal, several tokens, and the scalar reference. */
#ifndef ULB_TESTS_KERNELS_CHECK_KERNEL_H
#define ULB_TESTS_KERNELS_CHECK_KERNEL_H

#include "harness/verify/test_problem.h"

/* One problem to check a kernel at. tokens: so many that all differ, each against the reference; 0: a token,
 * its negative and zeros, and besides the reference the split run and the second run. */
struct check {
    size_t m, k;
    enum ulb_fill fill;
    size_t tokens;
};

/* "" when everything holds at all n problems, else the first at which it does not, and what. A crash of the
 * kernel is caught in a child process and reported. Problems are kept as long as kernels have the same weight
 * and activation formats. */
const char *check_kernel(const struct ulb_kernel *kernel, const struct check *checks, size_t n);

#endif
