/* ulb-bench advise: which weight format to take for a model on this machine. */
#include "common/mem.h"
#include "common/units.h"
#include "harness/cli/cli.h"
#include "harness/cli/commands/newest_record.h"
#include "harness/cli/commands/print_summary.h"
#include "harness/cli/commands/run_choice.h"
#include "harness/cli/measure_options.h"
#include "harness/cli/option.h"
#include "harness/cli/terminal.h"
#include "harness/decode/decoder.h"
#include "harness/grid/describe_models.h"
#include "harness/topology/topology.h"
#include "results/summary/advice.h"
#include "results/summary/record_summary.h"

#include <argp.h>
#include <math.h>
#include <string.h>

enum { OPTION_CONTEXT = 0x100, OPTION_MIN_TPS, OPTION_MAX_ERROR, OPTION_MEMORY };
enum { CONTEXT_MAX = 1 << 24, DECODE_CONTEXT_MAX = 1 << 20 };

struct request {
    const char *model, *record;
    uint64_t context;
    struct ulb_wants wants;
    bool json;
    bool decodes; /* the decoder runs the model, with so long a context */
    struct ulb_error *err;
};

static error_t parse_option(int key, char *argument, struct argp_state *state)
{
    struct request *request = state->input;
    switch (key) {
    case OPTION_CONTEXT:
        return ulb_read_count(argument, 0, CONTEXT_MAX, &request->context)
                   ? 0
                   : ulb_refuse_option(request->err, "context", argument, "must be 0 to 16777216 positions");
    case OPTION_MIN_TPS:
        request->wants.needs_tps = true;
        return ulb_read_number(argument, 1e-6, 1e9, &request->wants.min_tps)
                   ? 0
                   : ulb_refuse_option(request->err, "min-tps", argument,
                                       "must be tokens per second above 0");
    case OPTION_MAX_ERROR:
        return ulb_read_number(argument, 0, 100, &request->wants.max_error)
                   ? 0
                   : ulb_refuse_option(request->err, "max-error", argument,
                                       "must be an RMS error, such as 0.25");
    case OPTION_MEMORY:
        if (!ulb_read_number(argument, 1e-3, 1e6, &request->wants.available_bytes))
            return ulb_refuse_option(request->err, "memory", argument, "must be GiB above 0");
        request->wants.available_bytes *= ULB_GIB;
        return 0;
    case 'r':
        request->record = argument;
        return 0;
    case 'j':
        request->json = true;
        return 0;
    case ARGP_KEY_ARG:
        if (request->model)
            return ARGP_ERR_UNKNOWN;
        request->model = argument;
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

/* ---- the record ---- */

static enum ulb_status measure(const struct request *request, struct ulb_record *record, char *path,
                               size_t bytes, struct ulb_error *err)
{
    struct ulb_measure_options options;
    ulb_measure_defaults(&options, err);
    options.settings.quick = true;
    options.settings.models = request->model;
    ulb_choose_formats(&options);
    options.settings.command = "run";
    ulb_print_note("no record of this machine in %s/: measuring what %s needs, some minutes; 'ulb-bench run' "
                   "makes one for all models",
                   ULB_RESULTS_FOLDER, request->model);
    enum ulb_status status = ulb_measure_checkpoint(&options, "ulb", path, bytes, err);
    if (status == ULB_OK)
        status = ulb_measure_run(&options, ULB_STAGE_ALL, record, err);
    if (status == ULB_OK)
        status = ulb_record_write(record, path, err);
    ulb_measure_close_checkpoint(&options, record, status);
    return status;
}

static enum ulb_status find_record(const struct request *request, struct ulb_record *record, char *path,
                                   size_t bytes, struct ulb_error *err)
{
    struct ulb_topology topology;
    bool found = false;
    if (request->record) {
        snprintf(path, bytes, "%s", request->record);
        return ulb_record_read(record, request->record, err);
    }
    enum ulb_status status = ulb_topology_load(&topology, err);
    if (status != ULB_OK)
        return status;
    status = ulb_newest_record(ULB_RESULTS_FOLDER, topology.cpu_model, record, path, bytes, &found, err);
    ulb_topology_free(&topology);
    return status == ULB_OK && !found ? measure(request, record, path, bytes, err) : status;
}

/* ---- the model ---- */

static enum ulb_status describe(struct request *request, json_t **described, struct ulb_error *err)
{
    struct ulb_model model;
    struct ulb_shape_list shapes = {NULL, 0};
    enum ulb_status status = ulb_model_load(request->model, &model, err);
    if (status != ULB_OK)
        return status;
    struct ulb_decoder_shape decoder;
    struct ulb_error not_run;
    request->decodes =
        request->context <= DECODE_CONTEXT_MAX && ulb_decoder_shape_of(&model, &decoder, &not_run) == ULB_OK;
    status = ulb_model_shapes(&model, ULB_FORM_FUSED, &shapes, err);
    if (status == ULB_OK) {
        *described = ulb_describe_model(&model, &shapes, (unsigned)request->context);
        if (!*described)
            status = ulb_fail(err, ULB_ENVIRONMENT, "not enough memory to describe %s", model.name);
    }
    free(shapes.items);
    ulb_model_free(&model);
    return status;
}

static enum ulb_status show(const struct request *request, json_t *advice, const char *path,
                            struct ulb_error *err)
{
    json_t *name = json_string(path);
    if (!name || json_object_set_new(advice, "record", name) != 0)
        return ulb_fail(err, ULB_BAD_INPUT, "the name %s is not UTF-8, which JSON needs", path);
    if (!request->json)
        ulb_print_advice(advice, request->model, request->decodes, stdout);
    enum ulb_status status = request->json ? ulb_print_json(json_incref(advice), err) : ULB_OK;
    if (status == ULB_OK && !ulb_row_text(advice, "suggested")[0])
        status = ulb_fail(err, ULB_FINDING, "%s: %s", request->model, ulb_row_text(advice, "reason"));
    return status;
}

static enum ulb_status advise_from(const struct request *request, const struct ulb_record *record,
                                   const json_t *described, const char *path, json_t **advice,
                                   struct ulb_error *err)
{
    struct ulb_error why;
    enum ulb_status status = ulb_advice_of(record, described, &request->wants, advice, &why);
    return status == ULB_OK ? ULB_OK : ulb_fail(err, status, "%s: %s", path, why.message);
}

static enum ulb_status advise(struct request *request, struct ulb_error *err)
{
    struct ulb_record record = {NULL};
    json_t *described = NULL, *advice = NULL;
    char path[4200];
    enum ulb_status status = describe(request, &described, err);
    if (status == ULB_OK)
        status = find_record(request, &record, path, sizeof path, err);
    if (status == ULB_OK)
        status = advise_from(request, &record, described, path, &advice, err);
    if (status == ULB_OK)
        status = show(request, advice, path, err);
    json_decref(advice);
    json_decref(described);
    ulb_record_free(&record);
    return status;
}

static enum ulb_status run(int argc, char **argv, struct ulb_error *err)
{
    static const struct argp_option options[] = {
        {"context", OPTION_CONTEXT, "N", 0, "positions in the cache (default: 4096)", 0},
        {"min-tps", OPTION_MIN_TPS, "X", 0,
         "tokens per second that must be reached (default: 10, or else the fastest)", 0},
        {"max-error", OPTION_MAX_ERROR, "X", 0, "RMS error on normal weights, at most (default: 0.25)", 0},
        {"memory", OPTION_MEMORY, "GIB", 0, "for weights and cache (default: what is available now)", 0},
        {"record", 'r', "RECORD", 0,
         "made on the machine in question (default: the newest in " ULB_RESULTS_FOLDER
         " of this machine, or else it is measured)",
         0},
        {"json", 'j', NULL, 0, "one JSON document on standard output", 0},
        {0},
    };
    static const struct argp parser = {options,
                                       parse_option,
                                       "MODEL|FILE",
                                       "Says which weight format to take for a model on this machine, and "
                                       "how many tokens per second it makes: "
                                       "the least error that is fast enough and fits memory.\vExit code 1: "
                                       "no format satisfies what is asked.",
                                       NULL,
                                       NULL,
                                       NULL};
    long long available = ulb_memory_available();
    struct request request = {.context = ULB_DESCRIBED_CONTEXT,
                              .wants = {.min_tps = ULB_SUGGESTED_TPS,
                                        .max_error = ULB_SUGGESTED_ERROR,
                                        .available_bytes = available < 0 ? NAN : (double)available},
                              .err = err};
    bool done;
    enum ulb_status status = ulb_parse_arguments(&parser, argc, argv, &request, &done, err);
    if (status != ULB_OK || done)
        return status;
    if (!request.model)
        return ulb_fail(err, ULB_BAD_INPUT, "name a model; try 'ulb-bench advise llama3-8b', or a GGUF file");
    return advise(&request, err);
}

const struct ulb_command ulb_command_advise = {"advise", "which weight format to take for a model here", run};
