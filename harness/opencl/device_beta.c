#include "harness/opencl/device_beta.h"

#include "common/units.h"
#include "harness/opencl/device_ring.h"
#include "harness/opencl/device_samples.h"
#include "harness/opencl/device_sources.h"
#include "harness/session/json_number.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { VECTOR_BYTES = 16, GROUP = 128, SIZES_MOST = 16 };

static const char BLOCK_READS[] = "cl_intel_subgroups", BLOCK_READS_2D[] = "cl_intel_subgroup_2d_block_io";
static const size_t SMALLEST = (size_t)256 << 10;
static const double SLOW = 0.5; /* of the best: what a reader of larger sizes must have reached */

const struct ulb_device_reader ulb_device_readers[] = {
    {"strided-512", "strided", 512, NULL},      {"strided-2048", "strided", 2048, NULL},
    {"parted-64", "parted", 64, NULL},          {"parted-1024", "parted", 1024, NULL},
    {"block-2048", "block", 2048, BLOCK_READS}, {"block2d-2048", "block2d", 2048, BLOCK_READS_2D},
};
enum { READERS = sizeof ulb_device_readers / sizeof *ulb_device_readers };
const size_t ulb_device_reader_count = READERS;

void ulb_read_options(const struct ulb_device *device, char *options, size_t bytes)
{
    const size_t lanes = ulb_device_lanes(device);
    options[0] = '\0';
    if (lanes > 0 && ulb_device_has(device, BLOCK_READS))
        snprintf(options, bytes, "-DULB_LANES=%zu%s", lanes,
                 lanes == 16 && ulb_device_has(device, BLOCK_READS_2D) ? " -DULB_READ_2D" : "");
}

/* One reader at work on so many bytes. */
struct reading {
    const struct ulb_device_queue *queue;
    const struct ulb_device_reader *reader;
    cl_kernel kernel;
    cl_mem sums; /* one word an item, which every launch adds to */
    size_t items, launched;
    size_t copy_bytes; /* that one launch reads */
};

static void end_reading(struct reading *reading)
{
    if (reading->kernel)
        reading->queue->cl->clReleaseKernel(reading->kernel);
    if (reading->sums)
        reading->queue->cl->clReleaseMemObject(reading->sums);
}

/* Enough items for the device, each with some vectors to read; whole groups of them. */
static size_t item_count(const struct reading *reading)
{
    size_t items = reading->queue->device->units * reading->reader->items_per_unit;
    size_t most = reading->copy_bytes / VECTOR_BYTES / 4;
    items = items < most ? items : most;
    return items < GROUP ? GROUP : items / GROUP * GROUP;
}

static enum ulb_status begin_reading(struct reading *reading, cl_program program, struct ulb_error *err)
{
    const struct ulb_device_queue *queue = reading->queue;
    const cl_ulong vectors = reading->copy_bytes / VECTOR_BYTES;
    reading->items = item_count(reading);
    cl_uint *zeros = calloc(reading->items, sizeof *zeros);
    if (!zeros)
        return ulb_fail(err, ULB_ENVIRONMENT, "not enough memory to read with %s", reading->reader->name);
    enum ulb_status status =
        ulb_device_memory(queue, reading->items * sizeof *zeros, zeros, &reading->sums, err);
    free(zeros);
    if (status == ULB_OK)
        status = ulb_kernel_get(queue, program, reading->reader->kernel, &reading->kernel, err);
    if (status != ULB_OK)
        return status;
    cl_int error = queue->cl->clSetKernelArg(reading->kernel, 1, sizeof vectors, &vectors);
    if (error == CL_SUCCESS)
        error = queue->cl->clSetKernelArg(reading->kernel, 2, sizeof reading->sums, &reading->sums);
    return error == CL_SUCCESS ? ULB_OK : ulb_device_refuse(queue->device, "clSetKernelArg", error, err);
}

