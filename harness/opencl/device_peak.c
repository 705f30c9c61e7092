#include "harness/opencl/device_peak.h"

#include "common/text.h"
#include "harness/opencl/device_samples.h"
#include "harness/opencl/device_sources.h"
#include "harness/session/json_number.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ITEMS_PER_UNIT = 2048, GROUP = 64, ROUNDS_LEAST = 64, ROUNDS_MOST = 1 << 20, INT32_FACTOR = 1664525 };

/* Values that an item of peak.cl ends with after so many rounds. */
static uint32_t fp32_result(uint32_t rounds)
{
    (void)rounds;
    return 8 * 2;
}

/* Accumulator i begins with i. */
static uint32_t int32_result(uint32_t rounds)
{
    uint32_t sum = 0;
    for (uint32_t first = 0; first < 8; first++) {
        uint32_t x = first;
        for (uint32_t i = 0; i < rounds; i++)
            x = x * INT32_FACTOR + 1;
        sum += x;
    }
    return sum;
}

static uint32_t dp4a_result(uint32_t rounds)
{
    uint32_t x[8] = {1, 1, 1, 1, 1, 1, 1, 1}, sum = 0;
    for (uint32_t i = 0; i < 8 * rounds; i++) {
        uint32_t word = x[(i + 4) % 8];
        x[i % 8] +=
            (uint32_t)((int8_t)word + (int8_t)(word >> 8) + (int8_t)(word >> 16) + (int8_t)(word >> 24));
    }
    for (size_t i = 0; i < 8; i++)
        sum += x[i];
    return sum;
}

static uint32_t k32_result(uint32_t rounds)
{
    return rounds * 32 * 64;
}

static uint32_t k16_result(uint32_t rounds)
{
    return rounds * 16 * 64;
}

/* operations: of one item in one round, a multiplication and an addition counted as two. a, b: the kernel's
 * arguments behind the rounds. */
static const struct peak {
    const char *name, *macro, *needs;
    double operations;
    cl_uint a, b;
    uint32_t (*result)(uint32_t rounds);
} peaks[] = {
    {"fp32", "FP32", NULL, 8 * 2, 0x3f000000, 0x3f800000, fp32_result},
    {"int32", "INT32", NULL, 8 * 2, INT32_FACTOR, 1, int32_result},
    {"dp4a", "DP4A", ULB_DP4A_EXTENSION, 8 * 8, 1, 0x01010101, dp4a_result},
    {"i8xi8", "I8I8", ULB_DPAS_EXTENSION, 8 * 8 * 64, 0x01010101, 0x01010101, k32_result},
    {"i8xi4", "I8I4", ULB_DPAS_EXTENSION, 8 * 8 * 64, 0x01010101, 0x11111111, k32_result},
    {"i8xi2", "I8I2", ULB_DPAS_EXTENSION, 8 * 8 * 64, 0x01010101, 0x55555555, k32_result},
    {"bf16", "BF16", ULB_DPAS_EXTENSION, 8 * 8 * 32, 0x3f803f80, 0x3f803f80, k16_result},
};
enum { PEAKS = sizeof peaks / sizeof *peaks };

void ulb_peak_options(const char *operation, const struct ulb_device *device, char *options, size_t bytes)
{
    const char *std = strcmp(operation, "DP4A") == 0 ? ulb_device_std(device) : "";
    snprintf(options, bytes, "-DULB_PEAK_%s -DULB_LANES=%zu%s", operation, ulb_device_lanes(device), std);
}

struct work {
    const struct ulb_device_queue *queue;
    const struct peak *peak;
    cl_kernel kernel;
    cl_mem out;
    struct ulb_launch launch;
};

static enum ulb_status set_arguments(const struct work *work, cl_uint rounds, struct ulb_error *err)
{
    const struct ulb_opencl *cl = work->queue->cl;
    const cl_uint values[3] = {rounds, work->peak->a, work->peak->b};
    for (cl_uint i = 0; i < 3; i++) {
        cl_int error = cl->clSetKernelArg(work->kernel, i + 1, sizeof *values, &values[i]);
        if (error != CL_SUCCESS)
            return ulb_device_refuse(work->queue->device, "clSetKernelArg", error, err);
    }
    return ULB_OK;
}

/* Doubles the rounds until a launch takes long enough. */
static enum ulb_status find_rounds(const struct work *work, double seconds, cl_uint *rounds,
                                   struct ulb_error *err)
{
    const struct ulb_device_sampling once = {
        .launches = &work->launch, .n = 1, .least = 1, .most = 1, .doing = "a peak was looked for"};
    enum ulb_status status = ULB_OK;
    for (*rounds = ROUNDS_LEAST; *rounds < ROUNDS_MOST; *rounds *= 2) {
        struct ulb_device_samples samples;
        status = set_arguments(work, *rounds, err);
        if (status == ULB_OK)
            status = ulb_device_sample(work->queue, &once, &samples, err);
        if (status != ULB_OK || samples.event_s[0] >= seconds)
            break;
    }
    return status;
}

