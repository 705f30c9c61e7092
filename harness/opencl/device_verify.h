/* Verification of device kernels without timing. */
#ifndef ULB_HARNESS_OPENCL_DEVICE_VERIFY_H
#define ULB_HARNESS_OPENCL_DEVICE_VERIFY_H

#include "harness/opencl/device_product.h"
#include "harness/verify/test_case.h"

/* Computes a test case of the kernel's reference on the device and checks all that came of it: results
 * (device_check.h), the words round every buffer, and that what is only read was not written. ULB_FINDING
 * names the kernel and the first fault. */
enum ulb_status ulb_product_verify(const struct ulb_device_product *product,
                                   const struct ulb_test_case *test_case, struct ulb_error *err);

/* Runs the list of shapes, fills and numbers of tokens on one kernel; *cases counts those passed. */
enum ulb_status ulb_product_verify_all(const struct ulb_device_product *product, uint64_t seed, size_t *cases,
                                       struct ulb_error *err);

#endif