/* Whether the items together have added up all words as often as they were to read them. */
static enum ulb_status check_sums(const struct reading *reading, bool *right, struct ulb_error *err)
{
    const size_t bytes = reading->items * sizeof(cl_uint);
    const struct ulb_device_queue *queue = reading->queue;
    uint32_t sum = 0;
    cl_uint *sums = malloc(bytes);
    if (!sums)
        return ulb_fail(err, ULB_ENVIRONMENT, "not enough memory to check %s", reading->reader->name);
    cl_int error =
        queue->cl->clEnqueueReadBuffer(queue->queue, reading->sums, CL_TRUE, 0, bytes, sums, 0, NULL, NULL);
    for (size_t i = 0; i < reading->items && error == CL_SUCCESS; i++)
        sum += sums[i];
    free(sums);
    *right = sum == (uint32_t)reading->launched * ulb_device_ring_sum(reading->copy_bytes / sizeof(cl_uint));
    return error == CL_SUCCESS ? ULB_OK : ulb_device_refuse(queue->device, "clEnqueueReadBuffer", error, err);
}

enum ulb_status ulb_device_reader_check(const struct ulb_device_queue *queue,
                                        const struct ulb_device_reader *reader, cl_program program,
                                        cl_mem copy, size_t bytes, bool *right, struct ulb_error *err)
{
    struct reading reading = {.queue = queue, .reader = reader, .copy_bytes = bytes, .launched = 1};
    struct ulb_launch_time time;
    enum ulb_status status = begin_reading(&reading, program, err);
    const struct ulb_launch launch = {reading.kernel, copy, reading.items, GROUP};
    if (status == ULB_OK)
        status = ulb_launch_all(queue, &launch, 1, &time, err);
    if (status == ULB_OK)
        status = check_sums(&reading, right, err);
    end_reading(&reading);
    return status;
}

/* ---- the measurement ---- */

struct beta {
    const struct ulb_device_queue *queue;
    const struct ulb_device_ring *ring;
    cl_program program;
    bool quick;
    bool out[READERS];    /* left out from here on */
    double rate[READERS]; /* of the size before, GB/s */
};

static void leave_out(struct beta *beta, size_t r, const char *reason)
{
    beta->out[r] = true;
    ulb_device_tell(beta->queue->link, "left_out",
                    json_pack("{s:s, s:s}", "variant", ulb_device_readers[r].name, "reason", reason));
}

/* What is not larger than the cache the device may have had there. */
static void set_level(json_t *cell, const struct ulb_device *device, size_t bytes)
{
    const char *level = device->cache_bytes == 0 ? NULL : bytes > device->cache_bytes ? "mem" : "LLC";
    ulb_set_text(cell, "level", level, "the driver does not tell the size of the device's cache");
}

static double tell_cell(const struct beta *beta, const struct ulb_device_reader *reader, size_t bytes,
                        size_t items, const struct ulb_device_samples *samples)
{
    const struct ulb_device *device = beta->queue->device;
    json_t *cell = json_pack("{s:s, s:s, s:I, s:s, s:I}", "device", device->id, "set", device->id, "bytes",
                             (json_int_t)bytes, "variant", reader->name, "items", (json_int_t)items);
    ulb_set_bytes(cell, "threads", -1, "a device has no threads of this program");
    ulb_set_bytes(cell, "bytes_per_cycle", -1, "no clock of the device counts its cycles");
    set_level(cell, device, bytes);
    ulb_device_set_rate(cell, "gbps", (double)bytes / ULB_GB, samples);
    ulb_device_set_times(cell, samples, 1);
    const double gbps = json_number_value(json_object_get(cell, "gbps"));
    ulb_device_tell(beta->queue->link, "cell", cell);
    return gbps;
}

