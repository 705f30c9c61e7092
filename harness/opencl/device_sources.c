#include "harness/opencl/device_sources.h"

/* Put into the program by CMake, each closed with a zero byte. */
extern const unsigned char ulb_opencl_launch[], ulb_opencl_peak[], ulb_opencl_lanes[], ulb_opencl_read[];

const struct ulb_device_source ulb_source_launch = {"launch.cl", {ulb_opencl_launch}};
const struct ulb_device_source ulb_source_peak = {"peak.cl", {ulb_opencl_peak}};
const struct ulb_device_source ulb_source_read = {"read.cl", {ulb_opencl_lanes, ulb_opencl_read}};
