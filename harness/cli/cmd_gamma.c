/* ulb-bench gamma */
#include "harness/cli/report.h"
#include "harness/cli/section.h"

static enum ulb_status run(int argc, char **argv, struct ulb_error *err)
{
    static const struct ulb_section_command command = {
        .doc = "Measures each kernel's core cycles per 32 weights, weights in L1.",
        .stage = ULB_STAGE_GAMMA,
        .section = "gamma",
        .print = ulb_report_gamma,
    };
    return ulb_section_run(&command, argc, argv, err);
}

const struct ulb_command ulb_command_gamma = {"gamma", "compute cost of each kernel, cycles per 32 weights",
                                              run};
