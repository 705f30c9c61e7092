/* Devices in a build without the headers of OpenCL. */
#include "harness/opencl/device_jobs.h"

static enum ulb_status refuse(struct ulb_error *err)
{
    return ulb_fail(err, ULB_ENVIRONMENT,
                    "this ulb-bench was built without OpenCL; install opencl-c-headers and build it again");
}

enum ulb_status ulb_device_list_job(struct ulb_device_link *link, const void *arg, struct ulb_error *err)
{
    (void)link;
    (void)arg;
    return refuse(err);
}

enum ulb_status ulb_device_limits_job(struct ulb_device_link *link, const void *arg, struct ulb_error *err)
{
    (void)link;
    (void)arg;
    return refuse(err);
}

enum ulb_status ulb_device_verify_job(struct ulb_device_link *link, const void *arg, struct ulb_error *err)
{
    (void)link;
    (void)arg;
    return refuse(err);
}

enum ulb_status ulb_device_products_job(struct ulb_device_link *link, const void *arg, struct ulb_error *err)
{
    (void)link;
    (void)arg;
    return refuse(err);
}
