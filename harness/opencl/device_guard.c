#include "harness/opencl/device_guard.h"

#include <stdlib.h>
#include <string.h>

/* Devices want pieces of a buffer to begin at multiples of up to 4096 bytes. */
enum { GUARD_BYTES = 4096, GUARD_WORDS = GUARD_BYTES / 4 };

static const uint32_t CANARY = 0xFFC0DE57; /* of floats a NaN, of integers below all sums */

static void set_canaries(uint32_t *words, size_t n)
{
    for (size_t i = 0; i < n; i++)
        words[i] = CANARY;
}

static bool are_canaries(const uint32_t *words)
{
    for (size_t i = 0; i < GUARD_WORDS; i++) {
        if (words[i] != CANARY)
            return false;
    }
    return true;
}

static enum ulb_status no_memory(size_t bytes, struct ulb_error *err)
{
    return ulb_fail(err, ULB_ENVIRONMENT, "not enough memory to check %zu bytes of a device", bytes);
}

enum ulb_status ulb_guarded_open(struct ulb_guarded *guarded, const struct ulb_device_queue *queue,
                                 size_t bytes, const void *contents, struct ulb_error *err)
{
    const cl_buffer_region region = {GUARD_BYTES, bytes};
    cl_int error;
    *guarded = (struct ulb_guarded){.bytes = bytes};
    uint32_t *words = malloc(bytes + 2 * GUARD_BYTES);
    if (!words)
        return no_memory(bytes, err);
    set_canaries(words, bytes / 4 + 2 * GUARD_WORDS);
    if (contents)
        memcpy(words + GUARD_WORDS, contents, bytes);
    enum ulb_status status = ulb_device_memory(queue, bytes + 2 * GUARD_BYTES, words, &guarded->whole, err);
    free(words);
    if (status != ULB_OK)
        return status;
    guarded->part = queue->cl->clCreateSubBuffer(guarded->whole, CL_MEM_READ_WRITE,
                                                 CL_BUFFER_CREATE_TYPE_REGION, &region, &error);
    return guarded->part ? ULB_OK : ulb_device_refuse(queue->device, "clCreateSubBuffer", error, err);
}

void ulb_guarded_close(struct ulb_guarded *guarded, const struct ulb_device_queue *queue)
{
    if (guarded->part)
        queue->cl->clReleaseMemObject(guarded->part);
    if (guarded->whole)
        queue->cl->clReleaseMemObject(guarded->whole);
    *guarded = (struct ulb_guarded){0};
}

enum ulb_status ulb_guarded_read(const struct ulb_guarded *guarded, const struct ulb_device_queue *queue,
                                 void *contents, const char **touched, struct ulb_error *err)
{
    const size_t bytes = guarded->bytes + 2 * GUARD_BYTES;
    uint32_t *words = malloc(bytes);
    if (!words)
        return no_memory(guarded->bytes, err);
    cl_int error =
        queue->cl->clEnqueueReadBuffer(queue->queue, guarded->whole, CL_TRUE, 0, bytes, words, 0, NULL, NULL);
    if (error == CL_SUCCESS) {
        memcpy(contents, words + GUARD_WORDS, guarded->bytes);
        *touched = !are_canaries(words)                                      ? "before"
                   : !are_canaries(words + GUARD_WORDS + guarded->bytes / 4) ? "behind"
                                                                             : NULL;
    }
    free(words);
    return error == CL_SUCCESS ? ULB_OK : ulb_device_refuse(queue->device, "clEnqueueReadBuffer", error, err);
}
