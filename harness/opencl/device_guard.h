/* Buffers with words round them that a kernel must leave alone: a device has no page that faults. */
#ifndef ULB_HARNESS_OPENCL_DEVICE_GUARD_H
#define ULB_HARNESS_OPENCL_DEVICE_GUARD_H

#include "harness/opencl/device_queue.h"

#include <stdint.h>

struct ulb_guarded {
    cl_mem whole, part; /* part: what the kernel gets, a piece of whole */
    size_t bytes;       /* of part */
};

/* contents NULL: canaries throughout, so that what is not written is found. Words are of 32 bits; bytes is a
 * multiple of 4. To be closed whatever the status, from zero. */
enum ulb_status ulb_guarded_open(struct ulb_guarded *guarded, const struct ulb_device_queue *queue,
                                 size_t bytes, const void *contents, struct ulb_error *err);
void ulb_guarded_close(struct ulb_guarded *guarded, const struct ulb_device_queue *queue);

/* Reads the part and the words round it. *touched: "before", "behind", or NULL when all of these are as they
 * were. ULB_ENVIRONMENT when the device or memory fails. */
enum ulb_status ulb_guarded_read(const struct ulb_guarded *guarded, const struct ulb_device_queue *queue,
                                 void *contents, const char **touched, struct ulb_error *err);

#endif
