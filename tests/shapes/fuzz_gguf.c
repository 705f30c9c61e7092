/* libFuzzer: any bytes are read as a GGUF file; what passes gives matrices. */
#include "shapes/load.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct ulb_model model = {.layers = 0};
    struct ulb_shape_list list;
    struct ulb_error err;
    static int fd = -1;
    if (fd < 0)
        fd = memfd_create("input", MFD_CLOEXEC);
    if (ftruncate(fd, 0) != 0 || pwrite(fd, data, size, 0) != (ssize_t)size)
        abort();
    enum ulb_status status = ulb_gguf_read(fd, "input", &model, &err);
    if (status == ULB_OK && ulb_model_check(&model, &err) == ULB_OK &&
        ulb_model_shapes(&model, ULB_FORM_FUSED, &list, &err) == ULB_OK) {
        if (!isfinite(ulb_model_parameters(&model, &list)))
            abort();
        free(list.items);
    }
    ulb_model_free(&model);
    return 0;
}
