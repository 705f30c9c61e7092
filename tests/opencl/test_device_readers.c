/* Every reader of devices reads every word once, whatever the size: on PoCL those of sub-groups too, which
 * neighbouring items play. A word that is another is found by each. */
#include "harness/opencl/device_beta.h"
#include "harness/opencl/device_ring.h"
#include "harness/opencl/device_sources.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { SKIPPED = 77, MOST_BYTES = 1 << 18 };

static enum ulb_status ignore(void *context, const char *key, json_t *value, struct ulb_error *err)
{
    (void)context;
    (void)key;
    (void)value;
    (void)err;
    return ULB_OK;
}

static enum ulb_status open_first(struct ulb_device_link *link, struct ulb_opencl *cl,
                                  struct ulb_device **devices, size_t *n, struct ulb_device_queue *queue,
                                  struct ulb_error *err)
{
    enum ulb_status status = ulb_opencl_load(cl, link, err);
    if (status == ULB_OK)
        status = ulb_devices_find(cl, devices, n, err);
    return status == ULB_OK ? ulb_queue_open(queue, *devices, link, 60, err) : status;
}

/* All readers on a buffer of the ring's words, of which one may be another. */
static enum ulb_status check_readers(const struct ulb_device_queue *queue, cl_program program, size_t bytes,
                                     bool spoilt, struct ulb_error *err)
{
    static cl_uint words[MOST_BYTES / 4];
    cl_mem copy;
    for (size_t i = 0; i < bytes / 4; i++)
        words[i] = (cl_uint)i * 2654435761u;
    words[bytes / 4 - 1] += spoilt;
    enum ulb_status status = ulb_device_memory(queue, bytes, words, &copy, err);
    if (status != ULB_OK)
        return status;
    for (size_t r = 0; r < ulb_device_reader_count && status == ULB_OK; r++) {
        const struct ulb_device_reader *reader = &ulb_device_readers[r];
        bool right;
        status = ulb_device_reader_check(queue, reader, program, copy, bytes, &right, err);
        if (status == ULB_OK && right == spoilt)
            status = ulb_fail(err, ULB_FINDING, "%s, %zu bytes%s: the sum is %s", reader->name, bytes,
                              spoilt ? ", one word spoilt" : "", right ? "right" : "wrong");
    }
    queue->cl->clReleaseMemObject(copy);
    return status;
}

/* Sizes in pieces of what 2D reads take at once. Oclgrind takes a second for the largest, and crashes at
 * values of optimised code that it looks for in vain. */
static enum ulb_status check_options(const struct ulb_device_queue *queue, const char *options, bool oclgrind,
                                     struct ulb_error *err)
{
    static const size_t sizes[] = {8192, 25 * 512, 33 * 512, MOST_BYTES};
    char all[128];
    cl_program program;
    snprintf(all, sizeof all, "%s%s", options, oclgrind ? " -cl-opt-disable" : "");
    enum ulb_status status = ulb_program_build(queue, &ulb_source_read, all, &program, err);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes - oclgrind && status == ULB_OK; i++) {
        status = check_readers(queue, program, sizes[i], false, err);
        if (status == ULB_OK)
            status = check_readers(queue, program, sizes[i], true, err);
    }
    queue->cl->clReleaseProgram(program);
    return status;
}

static enum ulb_status readers_job(struct ulb_device_link *link, const void *arg, struct ulb_error *err)
{
    struct ulb_opencl cl;
    struct ulb_device *devices = NULL;
    struct ulb_device_queue queue;
    size_t n = 0;
    enum ulb_status status = open_first(link, &cl, &devices, &n, &queue, err);
    if (status == ULB_OK) {
        status = check_options(&queue, arg, strstr(devices->name, "Oclgrind") != NULL, err);
        ulb_queue_close(&queue);
    }
    ulb_devices_free(devices, n);
    return status;
}

static void every_reader_reads_every_word(void **state)
{
    /* The 2D read is one of 16 lanes; the others' kernels are of any. */
    static const char options[] = "-DULB_PLAY_SUB_GROUP -DULB_LANES=16 -DULB_READ_2D";
    struct ulb_error err = {""};
    (void)state;
    if (ulb_device_run(readers_job, options, ignore, NULL, &err) != ULB_OK)
        fail_msg("%s", err.message);
}

static enum ulb_status build_job(struct ulb_device_link *link, const void *arg, struct ulb_error *err)
{
    struct ulb_opencl cl;
    struct ulb_device *devices = NULL;
    struct ulb_device_queue queue;
    cl_program program = NULL;
    size_t n = 0;
    enum ulb_status status = open_first(link, &cl, &devices, &n, &queue, err);
    if (status == ULB_OK) {
        status = ulb_program_build(&queue, &ulb_source_peak, arg, &program, err);
        ulb_queue_close(&queue);
    }
    ulb_devices_free(devices, n);
    return status;
}

static void a_program_that_does_not_build_is_said_with_options_and_error(void **state)
{
    struct ulb_error err = {""};
    (void)state;
    assert_int_equal(ulb_device_run(build_job, "-DULB_PEAK_FP32 -Dfloat=lacking", ignore, NULL, &err),
                     ULB_ENVIRONMENT);
    assert_non_null(
        strstr(err.message, "peak.cl was not built for opencl:0.0 with '-DULB_PEAK_FP32 -Dfloat=lacking'"));
    assert_non_null(strstr(err.message, "error"));
}

/* As test: whether there is a device at all. */
static enum ulb_status find_job(struct ulb_device_link *link, const void *arg, struct ulb_error *err)
{
    struct ulb_opencl cl;
    struct ulb_device *devices = NULL;
    size_t n = 0;
    enum ulb_status status = ulb_opencl_load(&cl, link, err);
    (void)arg;
    if (status == ULB_OK)
        status = ulb_devices_find(&cl, &devices, &n, err);
    ulb_devices_free(devices, n);
    return status;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_reader_reads_every_word),
        cmocka_unit_test(a_program_that_does_not_build_is_said_with_options_and_error),
    };
    struct ulb_error err;
    if (ulb_device_run(find_job, NULL, ignore, NULL, &err) != ULB_OK) {
        printf("skipped: %s\n", err.message);
        return SKIPPED;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
