/* Whether a device has computed y = W x right. A division of the device's may be 2.5 units in the last place
 * off, so that it says which inverse and scale it used: these are bounded, and with them every code of the
 * activations, every integer sum and every bit of y are known. */
#ifndef ULB_HARNESS_OPENCL_DEVICE_CHECK_H
#define ULB_HARNESS_OPENCL_DEVICE_CHECK_H

#include "harness/verify/test_case.h"
#include "kernels/opencl/device_kernel.h"

/* What a device has written. */
struct ulb_device_output {
    const float *inverse, *scale; /* [n]; not read of floating formats */
    const int8_t *codes;          /* [n][ulb_device_columns()]; NULL: they stay in the kernel */
    const int32_t *sums;          /* [n][m]; not read of floating formats */
    const float *y;               /* [n][m] */
};

/* The scalar reference of a device kernel, whose answer test cases hold; NULL: this build has none. */
const struct ulb_kernel *ulb_device_reference(const struct ulb_device_kernel *kernel);

/* ULB_FINDING names the kernel, what differs first, and where. ULB_ENVIRONMENT: memory is short. */
enum ulb_status ulb_device_check(const struct ulb_device_kernel *kernel, const char *name,
                                 const struct ulb_test_case *test_case,
                                 const struct ulb_device_output *output, struct ulb_error *err);

#endif
