/* Verification without timing: every kernel against its scalar reference over edge shapes and extreme fills.
 */
#ifndef ULB_HARNESS_VERIFY_VERIFY_H
#define ULB_HARNESS_VERIFY_VERIFY_H

#include "harness/verify/test_case.h"

/* Runs the whole list of shapes and fills on one kernel; *cases counts them. ULB_FINDING names the first that
 * differs. A kernel of a library of others is checked as harness/verify/stranger.h says; timeout_s: of one
 * call. */
enum ulb_status ulb_verify_kernel(const struct ulb_kernel *kernel, uint64_t seed, double timeout_s,
                                  size_t *cases, struct ulb_error *err);

#endif
