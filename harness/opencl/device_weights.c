#include "harness/opencl/device_weights.h"

#include "common/mem.h"
#include "harness/opencl/device_ring.h"

/* Devices want pieces of a buffer to begin at multiples of up to 4096 bytes; readers take 64 KiB at least. */
enum { COPY_GRAIN = 4096, PIECE_GRAIN = 65536 };

size_t ulb_device_weights_piece(const struct ulb_device *device, size_t ring_bytes, size_t largest)
{
    struct ulb_device_ring plan;
    const size_t least = ulb_round_up(largest, PIECE_GRAIN);
    ulb_device_ring_plan(device, ring_bytes, &plan);
    return plan.copy_bytes > least ? plan.copy_bytes : least;
}

static enum ulb_status add_piece(struct ulb_device_weights *weights, const struct ulb_device_queue *queue,
                                 cl_kernel fill, struct ulb_error *err)
{
    cl_mem *piece = &weights->pieces[weights->n_pieces];
    struct ulb_launch_time unused;
    enum ulb_status status = ulb_device_memory(queue, weights->piece_bytes, NULL, piece, err);
    if (status != ULB_OK)
        return status;
    weights->n_pieces++;
    const struct ulb_launch launch = {fill, *piece, weights->piece_bytes / sizeof(cl_uint), 64};
    ulb_device_doing(queue->link, queue->launch_limit_s,
                     "give a smaller ring (--ring-mib) or more time (--call-timeout)",
                     "while room for cold weights was made on %s", queue->device->id);
    return ulb_launch_all(queue, &launch, 1, &unused, err);
}

enum ulb_status ulb_device_weights_open(struct ulb_device_weights *weights,
                                        const struct ulb_device_queue *queue, cl_kernel fill,
                                        size_t ring_bytes, size_t largest, struct ulb_error *err)
{
    struct ulb_device_ring plan;
    ulb_device_ring_plan(queue->device, ring_bytes, &plan);
    const size_t total = plan.copy_bytes * plan.n;
    enum ulb_status status = ULB_OK;
    weights->piece_bytes = ulb_device_weights_piece(queue->device, ring_bytes, largest);
    const size_t wanted = total > weights->piece_bytes ? total / weights->piece_bytes : 1;
    while (weights->n_pieces < wanted && weights->n_pieces < ULB_WEIGHT_PIECES && status == ULB_OK)
        status = add_piece(weights, queue, fill, err);
    return weights->n_pieces > 0 ? ULB_OK : status;
}

static void drop_copies(struct ulb_device_weights *weights, const struct ulb_device_queue *queue)
{
    for (size_t i = 0; i < weights->n; i++)
        queue->cl->clReleaseMemObject(weights->copies[i]);
    weights->n = 0;
}

void ulb_device_weights_close(struct ulb_device_weights *weights, const struct ulb_device_queue *queue)
{
    drop_copies(weights, queue);
    for (size_t i = 0; i < weights->n_pieces; i++)
        queue->cl->clReleaseMemObject(weights->pieces[i]);
    weights->n_pieces = 0;
}

static enum ulb_status add_copy(struct ulb_device_weights *weights, const struct ulb_device_queue *queue,
                                size_t place, const void *packed, size_t bytes, struct ulb_error *err)
{
    const size_t a_piece = weights->piece_bytes / weights->copy_bytes;
    const cl_buffer_region region = {place % a_piece * weights->copy_bytes, bytes};
    cl_mem *copy = &weights->copies[place];
    const char *call = "clCreateSubBuffer";
    cl_int error;
    *copy = queue->cl->clCreateSubBuffer(weights->pieces[place / a_piece], CL_MEM_READ_WRITE,
                                         CL_BUFFER_CREATE_TYPE_REGION, &region, &error);
    if (!*copy)
        return ulb_device_refuse(queue->device, call, error, err);
    weights->n++;
    if (place == 0) {
        call = "clEnqueueWriteBuffer";
        error =
            queue->cl->clEnqueueWriteBuffer(queue->queue, *copy, CL_TRUE, 0, bytes, packed, 0, NULL, NULL);
    } else {
        call = "clEnqueueCopyBuffer";
        error = queue->cl->clEnqueueCopyBuffer(queue->queue, weights->copies[0], *copy, 0, 0, bytes, 0, NULL,
                                               NULL);
    }
    return error == CL_SUCCESS ? ULB_OK : ulb_device_refuse(queue->device, call, error, err);
}

enum ulb_status ulb_device_weights_set(struct ulb_device_weights *weights,
                                       const struct ulb_device_queue *queue, const void *packed, size_t bytes,
                                       struct ulb_error *err)
{
    enum ulb_status status = ULB_OK;
    drop_copies(weights, queue);
    weights->copy_bytes = ulb_round_up(bytes, COPY_GRAIN);
    size_t n = weights->piece_bytes / weights->copy_bytes * weights->n_pieces;
    n = n < ULB_WEIGHT_COPIES ? n : ULB_WEIGHT_COPIES;
    ulb_device_doing(queue->link, queue->launch_limit_s,
                     "give a smaller ring (--ring-mib) or more time (--call-timeout)",
                     "while %zu copies of the weights were made on %s", n, queue->device->id);
    for (size_t i = 0; i < n && status == ULB_OK; i++)
        status = add_copy(weights, queue, i, packed, bytes, err);
    const cl_int error = status == ULB_OK ? queue->cl->clFinish(queue->queue) : CL_SUCCESS;
    return error == CL_SUCCESS ? status : ulb_device_refuse(queue->device, "clFinish", error, err);
}
