/* What is to be done on which device: arguments of its jobs (device_jobs.h). */
#ifndef ULB_HARNESS_OPENCL_DEVICE_WISH_H
#define ULB_HARNESS_OPENCL_DEVICE_WISH_H

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

/* What is verified on which device. */
struct ulb_device_verify_wish {
    struct ulb_device_wish on;
    const struct ulb_device_selection *selection;
    uint64_t seed;
};

/* Products that are measured on a device. */
struct ulb_device_shape {
    const char *model, *layer;
    size_t m, k, n; /* shapes that are equal stand together, n ascending */
};
struct ulb_device_products_wish {
    struct ulb_device_wish on;
    const struct ulb_device_selection *selection;
    const struct ulb_device_shape *shapes;
    size_t n_shapes;
    uint64_t seed;
};

#endif
