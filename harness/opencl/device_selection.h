/* Which kernels of devices a run takes: by format, by name. A kernel stands there once for each of its paths.
 */
#ifndef ULB_HARNESS_OPENCL_DEVICE_SELECTION_H
#define ULB_HARNESS_OPENCL_DEVICE_SELECTION_H

#include "common/status.h"
#include "kernels/opencl/device_kernel.h"

struct ulb_device_choice {
    const struct ulb_device_file *file;
    const struct ulb_device_kernel *kernel;
    enum ulb_device_path path;
};

struct ulb_device_selection {
    struct ulb_device_choice *choices; /* the paths of a kernel stand together, the best first */
    size_t n;
    bool named; /* by a filter: to run otherwise is an error */
};

/* formats: comma list, kernels: regular expression on the name; NULL: all. ULB_BAD_INPUT for an unknown
 * format, for what is no regular expression, and when nothing matches. To be closed whatever the status. */
enum ulb_status ulb_device_select(struct ulb_device_selection *selection, const char *formats,
                                  const char *kernels, struct ulb_error *err);
void ulb_device_selection_close(struct ulb_device_selection *selection);

#endif