/* Whether every item has the value that so many rounds give. */
static enum ulb_status check(const struct work *work, cl_uint rounds, bool *right, struct ulb_error *err)
{
    const size_t bytes = work->launch.items * sizeof(cl_uint);
    const uint32_t wanted = work->peak->result(rounds);
    cl_uint *values = malloc(bytes);
    if (!values)
        return ulb_fail(err, ULB_ENVIRONMENT, "not enough memory to check a peak");
    cl_int error = work->queue->cl->clEnqueueReadBuffer(work->queue->queue, work->out, CL_TRUE, 0, bytes,
                                                        values, 0, NULL, NULL);
    *right = error == CL_SUCCESS;
    for (size_t i = 0; i < work->launch.items && *right; i++)
        *right = values[i] == wanted;
    free(values);
    return error == CL_SUCCESS ? ULB_OK
                               : ulb_device_refuse(work->queue->device, "clEnqueueReadBuffer", error, err);
}

static void set_figures(json_t *row, const struct work *work, cl_uint rounds,
                        const struct ulb_device_samples *samples)
{
    const struct ulb_device *device = work->queue->device;
    const double operations = work->peak->operations * (double)work->launch.items * rounds;
    ulb_device_set_rate(row, "gops", operations / 1e9, samples);
    ulb_device_set_times(row, samples, 1);
    const json_t *gops = json_object_get(row, "gops");
    const double cycles = 1e6 * device->mhz * device->units; /* of all units in a second */
    ulb_set_figure(row, "ops_per_unit_cycle",
                   json_is_number(gops) && cycles > 0 ? 1e9 * json_number_value(gops) / cycles : NAN,
                   "the driver tells of no clock frequency");
    json_object_set_new(row, "rounds", json_integer((json_int_t)rounds));
}

static enum ulb_status measure(struct work *work, json_t *row, bool quick, struct ulb_error *err)
{
    cl_uint rounds;
    char doing[48];
    struct ulb_device_samples samples;
    bool right = false;
    const struct ulb_device_sampling sampling = {
        .launches = &work->launch, .n = 1, .least = 3, .most = quick ? 3 : 9, .seconds = 1, .doing = doing};
    enum ulb_status status = find_rounds(work, quick ? 2e-3 : 20e-3, &rounds, err);
    if (status == ULB_OK)
        status = set_arguments(work, rounds, err);
    snprintf(doing, sizeof doing, "the peak of %s was measured", work->peak->name);
    if (status == ULB_OK)
        status = ulb_device_sample(work->queue, &sampling, &samples, err);
    if (status == ULB_OK)
        status = check(work, rounds, &right, err);
    if (status == ULB_OK && right)
        set_figures(row, work, rounds, &samples);
    else if (status == ULB_OK)
        ulb_set_figure(row, "gops", NAN, "the device computes it wrong");
    return status;
}

/* A peak that does not build is one that the device has not. */
static enum ulb_status measure_peak(const struct ulb_device_queue *queue, const struct peak *peak,
                                    json_t *row, bool quick, struct ulb_error *err)
{
    struct work work = {.queue = queue, .peak = peak};
    struct ulb_error unbuilt;
    char options[96], reason[96];
    cl_program program;
    snprintf(reason, sizeof reason, "the device lacks %s", peak->needs ? peak->needs : "");
    ulb_peak_options(peak->macro, queue->device, options, sizeof options);
    if (peak->needs && !ulb_device_has(queue->device, peak->needs)) {
        ulb_set_figure(row, "gops", NAN, reason);
        return ULB_OK;
    }
    if (ulb_program_build(queue, &ulb_source_peak, options, &program, &unbuilt) != ULB_OK) {
        ulb_text_mend(unbuilt.message);
        ulb_set_figure(row, "gops", NAN, unbuilt.message);
        return ULB_OK;
    }
    work.launch = (struct ulb_launch){.items = (size_t)queue->device->units * ITEMS_PER_UNIT, .group = GROUP};
    enum ulb_status status =
        ulb_device_memory(queue, work.launch.items * sizeof(cl_uint), NULL, &work.out, err);
    if (status == ULB_OK)
        status = ulb_kernel_get(queue, program, "peak", &work.kernel, err);
    work.launch.kernel = work.kernel;
    work.launch.buffer = work.out;
    if (status == ULB_OK)
        status = measure(&work, row, quick, err);
    if (work.kernel)
        queue->cl->clReleaseKernel(work.kernel);
    if (work.out)
        queue->cl->clReleaseMemObject(work.out);
    queue->cl->clReleaseProgram(program);
    return status;
}

enum ulb_status ulb_device_peaks(const struct ulb_device_queue *queue, bool quick, struct ulb_error *err)
{
    enum ulb_status status = ULB_OK;
    for (size_t i = 0; i < PEAKS && status == ULB_OK; i++) {
        json_t *row = json_pack("{s:s}", "name", peaks[i].name);
        status = measure_peak(queue, &peaks[i], row, quick, err);
        if (status == ULB_OK)
            ulb_device_tell(queue->link, "peak", json_incref(row));
        json_decref(row);
    }
    return status;
}
