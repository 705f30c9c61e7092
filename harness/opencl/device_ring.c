#include "harness/opencl/device_ring.h"

static const size_t RING_LEAST = (size_t)2 << 30, COPY_MOST = (size_t)256 << 20, COPY_LEAST = (size_t)1 << 20;
enum { COPIES = 8 }; /* that a ring is made of when copies may be as large as they should be */

static size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* The largest power of two that is not above a size of at least 1. */
static size_t power_below(size_t bytes)
{
    return (size_t)1 << (63 - __builtin_clzll((unsigned long long)bytes));
}

void ulb_device_ring_plan(const struct ulb_device *device, size_t wanted_bytes, struct ulb_device_ring *ring)
{
    size_t wanted = wanted_bytes, most = (size_t)(device->memory_bytes / 2);
    if (wanted == 0) {
        size_t cold = 4 * (size_t)device->cache_bytes;
        wanted = cold > RING_LEAST ? cold : RING_LEAST;
    }
    size_t copy = smaller(wanted / COPIES, COPY_MOST);
    if (device->largest_buffer_bytes > 0)
        copy = smaller(copy, (size_t)device->largest_buffer_bytes);
    *ring = (struct ulb_device_ring){.copy_bytes = power_below(copy > COPY_LEAST ? copy : COPY_LEAST),
                                     .wanted_bytes = wanted};
    size_t total = most > 0 ? smaller(wanted, most) : wanted;
    ring->n = smaller(total / ring->copy_bytes, ULB_RING_COPIES_MOST);
    ring->n = ring->n > 0 ? ring->n : 1;
}

static enum ulb_status add_copy(struct ulb_device_ring *ring, const struct ulb_device_queue *queue,
                                cl_kernel fill, struct ulb_error *err)
{
    cl_mem *copy = &ring->copies[ring->n];
    struct ulb_launch_time time;
    enum ulb_status status = ulb_device_memory(queue, ring->copy_bytes, NULL, copy, err);
    if (status != ULB_OK)
        return status;
    const struct ulb_launch launch = {fill, *copy, ring->copy_bytes / sizeof(cl_uint), 64};
    status = ulb_launch_all(queue, &launch, 1, &time, err);
    if (status == ULB_OK)
        ring->n++;
    else
        queue->cl->clReleaseMemObject(*copy);
    return status;
}

enum ulb_status ulb_device_ring_open(struct ulb_device_ring *ring, const struct ulb_device_queue *queue,
                                     cl_kernel fill, size_t wanted_bytes, struct ulb_error *err)
{
    enum ulb_status status = ULB_OK;
    ulb_device_ring_plan(queue->device, wanted_bytes, ring);
    size_t planned = ring->n;
    ring->n = 0;
    while (ring->n < planned && status == ULB_OK) {
        ulb_device_doing(queue->link, queue->launch_limit_s,
                         "give a smaller ring (--ring-mib) or more time (--call-timeout)",
                         "while the cold ring was filled on %s", queue->device->id);
        status = add_copy(ring, queue, fill, err);
    }
    return ring->n > 0 ? ULB_OK : status;
}

void ulb_device_ring_close(struct ulb_device_ring *ring, const struct ulb_device_queue *queue)
{
    for (size_t i = 0; i < ring->n; i++)
        queue->cl->clReleaseMemObject(ring->copies[i]);
    ring->n = 0;
}

uint32_t ulb_device_ring_sum(size_t words)
{
    /* One of the two factors is even: halved first, nothing is lost of what counts. */
    uint64_t half = words % 2 == 0 ? (uint64_t)words / 2 * (words - 1) : (uint64_t)words * ((words - 1) / 2);
    return (uint32_t)half * 2654435761u;
}
