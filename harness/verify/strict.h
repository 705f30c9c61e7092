/* The checker of one kernel at one test case:
 * - pages that fault right before and behind every buffer, inputs that cannot be written, canaries round the
 * rows asked for;
 * - whole run, split run and second run bit-equal;
 * - several tokens, and the scalar reference. */
#ifndef ULB_HARNESS_VERIFY_STRICT_H
#define ULB_HARNESS_VERIFY_STRICT_H

#include "harness/verify/test_case.h"

/* "" if everything holds, else what does not, in static storage. tokens: so many of the test case that all
 * differ, each against the reference. 0, for a test case of one: the token, its negative and zeros, the split
 * run and the second run. A kernel that touches what it must not raises SIGSEGV, which is the caller's to
 * catch. counter is odd while the kernel is at work, if somebody watches it; or NULL. */
const char *ulb_strict_check(const struct ulb_kernel *kernel, const struct ulb_test_case *test_case,
                             size_t tokens, volatile size_t *counter);

/* What the address of a SIGSEGV during a check says: "touches memory behind its weights". false: it lies near
 * no buffer. For signal handlers. */
bool ulb_strict_place(const void *address, char *text, size_t bytes);

#endif
