/* ulb-bench gamma */
#include "harness/cli/cli.h"
#include "harness/cli/commands/gamma_explain.h"
#include "harness/cli/commands/gamma_target.h"
#include "harness/cli/commands/print_record.h"
#include "harness/cli/measure_options.h"

struct options {
    struct ulb_measure_options measure;
    const char *explain; /* kernels, or NULL */
    const char *target;  /* of a device's kernels; NULL: those of the CPU */
};

enum { OPTION_TARGET = 0x1000 };

static error_t parse_option(int key, char *argument, struct argp_state *state)
{
    struct options *options = state->input;
    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &options->measure;
        return 0;
    case 'e':
        options->explain = argument;
        return 0;
    case OPTION_TARGET:
        options->target = argument;
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static enum ulb_status run(int argc, char **argv, struct ulb_error *err)
{
    static const struct ulb_section_command command = {
        .stage = ULB_STAGE_GAMMA,
        .section = "gamma",
        .print = ulb_report_gamma,
    };
    static const struct argp_option argp_options[] = {
        {"explain", 'e', "KERNEL,...", 0,
         "why it costs that: mix, port bound of the known cores, measured, where memory takes over", 0},
        {"target", OPTION_TARGET, "TARGET", 0,
         "with --explain: limits of a device's kernel on a GPU that need not be there, such as pvc, dg2-g10 "
         "or "
         "bmg-g21, as Intel's ocloc compiles it",
         0},
        {0},
    };
    const struct argp_child children[] = {{ulb_measure_argp(ULB_FOR_GAMMA), 0, NULL, 0}, {0}};
    const struct argp parser = {
        argp_options, parse_option, NULL, "Measures each kernel's core cycles per 32 weights, weights in L1.",
        children,     NULL,         NULL};
    struct options options = {0};
    bool done;
    ulb_measure_defaults(&options.measure, err);
    enum ulb_status status = ulb_parse_arguments(&parser, argc, argv, &options, &done, err);
    if (status != ULB_OK || done)
        return status;
    if (options.measure.settings.tokens && (!options.explain || options.target))
        return ulb_fail(err, ULB_BAD_INPUT, "--n needs --explain KERNEL, a kernel of the CPU");
    if (options.target && !options.explain)
        return ulb_fail(err, ULB_BAD_INPUT, "--target needs --explain KERNEL, a kernel of devices");
    if (options.target)
        return ulb_explain_target(options.explain, options.target, options.measure.json, err);
    if (options.explain)
        return ulb_explain_run(options.explain, &options.measure, err);
    return ulb_section_measure(&command, &options.measure, err);
}

const struct ulb_command ulb_command_gamma = {"gamma", "compute cost of each kernel, cycles per 32 weights",
                                              run};
