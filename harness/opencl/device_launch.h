/* What a launch costs. */
#ifndef ULB_HARNESS_OPENCL_DEVICE_LAUNCH_H
#define ULB_HARNESS_OPENCL_DEVICE_LAUNCH_H

#include "harness/opencl/device_queue.h"

/* Tells "launch": an empty kernel, alone and many back to back, by both clocks. */
enum ulb_status ulb_device_launch_cost(const struct ulb_device_queue *queue, bool quick,
                                       struct ulb_error *err);

#endif
