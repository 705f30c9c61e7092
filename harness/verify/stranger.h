/* A kernel that others hand in, checked where it can do no harm: in a process of its own. */
#ifndef ULB_HARNESS_VERIFY_STRANGER_H
#define ULB_HARNESS_VERIFY_STRANGER_H

#include "common/status.h"
#include "kernels/kernel.h"

#include <stddef.h>
#include <stdint.h>

/* As strict as the suite's own tests (harness/verify/strict.h), at edge shapes, extreme fills and several
 * numbers of tokens. *cases counts what was passed. ULB_FINDING names the kernel, the shape and the first
 * fault:
 * - another result, or memory that is not its own;
 * - a crash, or an instruction that the CPU lacks;
 * - a call that does not return within timeout_s (0: 1000 times the scalar reference, at least a second);
 * - output, a thread or process of its own, another affinity.
 * ULB_ENVIRONMENT: it ends the program by exit(). ULB_INTERRUPTED within a tenth of a second. */
enum ulb_status ulb_stranger_check(const struct ulb_kernel *kernel, uint64_t seed, double timeout_s,
                                   size_t *cases, struct ulb_error *err);

#endif
