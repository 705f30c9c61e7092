/* What is done in the process of a device (device_process.h). A build without the headers of OpenCL has the
 * same jobs, which say so. */
#ifndef ULB_HARNESS_OPENCL_DEVICE_JOBS_H
#define ULB_HARNESS_OPENCL_DEVICE_JOBS_H

#include "harness/opencl/device_process.h"
#include "harness/opencl/device_wish.h"

#define ULB_LAUNCH_LIMIT_S 60.0

/* Tells a "device" for each, and a "note" for each driver that does not come up. arg: not used. */
ulb_device_job ulb_device_list_job;

/* Tells the "device", its "launch", each "peak", the "ring", each "cell"; also "left_out", "build_log",
 * "note" and "progress". arg: a struct ulb_device_wish. */
ulb_device_job ulb_device_limits_job;

/* Tells a "row" for each kernel and path; a path that the device lacks is played. ULB_FINDING when one
 * differs. arg: a struct ulb_device_verify_wish. */
ulb_device_job ulb_device_verify_job;

/* Tells what ulb_device_limits_job tells, then a "product" for each shape and kernel, verified before. Of a
 * kernel that no filter names its best path alone is taken. ULB_FINDING when one differs. ULB_ENVIRONMENT:
 * what a filter names cannot run here. arg: a struct ulb_device_products_wish. */
ulb_device_job ulb_device_products_job;

#endif
