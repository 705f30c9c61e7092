#include "harness/opencl/device_product.h"

#include "common/bf16.h"
#include "kernels/activations.h"

#include <stdlib.h>
#include <string.h>

enum { LANES_PLAYED = 16, PREPARE_ITEMS = 64 };

/* ---- programs ---- */

bool ulb_device_has_path(const struct ulb_device *device, enum ulb_device_path path, const char **lacks)
{
    static const char *const words[ULB_DEVICE_PATHS] = {
        "a compiler with the matrix instruction for weights of 2 bits", ULB_DPAS_EXTENSION,
        ULB_DPAS_EXTENSION, ULB_DP4A_EXTENSION, ""};
    const bool lanes = ulb_device_lanes(device) == 8 || ulb_device_lanes(device) == 16;
    *lacks = words[path];
    switch (path) {
    case ULB_PATH_DPAS_INT2:
        return strcmp(device->matrix, "dpas-int2") == 0 && lanes;
    case ULB_PATH_DPAS_INT8:
    case ULB_PATH_DPAS_BF16:
        return ulb_device_has(device, ULB_DPAS_EXTENSION) && lanes;
    case ULB_PATH_DP4A:
        return ulb_device_has(device, ULB_DP4A_EXTENSION);
    default:
        return true;
    }
}

static bool has_prepare(const struct ulb_device_kernel *kernel)
{
    return kernel->quantise == ULB_QUANTISE_SCALED || kernel->quantise == ULB_QUANTISE_BEFORE;
}

enum ulb_status ulb_product_open(struct ulb_device_product *product, const struct ulb_device_queue *queue,
                                 const struct ulb_device_file *file, const struct ulb_device_kernel *kernel,
                                 enum ulb_device_path path, bool played, struct ulb_error *err)
{
    const struct ulb_device_source source = {
        file->name, {ulb_opencl_lanes, ulb_opencl_matrix, file->source, ulb_opencl_product}};
    const bool in_sub_groups = !played && path < ULB_PATH_DP4A;
    char options[320];
    *product = (struct ulb_device_product){.queue = queue,
                                           .kernel = kernel,
                                           .path = path,
                                           .played = played,
                                           .lanes = in_sub_groups ? (unsigned)ulb_device_lanes(queue->device)
                                                                  : LANES_PLAYED};
    ulb_device_kernel_name(kernel, path, product->name);
    const char *std = path == ULB_PATH_DP4A && !played ? ulb_device_std(queue->device) : "";
    ulb_device_options(kernel, path, product->lanes, played, options, sizeof options);
    strncat(options, std, sizeof options - strlen(options) - 1);
    enum ulb_status status = ulb_program_build(queue, &source, options, &product->program, err);
    if (status == ULB_OK)
        status = ulb_kernel_get(queue, product->program, "product", &product->product, err);
    if (status == ULB_OK && has_prepare(kernel))
        status = ulb_kernel_get(queue, product->program, "prepare", &product->prepare, err);
    return status;
}

void ulb_product_close(struct ulb_device_product *product)
{
    if (product->prepare)
        product->queue->cl->clReleaseKernel(product->prepare);
    if (product->product)
        product->queue->cl->clReleaseKernel(product->product);
    if (product->program)
        product->queue->cl->clReleaseProgram(product->program);
    product->prepare = product->product = NULL;
    product->program = NULL;
}

/* ---- buffers ---- */

void *ulb_product_given(const struct ulb_device_kernel *kernel, size_t k, size_t n, const float *x,
                        size_t x_stride)
{
    const size_t columns = ulb_device_columns(kernel, k), bytes = ulb_activation_bytes(kernel->given);
    char *given = calloc(n * columns, bytes);
    for (size_t t = 0; t < n && given; t++) {
        char *token = given + t * columns * bytes;
        if (kernel->given == ULB_ACT_F32)
            memcpy(token, x + t * x_stride, k * sizeof *x);
        for (size_t i = 0; i < k && kernel->given == ULB_ACT_BF16; i++)
            ((uint16_t *)(void *)token)[i] = ulb_bf16_from_float(x[t * x_stride + i]);
    }
    return given;
}

