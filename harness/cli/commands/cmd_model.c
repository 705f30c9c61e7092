/* ulb-bench model: what the performance models say of a described machine. */
#include "harness/cli/cli.h"
#include "harness/cli/commands/model.h"

#include <argp.h>

enum { OPTION_CHECK_PAPER = 0x100 };

struct options {
    struct ulb_model_request request;
    bool check_paper;
};

static error_t parse_option(int key, char *argument, struct argp_state *state)
{
    struct options *options = state->input;
    switch (key) {
    case 'p':
        options->request.platform = argument;
        return 0;
    case OPTION_CHECK_PAPER:
        options->check_paper = true;
        return 0;
    case 'm':
        options->request.models = argument;
        return 0;
    case 'r':
        options->request.record = argument;
        return 0;
    case 'M':
        options->request.measure = true;
        return 0;
    case 'o':
        options->request.out = argument;
        return 0;
    case 'j':
        options->request.json = true;
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static enum ulb_status check_options(const struct options *options, struct ulb_error *err)
{
    const struct ulb_model_request *request = &options->request;
    if (!options->check_paper && !request->platform)
        return ulb_fail(
            err, ULB_BAD_INPUT,
            "say which: --platform NAME|FILE, of which 'ulb-bench list platforms' names those built in, "
            "or --check-paper");
    if (options->check_paper && (request->record || request->measure || request->out || request->models))
        return ulb_fail(err, ULB_BAD_INPUT,
                        "--models, --record, --measure and --out do not go with --check-paper");
    if (request->record && request->measure)
        return ulb_fail(err, ULB_BAD_INPUT, "give either --record or --measure, not both");
    return ULB_OK;
}

static enum ulb_status run(int argc, char **argv, struct ulb_error *err)
{
    static const struct argp_option argp_options[] = {
        {"platform", 'p', "PLATFORM|FILE", 0, "a built-in platform (see list platforms) or a platform file",
         0},
        {"models", 'm', "MODEL|FILE,...", 0, "models whose GEMVs are listed, by name or file", 0},
        {"record", 'r', "RECORD", 0, "model the fastest 1-bit kernel with gammas of this record", 0},
        {"measure", 'M', NULL, 0, "model the fastest 1-bit kernel with gammas measured now, some seconds", 0},
        {"out", 'o', "DIR", 0, "write the document and its figures there", 0},
        {"check-paper", OPTION_CHECK_PAPER, NULL, 0,
         "compare with the published values, of the platform or all; exit 1 if one is outside", 0},
        {"json", 'j', NULL, 0, "print one JSON document", 0},
        {0},
    };
    static const struct argp parser = {
        argp_options, parse_option,
        NULL,         "Runs the performance models on a described machine; measures nothing unless asked to.",
        NULL,         NULL,
        NULL};
    struct options options = {0};
    struct ulb_measure_options measuring;
    bool done;
    ulb_measure_defaults(&measuring, err);
    enum ulb_status status = ulb_parse_arguments(&parser, argc, argv, &options, &done, err);
    if (status != ULB_OK || done)
        return status;
    status = check_options(&options, err);
    if (status != ULB_OK)
        return status;
    return options.check_paper ? ulb_print_paper_check(options.request.platform, options.request.json, err)
                               : ulb_model_run(&options.request, &measuring, err);
}

const struct ulb_command ulb_command_model = {"model", "performance models of a described machine", run};
