/* A device at work: its queue, the programs built for it, launches and what they take. */
#ifndef ULB_HARNESS_OPENCL_DEVICE_QUEUE_H
#define ULB_HARNESS_OPENCL_DEVICE_QUEUE_H

#include "harness/opencl/device_query.h"

struct ulb_device_queue {
    const struct ulb_device *device;
    const struct ulb_opencl *cl;
    struct ulb_device_link *link;
    double launch_limit_s; /* that one launch may take, with what the driver compiles for it */
    cl_context context;
    cl_command_queue queue; /* in order, with the events' clock */
};

/* link and device must outlive it. */
enum ulb_status ulb_queue_open(struct ulb_device_queue *queue, const struct ulb_device *device,
                               struct ulb_device_link *link, double launch_limit_s, struct ulb_error *err);
void ulb_queue_close(struct ulb_device_queue *queue);

/* The source of kernels: a name for messages, and texts that are put one behind the other; NULL: no more. */
enum { ULB_SOURCE_TEXTS = 4 };
struct ulb_device_source {
    const char *name;
    const unsigned char *texts[ULB_SOURCE_TEXTS];
};

/* Builds a program. On failure the message names source, options and the first error, and the whole log is
 * told under "build_log". */
enum ulb_status ulb_program_build(const struct ulb_device_queue *queue,
                                  const struct ulb_device_source *source, const char *options,
                                  cl_program *program, struct ulb_error *err);

enum ulb_status ulb_kernel_get(const struct ulb_device_queue *queue, cl_program program, const char *name,
                               cl_kernel *kernel, struct ulb_error *err);

/* Memory of the device. contents NULL: whatever is there. */
enum ulb_status ulb_device_memory(const struct ulb_device_queue *queue, size_t bytes, void *contents,
                                  cl_mem *memory, struct ulb_error *err);

/* One kernel over items, in groups of so many. A buffer that is not NULL becomes argument 0. */
struct ulb_launch {
    cl_kernel kernel;
    cl_mem buffer;
    size_t items, group;
};

/* Seconds of launches back to back. event_s: from the first begin to the last end, by the clock of the
 * device's events. host_s: from before the first call until all are known to have ended. */
struct ulb_launch_time {
    double event_s, host_s;
};

/* Launches them back to back and waits. ULB_ENVIRONMENT when the driver refuses, or its clock stands still.
 */
enum ulb_status ulb_launch_all(const struct ulb_device_queue *queue, const struct ulb_launch *launches,
                               size_t n, struct ulb_launch_time *time, struct ulb_error *err);

/* Fails with what call said: "clFinish failed on opencl:0.0 (CL_OUT_OF_RESOURCES); ...". */
enum ulb_status ulb_device_refuse(const struct ulb_device *device, const char *call, cl_int error,
                                  struct ulb_error *err);

#endif
