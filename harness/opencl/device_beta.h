/* Read bandwidth of a device, by size and reader. */
#ifndef ULB_HARNESS_OPENCL_DEVICE_BETA_H
#define ULB_HARNESS_OPENCL_DEVICE_BETA_H

#include "harness/opencl/device_queue.h"

/* A kernel of kernels/opencl/read.cl with so many items for each unit of the device. */
struct ulb_device_reader {
    const char *name, *kernel;
    size_t items_per_unit;
    const char *needs; /* the extension; NULL: none */
};
extern const struct ulb_device_reader ulb_device_readers[];
extern const size_t ulb_device_reader_count;

/* Fills a ring ("ring") and reads it with every reader that the device has. Tells one "cell" a size and
 * reader, and "left_out" for each reader it has not. quick: fewer sizes and samples. */
enum ulb_status ulb_device_beta(const struct ulb_device_queue *queue, bool quick, size_t ring_bytes,
                                struct ulb_error *err);

/* Options that read.cl is built with for a device; "" where it has no sub-groups' reads. */
void ulb_read_options(const struct ulb_device *device, char *options, size_t bytes);

/* What a reader does with so many bytes of a copy: launches it once and compares the sum. For tests. */
enum ulb_status ulb_device_reader_check(const struct ulb_device_queue *queue,
                                        const struct ulb_device_reader *reader, cl_program program,
                                        cl_mem copy, size_t bytes, bool *right, struct ulb_error *err);

#endif
