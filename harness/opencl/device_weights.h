/* Cold weights on a device: copies of a packed matrix that are read in turn, as pieces of a few large
 * buffers. */
#ifndef ULB_HARNESS_OPENCL_DEVICE_WEIGHTS_H
#define ULB_HARNESS_OPENCL_DEVICE_WEIGHTS_H

#include "harness/opencl/device_queue.h"

enum { ULB_WEIGHT_PIECES = 1024, ULB_WEIGHT_COPIES = 4096 };

struct ulb_device_weights {
    size_t piece_bytes, n_pieces;
    cl_mem pieces[ULB_WEIGHT_PIECES];
    size_t copy_bytes, n; /* of the matrix now in them, padding included; how many copies */
    cl_mem copies[ULB_WEIGHT_COPIES];
};

/* Bytes of one of these buffers, a multiple of 64 KiB. */
size_t ulb_device_weights_piece(const struct ulb_device *device, size_t ring_bytes, size_t largest);

/* Buffers as large as a ring (device_ring.h) that have room for the largest matrix each, written by the
 * kernel fill of read.cl. To be closed whatever the status, from zero. ULB_ENVIRONMENT: the device has no
 * room for one. */
enum ulb_status ulb_device_weights_open(struct ulb_device_weights *weights,
                                        const struct ulb_device_queue *queue, cl_kernel fill,
                                        size_t ring_bytes, size_t largest, struct ulb_error *err);
void ulb_device_weights_close(struct ulb_device_weights *weights, const struct ulb_device_queue *queue);

/* As many copies of a matrix as fit; those of the one before are gone. */
enum ulb_status ulb_device_weights_set(struct ulb_device_weights *weights,
                                       const struct ulb_device_queue *queue, const void *packed, size_t bytes,
                                       struct ulb_error *err);

#endif
