/* What a token takes beside the products of its blocks: head, attention, norms, waiting. Measured in a whole
 * run, so that the products of any model can be made tokens of. */
#ifndef ULB_HARNESS_DECODE_TOKEN_REST_H
#define ULB_HARNESS_DECODE_TOKEN_REST_H

#include "kernels/kernel.h"
#include "common/status.h"

#include <stddef.h>

struct ulb_session; /* harness/session/session.h */

/* Decodes some tokens of a few layers of one small model in two of the kernels' formats and appends the runs
 * to the record's section "decode". The session's ring is used, and given back before any weights are made.
 * Where that cannot be done, for want of memory or of a 16-bit kernel, the record says so in a warning, and
 * the status is ULB_OK. */
enum ulb_status ulb_token_rest_measure(struct ulb_session *session, const struct ulb_kernel *const *kernels,
                                       size_t n, struct ulb_error *err);

#endif
