/* Device kernels at small shapes, for a device that is slow because it watches them (oclgrind.sh): every
 * source, body and way to quantise, with edges of rows, columns and tokens. */
#include "harness/opencl/device_check.h"
#include "harness/opencl/device_verify.h"

#include <stdbool.h>
#include <stdio.h>

enum { SKIPPED = 77 };

static enum ulb_status ignore(void *context, const char *key, json_t *value, struct ulb_error *err)
{
    (void)context;
    (void)key;
    (void)value;
    (void)err;
    return ULB_OK;
}

static enum ulb_status verify_path(const struct ulb_device_queue *queue, const struct ulb_device_file *file,
                                   const struct ulb_device_kernel *kernel, enum ulb_device_path path,
                                   struct ulb_error *err)
{
    struct ulb_device_product product;
    struct ulb_test_case test_case = {0};
    const struct ulb_kernel *reference = ulb_device_reference(kernel);
    const char *lacks;
    const bool played = !ulb_device_has_path(queue->device, path, &lacks);
    if (!reference)
        return ULB_OK; /* a build without the format */
    enum ulb_status status = ulb_product_open(&product, queue, file, kernel, path, played, err);
    if (status == ULB_OK)
        status = ulb_test_case_open_tokens(&test_case, reference, 19, 67, 3, ULB_FILL_RANDOM, 5, NULL, err);
    if (status == ULB_OK)
        status = ulb_product_verify(&product, &test_case, err);
    ulb_test_case_close(&test_case);
    ulb_product_close(&product);
    return status;
}

/* The tiles of one and of few tokens. */
static enum ulb_status verify_file(const struct ulb_device_queue *queue, const struct ulb_device_file *file,
                                   struct ulb_error *err)
{
    enum ulb_status status = ULB_OK;
    for (size_t i = 0; i < file->n; i++) {
        const struct ulb_device_kernel *kernel = &file->kernels[i];
        for (int path = 0; path < ULB_DEVICE_PATHS && status == ULB_OK; path++) {
            if ((kernel->paths >> path & 1) && kernel->tile.tokens <= 8)
                status = verify_path(queue, file, kernel, (enum ulb_device_path)path, err);
        }
    }
    return status;
}

static enum ulb_status kernels_job(struct ulb_device_link *link, const void *arg, struct ulb_error *err)
{
    struct ulb_opencl cl;
    struct ulb_device *devices = NULL;
    struct ulb_device_queue queue;
    size_t n = 0;
    const bool *find_only = arg;
    enum ulb_status status = ulb_opencl_load(&cl, link, err);
    if (status == ULB_OK)
        status = ulb_devices_find(&cl, &devices, &n, err);
    if (status != ULB_OK || *find_only)
        goto end;
    status = ulb_queue_open(&queue, devices, link, 120, err);
    if (status != ULB_OK)
        goto end;
    for (const struct ulb_device_file *const *file = ulb_device_files; *file && status == ULB_OK; file++)
        status = verify_file(&queue, *file, err);
    ulb_queue_close(&queue);
end:
    ulb_devices_free(devices, n);
    return status;
}

int main(void)
{
    const bool find_only = true, all = false;
    struct ulb_error err = {""};
    if (ulb_device_run(kernels_job, &find_only, ignore, NULL, &err) != ULB_OK) {
        printf("skipped: %s\n", err.message);
        return SKIPPED;
    }
    if (ulb_device_run(kernels_job, &all, ignore, NULL, &err) == ULB_OK)
        return 0;
    printf("FAILED: %s\n", err.message);
    return 1;
}
