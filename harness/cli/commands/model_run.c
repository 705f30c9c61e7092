#include "harness/cli/kernel_filter.h"
#include "harness/cli/commands/model.h"

#include "harness/cli/commands/draw_figures.h"
#include "harness/cli/commands/model_device.h"
#include "harness/cli/commands/model_json.h"
#include "models/platform/platform.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Measures the 1-bit kernels that take part in the ratio, quickly. */
static enum ulb_status measure_now(struct ulb_measure_options *measuring, struct ulb_record *record,
                                   struct ulb_error *err)
{
    record->root = NULL;
    bool *chosen = calloc(ulb_kernel_count, sizeof *chosen);
    for (size_t i = 0; chosen && i < ulb_kernel_count; i++)
        chosen[i] = ulb_gamma_ratio_needs(ulb_kernels[i]);
    char *filter =
        chosen ? ulb_kernel_filter(chosen, ulb_isa_detect() & ~measuring->settings.isa_mask) : NULL;
    enum ulb_status status = ULB_OK;
    if (!filter)
        status = ulb_fail(err, ULB_ENVIRONMENT, "not enough memory for the list of kernels");
    else if (!filter[0])
        status = ulb_fail(err, ULB_ENVIRONMENT, "no 256-bit int1 kernel can run here");
    if (status == ULB_OK) {
        measuring->settings.kernels = filter;
        measuring->settings.formats = NULL;
        measuring->settings.quick = true;
        status = ulb_measure_run(measuring, ULB_STAGE_GAMMA, record, err);
        measuring->settings.kernels = NULL;
    }
    free(filter);
    free(chosen);
    return status;
}

/* The ratio of the request, or the reason why there is none. A record that is named must have it. What cannot
 * be measured is left out. A kernel that differs and a signal end the command. */
static enum ulb_status find_ratio(const struct ulb_model_request *request,
                                  struct ulb_measure_options *measuring, struct ulb_record *record,
                                  struct ulb_gamma_ratio *ratio, struct ulb_gamma_ratio_source *source,
                                  struct ulb_error *err)
{
    *source = (struct ulb_gamma_ratio_source){
        .reason = "nothing was measured here; give --record RECORD, or --measure to measure two kernels now"};
    enum ulb_status status;
    if (request->record) {
        status = ulb_record_read(record, request->record, err);
        if (status != ULB_OK)
            return status;
        status = ulb_gamma_ratio_of(record, ratio, err);
        if (status != ULB_OK)
            return ulb_fail_prefix(err, status, "%s", request->record);
    } else if (request->measure) {
        status = measure_now(measuring, record, err);
        if (status == ULB_OK)
            status = ulb_gamma_ratio_of(record, ratio, err);
        if (status == ULB_FINDING || status == ULB_INTERRUPTED)
            return status;
        if (status != ULB_OK) {
            snprintf(source->reason, sizeof source->reason, "%.250s", err->message);
            return ULB_OK;
        }
        ulb_print_warnings(record);
    } else {
        return ULB_OK;
    }
    source->ratio = ratio;
    source->record = request->record;
    source->cpu_model = ulb_record_text(record, "machine.cpu_model");
    source->created = ulb_record_text(record, "created");
    return ULB_OK;
}

static bool is_builtin(const char *name)
{
    for (size_t i = 0; ulb_platform_builtin(i); i++) {
        if (strcmp(ulb_platform_builtin(i), name) == 0)
            return true;
    }
    return false;
}

enum ulb_status ulb_model_write(const char *folder, const char *platform, json_t *document,
                                struct ulb_error *err)
{
    char stem[4096], path[4200], word[48];
    const struct ulb_record record = {document};
    snprintf(word, sizeof word, "model-%s", platform);
    ulb_output_stem(folder, word, stem, sizeof stem);
    snprintf(path, sizeof path, "%s.json", stem);
    enum ulb_status status = ulb_record_write_new(&record, path, sizeof path, err);
    if (status != ULB_OK)
        return status;
    fprintf(stderr, "model: %s\n", path);
    snprintf(stem, sizeof stem, "%.*s", (int)(strlen(path) - strlen(".json")), path);
    ulb_draw_all_figures(&record, stem, true);
    return ULB_OK;
}

enum ulb_status ulb_model_run(const struct ulb_model_request *request, struct ulb_measure_options *measuring,
                              struct ulb_error *err)
{
    struct ulb_platform platform;
    struct ulb_gamma_ratio ratio;
    struct ulb_gamma_ratio_source source;
    struct ulb_record record = {NULL};
    struct ulb_model_list models = {NULL, 0};
    json_t *document = NULL;
    if (strcmp(request->platform, "auto") == 0)
        return ulb_fail(err, ULB_BAD_INPUT,
                        "the platform 'auto' is this machine, which must be measured: "
                        "use ulb-bench run --platform auto");
    struct ulb_device_platform device;
    bool is_device = false;
    enum ulb_status status = ulb_device_platform_load(request->platform, &device, &is_device, err);
    if (status == ULB_OK && is_device)
        return ulb_model_device_run(request, &device, err);
    if (status == ULB_OK)
        status = ulb_platform_load(request->platform, &platform, err);
    if (status == ULB_OK)
        status = ulb_model_list_load(request->models ? request->models : ULB_MODELLED_MODELS, &models, err);
    if (status == ULB_OK && request->out)
        status = ulb_make_folder(request->out, "out", err);
    if (status == ULB_OK)
        status = find_ratio(request, measuring, &record, &ratio, &source, err);
    if (status == ULB_OK)
        status = ulb_model_json(&platform, is_builtin(request->platform) ? "paper" : "platform file", &source,
                                &models, &document, err);
    if (status == ULB_OK && request->out)
        status = ulb_model_write(request->out, platform.name, document, err);
    if (status == ULB_OK && request->json)
        status = ulb_print_json(json_incref(document), err);
    else if (status == ULB_OK)
        ulb_model_print(&platform, document);
    json_decref(document);
    ulb_record_free(&record);
    ulb_model_list_free(&models);
    return status;
}
