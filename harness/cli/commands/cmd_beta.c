/* ulb-bench beta */
#include "harness/cli/commands/print_record.h"
#include "harness/cli/measure_options.h"

static enum ulb_status run(int argc, char **argv, struct ulb_error *err)
{
    static const struct ulb_section_command command = {
        .doc = "Measures read bandwidth: L1, L2, LLC and memory of one core, each class and the set, and "
               "beta(n).",
        .options = ULB_FOR_BETA,
        .stage = ULB_STAGE_BETA,
        .section = "beta",
        .print = ulb_report_beta,
    };
    return ulb_section_run(&command, argc, argv, err);
}

const struct ulb_command ulb_command_beta = {"beta", "read bandwidth by level, class and number of cores",
                                             run};
