/* The kernels of kernels/opencl/, which the program carries as text. */
#ifndef ULB_HARNESS_OPENCL_DEVICE_SOURCES_H
#define ULB_HARNESS_OPENCL_DEVICE_SOURCES_H

#include "harness/opencl/device_queue.h"

extern const struct ulb_device_source ulb_source_launch, ulb_source_peak, ulb_source_read;

#endif
