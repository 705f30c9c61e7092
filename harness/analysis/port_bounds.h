/* What the ports of this machine's cores allow each kernel, beside the gammas that are measured. */
#ifndef ULB_HARNESS_ANALYSIS_PORT_BOUNDS_H
#define ULB_HARNESS_ANALYSIS_PORT_BOUNDS_H

#include "harness/topology/topology.h"
#include "kernels/kernel.h"
#include "results/record/record.h"

/* Sets the record's section "port_bounds". It has the lower limit of gamma that a core's ports set, for each
 * class of the topology's cores and each of the n kernels. It is null with the reason if there is none. */
enum ulb_status ulb_port_bounds_record(struct ulb_record *record, const struct ulb_topology *topology,
                                       const struct ulb_kernel *const *kernels, size_t n,
                                       struct ulb_error *err);

#endif
