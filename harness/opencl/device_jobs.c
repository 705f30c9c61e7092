#include "harness/opencl/device_jobs.h"

#include "harness/opencl/device_beta.h"
#include "harness/opencl/device_launch.h"
#include "harness/opencl/device_peak.h"
#include "harness/opencl/device_probe.h"

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

static enum ulb_status measure(struct ulb_device *device, struct ulb_device_link *link,
                               const struct ulb_device_wish *wish, struct ulb_error *err)
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
    status = ulb_device_launch_cost(&queue, wish->quick, err);
    if (status == ULB_OK)
        status = ulb_device_peaks(&queue, wish->quick, err);
    if (status == ULB_OK)
        status = ulb_device_beta(&queue, wish->quick, wish->ring_bytes, err);
    ulb_queue_close(&queue);
    return status;
}

enum ulb_status ulb_device_limits_job(struct ulb_device_link *link, const void *arg, struct ulb_error *err)
{
    const struct ulb_device_wish *wish = arg;
    struct ulb_opencl cl;
    struct ulb_device *devices;
    size_t n, i;
    enum ulb_status status = find(link, &cl, &devices, &n, err);
    if (status == ULB_OK)
        status = ulb_device_choose(devices, n, wish->device, &i, err);
    if (status == ULB_OK)
        status = measure(&devices[i], link, wish, err);
    ulb_devices_free(devices, n);
    return status;
}
