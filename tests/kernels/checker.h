/* The checker of one kernel at one problem: guard pages right before and behind every buffer, canaries round
 * the result, whole run, split run and second run bit-equal, several tokens, and the scalar truth. */
#ifndef ULB_TESTS_KERNELS_CHECKER_H
#define ULB_TESTS_KERNELS_CHECKER_H

#include "harness/problem.h"

/* "" when everything holds, else what does not. A crash of the kernel is caught in a child process and
 * reported. */
const char *check_kernel(const struct ulb_kernel *kernel, size_t m, size_t k, enum ulb_fill fill);

#endif
