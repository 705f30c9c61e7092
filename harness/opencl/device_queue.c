#include "harness/opencl/device_queue.h"

#include "common/text.h"
#include "harness/timing/stopwatch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double BUILD_LIMIT_S = 120;

enum ulb_status ulb_device_refuse(const struct ulb_device *device, const char *call, cl_int error,
                                  struct ulb_error *err)
{
    char text[32];
    return ulb_fail(err, ULB_ENVIRONMENT,
                    "%s failed on %s (%s); free its memory, restart its driver, or take another --device",
                    call, device->id, ulb_opencl_error_name(error, text));
}

enum ulb_status ulb_queue_open(struct ulb_device_queue *queue, const struct ulb_device *device,
                               struct ulb_device_link *link, double launch_limit_s, struct ulb_error *err)
{
    cl_int error;
    *queue = (struct ulb_device_queue){
        .device = device, .cl = device->cl, .link = link, .launch_limit_s = launch_limit_s};
    ulb_device_doing(link, BUILD_LIMIT_S, "restart its driver or take another --device",
                     "while %s was opened", device->id);
    queue->context = queue->cl->clCreateContext(NULL, 1, &device->handle, NULL, NULL, &error);
    if (!queue->context)
        return ulb_device_refuse(device, "clCreateContext", error, err);
    queue->queue =
        queue->cl->clCreateCommandQueue(queue->context, device->handle, CL_QUEUE_PROFILING_ENABLE, &error);
    if (queue->queue)
        return ULB_OK;
    ulb_queue_close(queue);
    return ulb_device_refuse(device, "clCreateCommandQueue", error, err);
}

void ulb_queue_close(struct ulb_device_queue *queue)
{
    if (queue->queue)
        queue->cl->clReleaseCommandQueue(queue->queue);
    if (queue->context)
        queue->cl->clReleaseContext(queue->context);
    queue->queue = NULL;
    queue->context = NULL;
}

/* ---- programs ---- */

/* The first line of a log that speaks of an error, else its first; cut to the room. */
static void first_error(const char *log, char *line, size_t bytes)
{
    const char *begin = strstr(log, "error");
    if (!begin)
        begin = log + strspn(log, " \r\n");
    while (begin > log && begin[-1] != '\n')
        begin--;
    snprintf(line, bytes, "%.*s", (int)strcspn(begin, "\r\n"), begin);
    ulb_text_mend(line);
    ulb_text_printable(line);
}

/* Each line of the log as a text; what is beyond the room is left out. */
static json_t *log_lines(char *log)
{
    enum { LINES_MOST = 200 };
    char *rest = NULL;
    json_t *lines = json_array();
    for (char *line = strtok_r(log, "\r\n", &rest); line && json_array_size(lines) < LINES_MOST;
         line = strtok_r(NULL, "\r\n", &rest)) {
        ulb_text_mend(line);
        ulb_text_printable(line);
        json_array_append_new(lines, json_string(line));
    }
    return lines;
}

static enum ulb_status refuse_build(const struct ulb_device_queue *queue, const char *name,
                                    const char *options, cl_program program, cl_int error,
                                    struct ulb_error *err)
{
    enum { LOG_MOST = 1 << 20 };
    char code[32], line[200] = "no log";
    size_t bytes = 0;
    queue->cl->clGetProgramBuildInfo(program, queue->device->handle, CL_PROGRAM_BUILD_LOG, 0, NULL, &bytes);
    char *log = bytes > 0 && bytes <= LOG_MOST ? calloc(1, bytes + 1) : NULL;
    if (log) {
        queue->cl->clGetProgramBuildInfo(program, queue->device->handle, CL_PROGRAM_BUILD_LOG, bytes, log,
                                         NULL);
        first_error(log, line, sizeof line);
        ulb_device_tell(
            queue->link, "build_log",
            json_pack("{s:s, s:s, s:o}", "source", name, "options", options, "log", log_lines(log)));
    }
    free(log);
    return ulb_fail(err, ULB_ENVIRONMENT,
                    "%s was not built for %s with '%s' (%s): %s; update the driver or take another --device",
                    name, queue->device->id, options, ulb_opencl_error_name(error, code), line);
}

