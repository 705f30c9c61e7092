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
 * reader, and "left_out" for each reader it has not. quick: fewer sizes and samples. *best: the fastest
 * reader of the whole ring; NULL: none reads it right. best may be NULL. */
enum ulb_status ulb_device_beta(const struct ulb_device_queue *queue, bool quick, size_t ring_bytes,
                                const struct ulb_device_reader **best, struct ulb_error *err);

/* A reader at hand, to be set beside other measurements. */
struct ulb_device_yardstick {
    const struct ulb_device_queue *queue;
    cl_program program;
    cl_kernel kernel;
    cl_mem sums;
    size_t items;
    size_t bytes; /* of each buffer that it reads */
};

/* bytes: a multiple of 64 KiB. To be closed whatever the status, from zero. */
enum ulb_status ulb_device_yardstick_open(struct ulb_device_yardstick *yardstick,
                                          const struct ulb_device_queue *queue,
                                          const struct ulb_device_reader *reader, size_t bytes,
                                          struct ulb_error *err);
/* Bytes/s of reading n buffers once, by the device's clock; NAN where that stands still. */
enum ulb_status ulb_device_yardstick_read(const struct ulb_device_yardstick *yardstick, const cl_mem *buffers,
                                          size_t n, double *rate, struct ulb_error *err);
void ulb_device_yardstick_close(struct ulb_device_yardstick *yardstick);

/* Options that read.cl is built with for a device; "" where it has no sub-groups' reads. */
void ulb_read_options(const struct ulb_device *device, char *options, size_t bytes);

/* What a reader does with so many bytes of a copy: launches it once and compares the sum. For tests. */
enum ulb_status ulb_device_reader_check(const struct ulb_device_queue *queue,
                                        const struct ulb_device_reader *reader, cl_program program,
                                        cl_mem copy, size_t bytes, bool *right, struct ulb_error *err);

#endif
