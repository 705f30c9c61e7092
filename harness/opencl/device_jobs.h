/* What is done in the process of a device (device_process.h). A build without the headers of OpenCL has the
 * same jobs, which say so. */
#ifndef ULB_HARNESS_OPENCL_DEVICE_JOBS_H
#define ULB_HARNESS_OPENCL_DEVICE_JOBS_H

#include "harness/opencl/device_process.h"
#include "harness/opencl/device_selection.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ulb_device_wish {
    const char *device; /* as --device names it */
    bool quick;
    size_t ring_bytes;     /* 0: as large as it should be */
    double launch_limit_s; /* that one launch may take; 0: ULB_LAUNCH_LIMIT_S */
};

#define ULB_LAUNCH_LIMIT_S 60.0

/* Tells a "device" for each, and a "note" for each driver that does not come up. arg: not used. */
ulb_device_job ulb_device_list_job;

/* Tells the "device", its "launch", each "peak", the "ring", each "cell"; also "left_out", "build_log",
 * "note" and "progress". arg: a struct ulb_device_wish. */
ulb_device_job ulb_device_limits_job;

/* What is verified on which device. */
struct ulb_device_verify_wish {
    struct ulb_device_wish on;
    const struct ulb_device_selection *selection;
    uint64_t seed;
};

/* Tells a "row" for each kernel and path; a path that the device lacks is played. ULB_FINDING when one
 * differs. arg: a struct ulb_device_verify_wish. */
ulb_device_job ulb_device_verify_job;

#endif
