/* Operations per second that registers alone allow: fp32, dp4a, and the products of matrix instructions. */
#ifndef ULB_HARNESS_OPENCL_DEVICE_PEAK_H
#define ULB_HARNESS_OPENCL_DEVICE_PEAK_H

#include "harness/opencl/device_queue.h"

/* Tells one "peak" for each operation; one that the device has not is null with the reason. */
enum ulb_status ulb_device_peaks(const struct ulb_device_queue *queue, bool quick, struct ulb_error *err);

/* The options that kernels/opencl/peak.cl is built with for one operation ("FP32", "I8I2"). */
void ulb_peak_options(const char *operation, const struct ulb_device *device, char *options, size_t bytes);

#endif
