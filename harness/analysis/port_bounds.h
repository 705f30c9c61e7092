/* What the ports of this machine's cores allow each kernel, beside the gammas that are measured. */
#ifndef ULB_HARNESS_ANALYSIS_PORT_BOUNDS_H
#define ULB_HARNESS_ANALYSIS_PORT_BOUNDS_H

#include "harness/session/session.h"
#include "kernels/kernel.h"

/* Sets the record's section "port_bounds": for each class of the session's cores and each of the n kernels
 * the lower limit of gamma that the core's ports set, or null with the reason. */
enum ulb_status ulb_port_bounds_record(struct ulb_session *session, const struct ulb_kernel *const *kernels,
                                       size_t n, struct ulb_error *err);

#endif
