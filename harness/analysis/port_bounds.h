/* What the ports of this machine's cores allow each kernel, beside the gammas that are measured. */
#ifndef ULB_HARNESS_ANALYSIS_PORT_BOUNDS_H
#define ULB_HARNESS_ANALYSIS_PORT_BOUNDS_H

#include "harness/topology/topology.h"
#include "kernels/kernel.h"
#include "results/record/record.h"

/* Sets the record's section "port_bounds": for each class of the topology's cores and each of the n kernels
 * the lower limit of gamma that the core's ports set, or null with the reason. */
enum ulb_status ulb_port_bounds_record(struct ulb_record *record, const struct ulb_topology *topology,
                                       const struct ulb_kernel *const *kernels, size_t n,
                                       struct ulb_error *err);

#endif