/* One reader and size: of one copy again and again, or of several in turn. */
static enum ulb_status measure_cell(struct beta *beta, size_t r, size_t bytes, struct ulb_error *err)
{
    const struct ulb_device_ring *ring = beta->ring;
    const bool large = bytes > ring->copy_bytes;
    struct reading reading = {.queue = beta->queue,
                              .reader = &ulb_device_readers[r],
                              .copy_bytes = large ? ring->copy_bytes : bytes};
    struct ulb_launch launches[ULB_RING_COPIES_MOST];
    struct ulb_device_samples samples;
    char doing[64];
    bool right = false;
    size_t n = large ? bytes / ring->copy_bytes : 1;
    const struct ulb_device_sampling sampling = {.launches = launches,
                                                 .n = n,
                                                 .least = 3,
                                                 .most = beta->quick ? 3 : 15,
                                                 .seconds = beta->quick ? 0.1 : 1,
                                                 .doing = doing};
    enum ulb_status status = begin_reading(&reading, beta->program, err);
    for (size_t i = 0; i < n; i++)
        launches[i] = (struct ulb_launch){reading.kernel, ring->copies[i], reading.items, GROUP};
    snprintf(doing, sizeof doing, "%zu KiB were read with %s", bytes >> 10, reading.reader->name);
    if (status == ULB_OK)
        status = ulb_device_sample(beta->queue, &sampling, &samples, err);
    if (status == ULB_OK) {
        reading.launched = (samples.n + 1) * n; /* one to warm up */
        status = check_sums(&reading, &right, err);
    }
    if (status == ULB_OK && right)
        beta->rate[r] = tell_cell(beta, reading.reader, bytes, reading.items, &samples);
    else if (status == ULB_OK)
        leave_out(beta, r, "the sum of what it read is wrong");
    end_reading(&reading);
    return status;
}

/* Before sizes that take long: readers far below the best. */
static void leave_out_slow(struct beta *beta)
{
    double best = 0;
    for (size_t r = 0; r < READERS; r++)
        best = !beta->out[r] && beta->rate[r] > best ? beta->rate[r] : best;
    for (size_t r = 0; r < READERS; r++) {
        if (!beta->out[r] && beta->rate[r] < SLOW * best)
            leave_out(beta, r, "it read less than half of what the best one did, at the size before");
    }
}

/* Sizes in powers of four, in quick runs of sixty-four, and the whole ring; returns how many. */
static size_t choose_sizes(const struct ulb_device_ring *ring, bool quick, size_t sizes[SIZES_MOST])
{
    const size_t whole = ring->copy_bytes * ring->n;
    size_t n = 0;
    for (size_t bytes = SMALLEST; bytes < whole && n < SIZES_MOST - 1; bytes *= quick ? 64 : 4)
        sizes[n++] = bytes;
    sizes[n++] = whole;
    return n;
}

static enum ulb_status measure_sizes(struct beta *beta, struct ulb_error *err)
{
    size_t sizes[SIZES_MOST];
    const size_t n = choose_sizes(beta->ring, beta->quick, sizes);
    enum ulb_status status = ULB_OK;
    for (size_t s = 0; s < n && status == ULB_OK; s++) {
        if (s > 0 && sizes[s] > beta->ring->copy_bytes)
            leave_out_slow(beta);
        for (size_t r = 0; r < READERS && status == ULB_OK; r++) {
            ulb_device_tell(beta->queue->link, "progress",
                            json_real((double)(s * READERS + r) / (double)(n * READERS)));
            if (!beta->out[r])
                status = measure_cell(beta, r, sizes[s], err);
        }
    }
    return status;
}

/* Readers that the device cannot have. */
static void leave_out_absent(struct beta *beta, const char *options)
{
    for (size_t r = 0; r < READERS; r++) {
        const struct ulb_device_reader *reader = &ulb_device_readers[r];
        char reason[96];
        if (!reader->needs)
            continue;
        bool two = strcmp(reader->needs, BLOCK_READS_2D) == 0;
        snprintf(reason, sizeof reason, "the device lacks %s%s", reader->needs,
                 two ? " or sub-groups of 16" : " or does not tell the size of sub-groups");
        if (!strstr(options, two ? "ULB_READ_2D" : "ULB_LANES"))
            leave_out(beta, r, reason);
    }
}

/* Of the size that was read last. */
static const struct ulb_device_reader *best_reader(const struct beta *beta)
{
    const struct ulb_device_reader *best = NULL;
    double rate = 0;
    for (size_t r = 0; r < READERS; r++) {
        if (beta->out[r] || !(beta->rate[r] > rate))
            continue;
        rate = beta->rate[r];
        best = &ulb_device_readers[r];
    }
    return best;
}

