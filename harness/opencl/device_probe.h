/* What a device tells only when a program is built for it. */
#ifndef ULB_HARNESS_OPENCL_DEVICE_PROBE_H
#define ULB_HARNESS_OPENCL_DEVICE_PROBE_H

#include "harness/opencl/device_queue.h"

/* Fills in the size of sub-groups, where the device has them and did not tell, and the word for its matrix
 * instructions: by extensions and trial builds, never by the driver's version. */
enum ulb_status ulb_device_probe(struct ulb_device *device, struct ulb_device_link *link,
                                 double launch_limit_s, struct ulb_error *err);

/* All that is known of it, as it stands in the list and the record. */
json_t *ulb_device_json(const struct ulb_device *device);

#endif
