/* The cold ring of a device: equal copies, which cold reading walks in turn so that between two readings of
 * one all others were read. */
#ifndef ULB_HARNESS_OPENCL_DEVICE_RING_H
#define ULB_HARNESS_OPENCL_DEVICE_RING_H

#include "harness/opencl/device_queue.h"

#include <stdint.h>

enum { ULB_RING_COPIES_MOST = 1024 };

struct ulb_device_ring {
    size_t copy_bytes, n; /* a power of two; how many copies */
    cl_mem copies[ULB_RING_COPIES_MOST];
    size_t wanted_bytes; /* what was to be had; more than copy_bytes * n where the device gave less */
};

/* wanted_bytes 0: the larger of 2 GiB and four times the device's cache, at most half of its memory. Each
 * copy's word i is i * 2654435761, by the kernel fill. A device that gives less than wanted has a smaller
 * ring; one that gives no copy at all is ULB_ENVIRONMENT. */
enum ulb_status ulb_device_ring_open(struct ulb_device_ring *ring, const struct ulb_device_queue *queue,
                                     cl_kernel fill, size_t wanted_bytes, struct ulb_error *err);
void ulb_device_ring_close(struct ulb_device_ring *ring, const struct ulb_device_queue *queue);

/* The copies' size and number for a ring on a device. */
void ulb_device_ring_plan(const struct ulb_device *device, size_t wanted_bytes, struct ulb_device_ring *ring);

/* The sum, modulo 2^32, of the first so many words of a copy. */
uint32_t ulb_device_ring_sum(size_t words);

#endif
