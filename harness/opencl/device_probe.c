#include "harness/opencl/device_probe.h"

#include "harness/opencl/device_peak.h"
#include "harness/opencl/device_sources.h"
#include "harness/session/json_number.h"

#include <string.h>

/* The size of the sub-groups that a kernel of the Khronos extension gets; none where the driver does not
 * tell. */
static enum ulb_status ask_lanes(struct ulb_device *device, const struct ulb_device_queue *queue,
                                 struct ulb_error *err)
{
    static const char call[] = "clGetKernelSubGroupInfoKHR";
    const size_t group = 64;
    size_t lanes = 0;
    cl_program program;
    cl_kernel kernel = NULL;
    clGetKernelSubGroupInfoKHR_fn ask;
    void *found = queue->cl->clGetExtensionFunctionAddressForPlatform(device->platform, call);
    memcpy(&ask, &found, sizeof ask);
    if (!found)
        return ULB_OK;
    enum ulb_status status = ulb_program_build(queue, &ulb_source_launch, "", &program, err);
    if (status != ULB_OK)
        return status;
    status = ulb_kernel_get(queue, program, "empty", &kernel, err);
    if (status == ULB_OK &&
        ask(kernel, device->handle, CL_KERNEL_MAX_SUB_GROUP_SIZE_FOR_NDRANGE_KHR, sizeof group, &group,
            sizeof lanes, &lanes, NULL) == CL_SUCCESS &&
        lanes > 0)
        device->lanes[device->n_lanes++] = lanes;
    if (kernel)
        queue->cl->clReleaseKernel(kernel);
    queue->cl->clReleaseProgram(program);
    return status;
}

/* Whether the compiler has the matrix instruction with weights of 2 bits, of which no extension speaks. */
static bool has_int2(const struct ulb_device_queue *queue)
{
    cl_program program;
    struct ulb_error unused;
    char options[64];
    ulb_peak_options("I8I2", queue->device, options, sizeof options);
    if (ulb_program_build(queue, &ulb_source_peak, options, &program, &unused) != ULB_OK)
        return false;
    queue->cl->clReleaseProgram(program);
    return true;
}

enum ulb_status ulb_device_probe(struct ulb_device *device, struct ulb_device_link *link,
                                 double launch_limit_s, struct ulb_error *err)
{
    const bool dpas = ulb_device_has(device, ULB_DPAS_EXTENSION) && ulb_device_lanes(device) > 0;
    const bool lanes = device->n_lanes == 0 && ulb_device_has(device, "cl_khr_subgroups");
    struct ulb_device_queue queue;
    if (ulb_device_has(device, ULB_DP4A_EXTENSION))
        device->matrix = "dp4a";
    if (!dpas && !lanes)
        return ULB_OK;
    enum ulb_status status = ulb_queue_open(&queue, device, link, launch_limit_s, err);
    if (status != ULB_OK)
        return status;
    if (lanes)
        status = ask_lanes(device, &queue, err);
    if (dpas)
        device->matrix = has_int2(&queue) ? "dpas-int2" : "dpas-int8";
    ulb_queue_close(&queue);
    return status;
}

/* ---- as JSON ---- */

static json_t *extensions_json(const char *text)
{
    json_t *list = json_array();
    while (*(text += strspn(text, " "))) {
        size_t length = strcspn(text, " ");
        json_array_append_new(list, json_stringn(text, length));
        text += length;
    }
    return list;
}

static void set_lanes(json_t *row, const struct ulb_device *device)
{
    if (device->n_lanes == 0) {
        ulb_set_text(row, "lanes", NULL, "the device tells of no sub-groups");
        return;
    }
    json_t *lanes = json_array();
    for (size_t i = 0; i < device->n_lanes; i++)
        json_array_append_new(lanes, json_integer((json_int_t)device->lanes[i]));
    json_object_set_new(row, "lanes", lanes);
}

static long long bytes_or_unknown(cl_ulong bytes)
{
    return bytes > 0 ? (long long)bytes : -1;
}

json_t *ulb_device_json(const struct ulb_device *device)
{
    static const char unknown[] = "the driver does not tell";
    const char *kind = device->type & CL_DEVICE_TYPE_GPU           ? "gpu"
                       : device->type & CL_DEVICE_TYPE_CPU         ? "cpu"
                       : device->type & CL_DEVICE_TYPE_ACCELERATOR ? "accelerator"
                                                                   : "custom";
    json_t *row = json_pack("{s:s, s:s, s:s, s:s, s:s, s:s, s:I, s:s, s:b}", "id", device->id, "name",
                            device->name, "vendor", device->vendor, "driver", device->driver, "version",
                            device->version, "kind", kind, "units", (json_int_t)device->units, "matrix",
                            device->matrix, "unified", device->unified != 0);
    ulb_set_bytes(row, "memory_bytes", bytes_or_unknown(device->memory_bytes), unknown);
    ulb_set_bytes(row, "largest_buffer_bytes", bytes_or_unknown(device->largest_buffer_bytes), unknown);
    ulb_set_bytes(row, "cache_bytes", bytes_or_unknown(device->cache_bytes), unknown);
    ulb_set_bytes(row, "mhz", device->mhz > 0 ? (long long)device->mhz : -1, unknown);
    set_lanes(row, device);
    json_object_set_new(row, "extensions", extensions_json(device->extensions));
    return row;
}