static enum ulb_status measure_ring(struct beta *beta, const char *options, struct ulb_device_ring *ring,
                                    struct ulb_error *err)
{
    ulb_device_tell(beta->queue->link, "ring",
                    json_pack("{s:I, s:I, s:I, s:I}", "bytes", (json_int_t)(ring->copy_bytes * ring->n),
                              "wanted_bytes", (json_int_t)ring->wanted_bytes, "copies", (json_int_t)ring->n,
                              "copy_bytes", (json_int_t)ring->copy_bytes));
    leave_out_absent(beta, options);
    return measure_sizes(beta, err);
}

enum ulb_status ulb_device_beta(const struct ulb_device_queue *queue, bool quick, size_t ring_bytes,
                                const struct ulb_device_reader **best, struct ulb_error *err)
{
    struct ulb_device_ring ring = {0};
    struct beta beta = {.queue = queue, .ring = &ring, .quick = quick};
    cl_kernel fill = NULL;
    char options[64];
    ulb_read_options(queue->device, options, sizeof options);
    enum ulb_status status = ulb_program_build(queue, &ulb_source_read, options, &beta.program, err);
    if (status != ULB_OK)
        return status;
    status = ulb_kernel_get(queue, beta.program, "fill", &fill, err);
    if (status == ULB_OK)
        status = ulb_device_ring_open(&ring, queue, fill, ring_bytes, err);
    if (status == ULB_OK)
        status = measure_ring(&beta, options, &ring, err);
    if (best)
        *best = best_reader(&beta);
    ulb_device_ring_close(&ring, queue);
    if (fill)
        queue->cl->clReleaseKernel(fill);
    queue->cl->clReleaseProgram(beta.program);
    return status;
}

/* ---- the yardstick beside other measurements ---- */

enum ulb_status ulb_device_yardstick_open(struct ulb_device_yardstick *yardstick,
                                          const struct ulb_device_queue *queue,
                                          const struct ulb_device_reader *reader, size_t bytes,
                                          struct ulb_error *err)
{
    struct reading reading = {.queue = queue, .reader = reader, .copy_bytes = bytes};
    char options[64];
    *yardstick = (struct ulb_device_yardstick){.queue = queue, .bytes = bytes};
    ulb_read_options(queue->device, options, sizeof options);
    enum ulb_status status = ulb_program_build(queue, &ulb_source_read, options, &yardstick->program, err);
    if (status == ULB_OK)
        status = begin_reading(&reading, yardstick->program, err);
    yardstick->kernel = reading.kernel;
    yardstick->sums = reading.sums;
    yardstick->items = reading.items;
    return status;
}

enum ulb_status ulb_device_yardstick_read(const struct ulb_device_yardstick *yardstick, const cl_mem *buffers,
                                          size_t n, double *rate, struct ulb_error *err)
{
    struct ulb_launch launches[ULB_RING_COPIES_MOST];
    struct ulb_launch_time time = {0};
    n = n < ULB_RING_COPIES_MOST ? n : ULB_RING_COPIES_MOST;
    for (size_t i = 0; i < n; i++)
        launches[i] = (struct ulb_launch){yardstick->kernel, buffers[i], yardstick->items, GROUP};
    ulb_device_doing(yardstick->queue->link, yardstick->queue->launch_limit_s,
                     "restart its driver, take another --device, or raise --call-timeout",
                     "while the yardstick was read on %s", yardstick->queue->device->id);
    enum ulb_status status = ulb_launch_all(yardstick->queue, launches, n, &time, err);
    *rate = time.event_s > 0 ? (double)(n * yardstick->bytes) / time.event_s : (double)NAN;
    return status;
}

void ulb_device_yardstick_close(struct ulb_device_yardstick *yardstick)
{
    const struct ulb_device_queue *queue = yardstick->queue;
    if (yardstick->kernel)
        queue->cl->clReleaseKernel(yardstick->kernel);
    if (yardstick->sums)
        queue->cl->clReleaseMemObject(yardstick->sums);
    if (yardstick->program)
        queue->cl->clReleaseProgram(yardstick->program);
    *yardstick = (struct ulb_device_yardstick){0};
}
