#include "harness/opencl/device_jobs.h"

#include "harness/opencl/device_beta.h"
#include "harness/opencl/device_launch.h"
#include "harness/opencl/device_peak.h"
#include "harness/opencl/device_probe.h"
#include "harness/opencl/measure_products.h"
#include "harness/opencl/device_verify.h"

static enum ulb_status find(struct ulb_device_link *link, struct ulb_opencl *cl, struct ulb_device **devices,
                            size_t *n, struct ulb_error *err)
{
    *devices = NULL;
    *n = 0;
    enum ulb_status status = ulb_opencl_load(cl, link, err);
    return status == ULB_OK ? ulb_devices_find(cl, devices, n, err) : status;
}

enum ulb_status ulb_device_list_job(struct ulb_device_link *link, const void *arg, struct ulb_error *err)
{
    struct ulb_opencl cl;
    struct ulb_device *devices;
    size_t n;
    enum ulb_status status = find(link, &cl, &devices, &n, err);
    (void)arg;
    for (size_t i = 0; i < n && status == ULB_OK; i++) {
        status = ulb_device_probe(&devices[i], link, ULB_LAUNCH_LIMIT_S, err);
        if (status == ULB_OK)
            ulb_device_tell(link, "device", ulb_device_json(&devices[i]));
    }
    ulb_devices_free(devices, n);
    return status;
}

/* What is done with a device's queue. */
typedef enum ulb_status work_fn(const struct ulb_device_queue *queue, const void *arg, struct ulb_error *err);

static enum ulb_status work_on(struct ulb_device *device, struct ulb_device_link *link,
                               const struct ulb_device_wish *wish, work_fn *work, const void *arg,
                               struct ulb_error *err)
{
    const double limit_s = wish->launch_limit_s > 0 ? wish->launch_limit_s : ULB_LAUNCH_LIMIT_S;
    struct ulb_device_queue queue;
    enum ulb_status status = ulb_device_probe(device, link, limit_s, err);
    if (status != ULB_OK)
        return status;
    ulb_device_tell(link, "device", ulb_device_json(device));
    status = ulb_queue_open(&queue, device, link, limit_s, err);
    if (status != ULB_OK)
        return status;
    status = work(&queue, arg, err);
    ulb_queue_close(&queue);
    return status;
}

/* Tells the "device" that is wished for and works on it. */
static enum ulb_status work_on_wished(struct ulb_device_link *link, const struct ulb_device_wish *wish,
                                      work_fn *work, const void *arg, struct ulb_error *err)
{
    struct ulb_opencl cl;
    struct ulb_device *devices;
    size_t n, i;
    enum ulb_status status = find(link, &cl, &devices, &n, err);
    if (status == ULB_OK)
        status = ulb_device_choose(devices, n, wish->device, &i, err);
    if (status == ULB_OK)
        status = work_on(&devices[i], link, wish, work, arg, err);
    ulb_devices_free(devices, n);
    return status;
}

static enum ulb_status tell_limits(const struct ulb_device_queue *queue, const struct ulb_device_wish *wish,
                                   const struct ulb_device_reader **best, struct ulb_error *err)
{
    enum ulb_status status = ulb_device_launch_cost(queue, wish->quick, err);
    if (status == ULB_OK)
        status = ulb_device_peaks(queue, wish->quick, err);
    return status == ULB_OK ? ulb_device_beta(queue, wish->quick, wish->ring_bytes, best, err) : status;
}

static enum ulb_status measure_limits(const struct ulb_device_queue *queue, const void *arg,
                                      struct ulb_error *err)
{
    return tell_limits(queue, arg, NULL, err);
}

enum ulb_status ulb_device_limits_job(struct ulb_device_link *link, const void *arg, struct ulb_error *err)
{
    return work_on_wished(link, arg, measure_limits, arg, err);
}

/* ---- verification ---- */

