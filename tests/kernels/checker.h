/* The checker of one kernel at one problem: guard pages right before and behind every buffer, canaries round
 * the result, whole run, split run and second run bit-equal, several tokens, and the scalar truth. */
#ifndef ULB_TESTS_KERNELS_CHECKER_H
#define ULB_TESTS_KERNELS_CHECKER_H

#include "harness/problem.h"

/* "" when everything holds, else what does not. A crash of the kernel is caught in a child process and
 * reported. */
const char *check_kernel(const struct ulb_kernel *kernel, size_t m, size_t k, enum ulb_fill fill);

/* n tokens that all differ, each against the truth; guard pages as above. */
const char *check_kernel_tokens(const struct ulb_kernel *kernel, size_t m, size_t k, size_t n,
                                enum ulb_fill fill);

#endif
