#include "harness/opencl/device_launch.h"

#include "harness/opencl/device_samples.h"
#include "harness/opencl/device_sources.h"

enum { BACK_TO_BACK = 1000, ALONE_LEAST = 100, ALONE_MOST = 1000 };

static enum ulb_status measure(const struct ulb_device_queue *queue, cl_kernel empty, bool quick,
                               struct ulb_error *err)
{
    struct ulb_launch launches[BACK_TO_BACK];
    struct ulb_device_samples samples;
    const struct ulb_device_sampling alone = {.launches = launches,
                                              .n = 1,
                                              .least = ALONE_LEAST,
                                              .most = quick ? ALONE_LEAST : ALONE_MOST,
                                              .seconds = 1,
                                              .doing = "an empty kernel was launched"};
    const struct ulb_device_sampling many = {.launches = launches,
                                             .n = BACK_TO_BACK,
                                             .least = 3,
                                             .most = quick ? 3 : 15,
                                             .seconds = 1,
                                             .doing = "empty kernels were launched back to back"};
    json_t *row = json_object();
    for (size_t i = 0; i < BACK_TO_BACK; i++)
        launches[i] = (struct ulb_launch){.kernel = empty, .items = 1, .group = 1};
    enum ulb_status status = ulb_device_sample(queue, &alone, &samples, err);
    if (status == ULB_OK) {
        ulb_device_set_times(row, &samples, 1);
        json_object_set_new(row, "samples", json_integer((json_int_t)samples.n));
        status = ulb_device_sample(queue, &many, &samples, err);
    }
    if (status == ULB_OK) {
        json_t *back_to_back = json_pack("{s:i}", "launches", BACK_TO_BACK);
        ulb_device_set_times(back_to_back, &samples, BACK_TO_BACK);
        json_object_set_new(row, "back_to_back", back_to_back);
        ulb_device_tell(queue->link, "launch", json_incref(row));
    }
    json_decref(row);
    return status;
}

enum ulb_status ulb_device_launch_cost(const struct ulb_device_queue *queue, bool quick,
                                       struct ulb_error *err)
{
    cl_program program;
    cl_kernel empty = NULL;
    enum ulb_status status = ulb_program_build(queue, &ulb_source_launch, "", &program, err);
    if (status != ULB_OK)
        return status;
    status = ulb_kernel_get(queue, program, "empty", &empty, err);
    if (status == ULB_OK)
        status = measure(queue, empty, quick, err);
    if (empty)
        queue->cl->clReleaseKernel(empty);
    queue->cl->clReleaseProgram(program);
    return status;
}