enum ulb_status ulb_program_build(const struct ulb_device_queue *queue,
                                  const struct ulb_device_source *source, const char *options,
                                  cl_program *program, struct ulb_error *err)
{
    cl_int error;
    const char *texts[ULB_SOURCE_TEXTS];
    cl_uint n = 0;
    for (; n < ULB_SOURCE_TEXTS && source->texts[n]; n++)
        texts[n] = (const char *)source->texts[n];
    ulb_device_doing(queue->link, BUILD_LIMIT_S, "update the driver or take another --device",
                     "while %s was built for %s", source->name, queue->device->id);
    *program = queue->cl->clCreateProgramWithSource(queue->context, n, texts, NULL, &error);
    if (!*program)
        return ulb_device_refuse(queue->device, "clCreateProgramWithSource", error, err);
    error = queue->cl->clBuildProgram(*program, 1, &queue->device->handle, options, NULL, NULL);
    if (error == CL_SUCCESS)
        return ULB_OK;
    enum ulb_status status = refuse_build(queue, source->name, options, *program, error, err);
    queue->cl->clReleaseProgram(*program);
    *program = NULL;
    return status;
}

enum ulb_status ulb_kernel_get(const struct ulb_device_queue *queue, cl_program program, const char *name,
                               cl_kernel *kernel, struct ulb_error *err)
{
    cl_int error;
    *kernel = queue->cl->clCreateKernel(program, name, &error);
    return *kernel ? ULB_OK : ulb_device_refuse(queue->device, "clCreateKernel", error, err);
}

/* ---- memory and launches ---- */

enum ulb_status ulb_device_memory(const struct ulb_device_queue *queue, size_t bytes, void *contents,
                                  cl_mem *memory, struct ulb_error *err)
{
    cl_int error;
    *memory = queue->cl->clCreateBuffer(
        queue->context, CL_MEM_READ_WRITE | (contents ? (cl_mem_flags)CL_MEM_COPY_HOST_PTR : 0), bytes,
        contents, &error);
    return *memory ? ULB_OK : ulb_device_refuse(queue->device, "clCreateBuffer", error, err);
}

static cl_int enqueue(const struct ulb_device_queue *queue, const struct ulb_launch *launch, cl_event *event)
{
    cl_int error = launch->buffer
                       ? queue->cl->clSetKernelArg(launch->kernel, 0, sizeof launch->buffer, &launch->buffer)
                       : CL_SUCCESS;
    return error == CL_SUCCESS
               ? queue->cl->clEnqueueNDRangeKernel(queue->queue, launch->kernel, 1, NULL, &launch->items,
                                                   &launch->group, 0, NULL, event)
               : error;
}

static cl_int event_seconds(const struct ulb_device_queue *queue, cl_event first, cl_event last,
                            double *seconds)
{
    cl_ulong begin = 0, end = 0;
    cl_int error =
        queue->cl->clGetEventProfilingInfo(first, CL_PROFILING_COMMAND_START, sizeof begin, &begin, NULL);
    if (error == CL_SUCCESS)
        error = queue->cl->clGetEventProfilingInfo(last, CL_PROFILING_COMMAND_END, sizeof end, &end, NULL);
    *seconds = end > begin ? 1e-9 * (double)(end - begin) : 0;
    return error;
}

enum ulb_status ulb_launch_all(const struct ulb_device_queue *queue, const struct ulb_launch *launches,
                               size_t n, struct ulb_launch_time *time, struct ulb_error *err)
{
    cl_event first = NULL, last = NULL;
    cl_int error = CL_SUCCESS;
    const double begin = ulb_now();
    for (size_t i = 0; i < n && error == CL_SUCCESS; i++)
        error = enqueue(queue, &launches[i], i == 0 ? &first : i == n - 1 ? &last : NULL);
    const char *call = "clEnqueueNDRangeKernel";
    if (error == CL_SUCCESS) {
        call = "clFinish";
        error = queue->cl->clFinish(queue->queue);
    }
    time->host_s = ulb_now() - begin;
    if (error == CL_SUCCESS) {
        call = "clGetEventProfilingInfo";
        error = event_seconds(queue, first, last ? last : first, &time->event_s);
    }
    if (first)
        queue->cl->clReleaseEvent(first);
    if (last)
        queue->cl->clReleaseEvent(last);
    return error == CL_SUCCESS ? ULB_OK : ulb_device_refuse(queue->device, call, error, err);
}