enum ulb_status ulb_product_buffers_open(struct ulb_product_buffers *buffers,
                                         const struct ulb_device_product *product, size_t m, size_t k,
                                         size_t n, const float *x, size_t x_stride, bool with_sums,
                                         struct ulb_error *err)
{
    const struct ulb_device_kernel *kernel = product->kernel;
    const struct ulb_device_queue *queue = product->queue;
    const size_t elements = n * ulb_device_columns(kernel, k), results = n * m * sizeof(float);
    *buffers = (struct ulb_product_buffers){.m = m, .k = k, .n = n};
    void *given = ulb_product_given(kernel, k, n, x, x_stride);
    if (!given)
        return ulb_fail(err, ULB_ENVIRONMENT, "not enough memory for %zu tokens of %zu activations", n, k);
    enum ulb_status status =
        ulb_guarded_open(&buffers->x, queue, elements * ulb_activation_bytes(kernel->given), given, err);
    free(given);
    if (status == ULB_OK && kernel->quantise == ULB_QUANTISE_BEFORE)
        status = ulb_guarded_open(&buffers->codes, queue, elements, NULL, err);
    if (status == ULB_OK)
        status = ulb_guarded_open(&buffers->inverse, queue, n * sizeof(float), NULL, err);
    if (status == ULB_OK)
        status = ulb_guarded_open(&buffers->scale, queue, n * sizeof(float), NULL, err);
    if (status == ULB_OK && with_sums)
        status = ulb_guarded_open(&buffers->sums, queue, results, NULL, err);
    return status == ULB_OK ? ulb_guarded_open(&buffers->y, queue, results, NULL, err) : status;
}

void ulb_product_buffers_close(struct ulb_product_buffers *buffers, const struct ulb_device_queue *queue)
{
    ulb_guarded_close(&buffers->x, queue);
    ulb_guarded_close(&buffers->codes, queue);
    ulb_guarded_close(&buffers->inverse, queue);
    ulb_guarded_close(&buffers->scale, queue);
    ulb_guarded_close(&buffers->sums, queue);
    ulb_guarded_close(&buffers->y, queue);
}

/* ---- arguments ---- */

struct argument {
    size_t bytes;
    const void *value;
};

static enum ulb_status set_arguments(const struct ulb_device_queue *queue, cl_kernel kernel, cl_uint first,
                                     const struct argument *arguments, cl_uint n, struct ulb_error *err)
{
    for (cl_uint i = 0; i < n; i++) {
        cl_int error = queue->cl->clSetKernelArg(kernel, first + i, arguments[i].bytes, arguments[i].value);
        if (error != CL_SUCCESS)
            return ulb_device_refuse(queue->device, "clSetKernelArg", error, err);
    }
    return ULB_OK;
}

#define VALUE(of)                                                                                            \
    {                                                                                                        \
        sizeof(of), &(of)                                                                                    \
    }
#define MEMORY(of)                                                                                           \
    {                                                                                                        \
        sizeof(cl_mem), (of).part ? &(of).part : NULL                                                        \
    }

enum ulb_status ulb_product_set(const struct ulb_device_product *product,
                                const struct ulb_product_buffers *buffers, struct ulb_error *err)
{
    const struct ulb_device_kernel *kernel = product->kernel;
    const cl_uint m = (cl_uint)buffers->m, k = (cl_uint)buffers->k, n = (cl_uint)buffers->n;
    const cl_uint columns = (cl_uint)ulb_device_columns(kernel, buffers->k);
    const cl_ulong scales_at =
        ulb_layout_scales_offset(kernel->layout, buffers->m, buffers->k) / sizeof(float);
    const struct ulb_guarded *x = kernel->quantise == ULB_QUANTISE_BEFORE ? &buffers->codes : &buffers->x;
    const struct argument of_prepare[] = {MEMORY(buffers->x),     VALUE(k),
                                          VALUE(columns),         MEMORY(buffers->inverse),
                                          MEMORY(buffers->scale), MEMORY(buffers->codes)};
    const struct argument of_product[] = {VALUE(m),
                                          VALUE(k),
                                          VALUE(n),
                                          VALUE(scales_at),
                                          MEMORY(*x),
                                          VALUE(columns),
                                          MEMORY(buffers->inverse),
                                          MEMORY(buffers->scale),
                                          MEMORY(buffers->sums),
                                          MEMORY(buffers->y)};
    enum ulb_status status = ULB_OK;
    if (product->prepare)
        status = set_arguments(product->queue, product->prepare, 0, of_prepare,
                               sizeof of_prepare / sizeof *of_prepare, err);
    return status == ULB_OK ? set_arguments(product->queue, product->product, 1, of_product,
                                            sizeof of_product / sizeof *of_product, err)
                            : status;
}

static size_t groups_of(size_t amount, size_t each)
{
    return (amount + each - 1) / each;
}

size_t ulb_product_launches(const struct ulb_device_product *product,
                            const struct ulb_product_buffers *buffers, cl_mem w,
                            struct ulb_launch launches[ULB_PRODUCT_LAUNCHES])
{
    const struct ulb_device_tile *tile = &product->kernel->tile;
    const size_t group = product->lanes * tile->split;
    const size_t groups =
        groups_of(buffers->m, product->lanes * tile->rows) * groups_of(buffers->n, tile->tokens);
    size_t n = 0;
    if (product->prepare)
        launches[n++] =
            (struct ulb_launch){product->prepare, NULL, buffers->n * PREPARE_ITEMS, PREPARE_ITEMS};
    launches[n++] = (struct ulb_launch){product->product, w, groups * group, group};
    return n;
}
