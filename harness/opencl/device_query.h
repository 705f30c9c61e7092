/* The devices of all platforms, and what they say of themselves. */
#ifndef ULB_HARNESS_OPENCL_DEVICE_QUERY_H
#define ULB_HARNESS_OPENCL_DEVICE_QUERY_H

#include "harness/opencl/opencl_loader.h"

#include <stdbool.h>
#include <stddef.h>

enum { ULB_LANES_MOST = 8 };

struct ulb_device {
    const struct ulb_opencl *cl;
    cl_platform_id platform;
    cl_device_id handle;
    char id[32]; /* "opencl:0.0" */
    char name[128], vendor[128], driver[128], version[128];
    char *extensions; /* words with blanks between them */
    cl_device_type type;
    cl_uint units, mhz; /* mhz: nominal; 0: not told */
    cl_ulong memory_bytes, largest_buffer_bytes, cache_bytes;
    cl_bool unified;                       /* its memory is the host's */
    size_t lanes[ULB_LANES_MOST], n_lanes; /* sizes of sub-groups; none: the device tells of none */
    const char *matrix; /* "dpas-int2", "dpas-int8", "dp4a", "none": the best for integers (device_probe.h) */
};

/* All devices in the order of platforms. ULB_ENVIRONMENT when there is none: the message names the remedy. */
enum ulb_status ulb_devices_find(const struct ulb_opencl *cl, struct ulb_device **devices, size_t *n,
                                 struct ulb_error *err);
void ulb_devices_free(struct ulb_device *devices, size_t n);

/* Which device --device names: by its id, or by a part of its name that no other has.
 * ULB_BAD_INPUT when there is none such, or several; the message says what there is. */
enum ulb_status ulb_device_choose(const struct ulb_device *devices, size_t n, const char *wanted,
                                  size_t *chosen, struct ulb_error *err);

/* Whether one of the device's extensions has this name. */
bool ulb_device_has(const struct ulb_device *device, const char *extension);

/* The size of sub-groups that kernels of matrix instructions and block reads are built for. It is 16 where
 * the device has that, else its first; 0: none. */
size_t ulb_device_lanes(const struct ulb_device *device);

/* The option for the version of the language that has the packed dot product, a blank before it. */
const char *ulb_device_std(const struct ulb_device *device);

#define ULB_DPAS_EXTENSION "cl_intel_subgroup_matrix_multiply_accumulate"
#define ULB_DP4A_EXTENSION "cl_khr_integer_dot_product"

#endif