/* NULL: no memory. */
static json_t *verified_row(const struct ulb_device_queue *queue, const struct ulb_device_choice *choice,
                            const char *lacks, size_t cases, const char *difference)
{
    char name[ULB_KERNEL_NAME_MAX];
    const char *body = lacks ? "played" : choice->path < ULB_PATH_DP4A ? "sub-group" : "work group";
    json_t *row = json_pack("{s:s, s:s, s:s, s:s, s:I, s:b}", "kernel",
                            ulb_device_kernel_name(choice->kernel, choice->path, name), "device",
                            queue->device->id, "path", ulb_device_path_name(choice->path), "body", body,
                            "cases", (json_int_t)cases, "verified", !difference);
    if ((lacks && json_object_set_new(row, "lacks", json_string(lacks)) != 0) ||
        (difference && json_object_set_new(row, "difference", json_string(difference)) != 0)) {
        json_decref(row);
        return NULL;
    }
    return row;
}

/* One row. A difference stands in it and in err. A path that the device has and does not build is none. */
static enum ulb_status verify_choice(const struct ulb_device_queue *queue,
                                     const struct ulb_device_choice *choice, uint64_t seed,
                                     struct ulb_error *err)
{
    struct ulb_device_product product;
    const char *lacks;
    size_t cases = 0;
    if (ulb_device_has_path(queue->device, choice->path, &lacks))
        lacks = NULL;
    enum ulb_status status =
        ulb_product_open(&product, queue, choice->file, choice->kernel, choice->path, lacks != NULL, err);
    if (status == ULB_OK)
        status = ulb_product_verify_all(&product, seed, &cases, err);
    ulb_product_close(&product);
    if (status != ULB_OK && status != ULB_FINDING)
        return status;
    json_t *row = verified_row(queue, choice, lacks, cases, status == ULB_OK ? NULL : err->message);
    if (!row)
        return ulb_fail(err, ULB_ENVIRONMENT, "not enough memory for what was verified");
    ulb_device_tell(queue->link, "row", row);
    return status;
}

static enum ulb_status verify(const struct ulb_device_queue *queue, const void *arg, struct ulb_error *err)
{
    const struct ulb_device_verify_wish *wish = arg;
    enum ulb_status worst = ULB_OK;
    for (size_t i = 0; i < wish->selection->n; i++) {
        struct ulb_error now;
        enum ulb_status status = verify_choice(queue, &wish->selection->choices[i], wish->seed, &now);
        if (status == ULB_OK)
            continue;
        if (worst == ULB_OK || status != ULB_FINDING)
            *err = now;
        worst = status;
        if (status != ULB_FINDING)
            break;
    }
    return worst;
}

enum ulb_status ulb_device_verify_job(struct ulb_device_link *link, const void *arg, struct ulb_error *err)
{
    const struct ulb_device_verify_wish *wish = arg;
    return work_on_wished(link, &wish->on, verify, wish, err);
}

/* ---- products ---- */

static enum ulb_status measure_products(const struct ulb_device_queue *queue, const void *arg,
                                        struct ulb_error *err)
{
    const struct ulb_device_products_wish *wish = arg;
    const struct ulb_device_reader *best = NULL;
    struct ulb_product_list products;
    enum ulb_status status = ulb_product_list_open(&products, queue, wish->selection, err);
    if (status == ULB_OK)
        status = tell_limits(queue, &wish->on, &best, err);
    if (status == ULB_OK && !best)
        status =
            ulb_fail(err, ULB_ENVIRONMENT,
                     "no reader reads the memory of %s right, so that products have no yardstick; update "
                     "its driver",
                     queue->device->id);
    if (status == ULB_OK)
        status = ulb_products_measure(queue, wish, &products, best, err);
    ulb_product_list_close(&products);
    return status;
}

enum ulb_status ulb_device_products_job(struct ulb_device_link *link, const void *arg, struct ulb_error *err)
{
    const struct ulb_device_products_wish *wish = arg;
    return work_on_wished(link, &wish->on, measure_products, wish, err);
}
