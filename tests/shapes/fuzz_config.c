/* libFuzzer: any bytes are read as a config.json; what passes gives matrices. */
#include "shapes/load.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct ulb_model model = {.layers = 0};
    struct ulb_shape_list list;
    struct ulb_error err;
    if (ulb_config_parse((const char *)data, size, &model, &err) != ULB_OK ||
        ulb_model_check(&model, &err) != ULB_OK)
        return 0;
    for (int form = ULB_FORM_FUSED; form <= ULB_FORM_STORED; form++) {
        enum ulb_status status = ulb_model_shapes(&model, (enum ulb_form)form, &list, &err);
        if (status == ULB_BAD_INPUT) /* more parameters than a file could hold */
            break;
        if (status != ULB_OK)
            abort();
        double parameters = ulb_model_parameters(&model, &list);
        if (!isfinite(parameters) || parameters <= 0)
            abort();
        free(list.items);
    }
    ulb_model_free(&model);
    return 0;
}
