#include "harness/cli/commands/run_choice.h"

#include "harness/cli/kernel_filter.h"
#include "kernels/kernel.h"

#include <stdio.h>
#include <string.h>

static const char *const formats_to_choose[] = {
    "bf16", "q8_0",  "q6_k",  "q5_k", "q4_k", "q4_0", "mxfp4", "iq4_nl",  "q3_k",
    "q2_k", "tq2_0", "tq1_0", "int8", "int4", "int3", "int2",  "tern1.6", "int1",
};

static bool has_format(const char *name)
{
    for (size_t i = 0; i < ulb_kernel_count; i++) {
        if (strcmp(ulb_kernels[i]->layout->format->name, name) == 0)
            return true;
    }
    return false;
}

void ulb_choose_formats(struct ulb_measure_options *options)
{
    static char list[256];
    size_t used = 0;
    if (options->settings.kernels)
        return;
    options->settings.best_kernels = true;
    if (options->settings.formats)
        return;
    for (size_t i = 0; i < sizeof formats_to_choose / sizeof *formats_to_choose; i++) {
        if (has_format(formats_to_choose[i]))
            used += (size_t)snprintf(list + used, sizeof list - used, "%s%s", used ? "," : "",
                                     formats_to_choose[i]);
    }
    if (used > 0)
        options->settings.formats = list;
}

enum ulb_status ulb_measure_like(struct ulb_measure_options *options, const char *path,
                                 struct ulb_record *from, char **filter, struct ulb_error *err)
{
    struct ulb_settings *settings = &options->settings;
    if (settings->formats || settings->kernels || settings->models || settings->shapes)
        return ulb_fail(
            err, ULB_BAD_INPUT,
            "--like takes formats, kernels, models and shapes from its record; leave out --formats, "
            "--kernels, --models and --shapes");
    enum ulb_status status = ulb_record_read(from, path, err);
    if (status != ULB_OK)
        return status;
    status = ulb_record_kernel_filter(from, path, filter, err);
    if (status != ULB_OK)
        return status;
    settings->kernels = *filter;
    settings->models = ulb_record_text(from, "settings.models");
    settings->shapes = ulb_record_text(from, "settings.shapes");
    settings->warm = json_is_true(ulb_record_at(from, "settings.warm"));
    return ULB_OK;
}
