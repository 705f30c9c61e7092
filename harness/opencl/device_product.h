/* y = W x on a device: a kernel of kernels/opencl/ built for it, its buffers and its launches. */
#ifndef ULB_HARNESS_OPENCL_DEVICE_PRODUCT_H
#define ULB_HARNESS_OPENCL_DEVICE_PRODUCT_H

#include "harness/opencl/device_guard.h"
#include "kernels/opencl/device_kernel.h"

struct ulb_device_product {
    const struct ulb_device_queue *queue;
    const struct ulb_device_kernel *kernel;
    enum ulb_device_path path;
    bool played; /* the device lacks the path's instructions */
    unsigned lanes;
    char name[ULB_KERNEL_NAME_MAX];
    cl_program program;
    cl_kernel product, prepare; /* prepare NULL: nothing is launched before the product */
};

/* Whether extensions and trial builds say that the device has the instructions of a path
 * (device_probe.h). If not, lacks says what is missing. */
bool ulb_device_has_path(const struct ulb_device *device, enum ulb_device_path path, const char **lacks);

/* Builds a kernel for one of its paths. ULB_ENVIRONMENT as of ulb_program_build(). To be closed whatever the
 * status. */
enum ulb_status ulb_product_open(struct ulb_device_product *product, const struct ulb_device_queue *queue,
                                 const struct ulb_device_file *file, const struct ulb_device_kernel *kernel,
                                 enum ulb_device_path path, bool played, struct ulb_error *err);
void ulb_product_close(struct ulb_device_product *product);

/* All that one product reads and writes but the weights. */
struct ulb_product_buffers {
    size_t m, k, n;
    struct ulb_guarded x;              /* of the given activations, [n][ulb_device_columns()] */
    struct ulb_guarded codes;          /* int8, as large as x; with ULB_QUANTISE_BEFORE alone */
    struct ulb_guarded inverse, scale; /* float [n] */
    struct ulb_guarded sums;           /* int32 [n][m], or none */
    struct ulb_guarded y;              /* float [n][m] */
};

/* n tokens of k floats as the kernel is given them, [n][ulb_device_columns()]; the caller's to free. NULL: no
 * memory. */
void *ulb_product_given(const struct ulb_device_kernel *kernel, size_t k, size_t n, const float *x,
                        size_t x_stride);

/* x: float [n][x_stride], which become the given activations. with_sums: integer sums are kept too. To be
 * closed whatever the status. */
enum ulb_status ulb_product_buffers_open(struct ulb_product_buffers *buffers,
                                         const struct ulb_device_product *product, size_t m, size_t k,
                                         size_t n, const float *x, size_t x_stride, bool with_sums,
                                         struct ulb_error *err);
void ulb_product_buffers_close(struct ulb_product_buffers *buffers, const struct ulb_device_queue *queue);

/* Gives the kernels their arguments, and the launches of one product of weights that lie in w; returns how
 * many through *n. */
enum { ULB_PRODUCT_LAUNCHES = 2 };
enum ulb_status ulb_product_set(const struct ulb_device_product *product,
                                const struct ulb_product_buffers *buffers, struct ulb_error *err);
size_t ulb_product_launches(const struct ulb_device_product *product,
                            const struct ulb_product_buffers *buffers, cl_mem w,
                            struct ulb_launch launches[ULB_PRODUCT_LAUNCHES]);

#endif
