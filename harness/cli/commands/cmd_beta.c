/* ulb-bench beta */
#include "harness/cli/commands/print_devices.h"
#include "harness/cli/commands/print_record.h"
#include "harness/cli/measure_options.h"

static enum ulb_status measure_device(struct ulb_measure_options *options, struct ulb_error *err)
{
    static const char *const idle[] = {"set", "isa-mask", NULL};
    static const struct ulb_section_command command = {
        .stage = ULB_STAGE_DEVICE,
        .section = "devices",
        .on_device = true,
        .print = ulb_report_devices,
    };
    enum ulb_status status = ulb_refuse_idle(options, idle, "on a device", err);
    return status == ULB_OK ? ulb_section_measure(&command, options, err) : status;
}

static enum ulb_status run(int argc, char **argv, struct ulb_error *err)
{
    static const struct ulb_section_command command = {
        .stage = ULB_STAGE_BETA,
        .section = "beta",
        .print = ulb_report_beta,
    };
    static const char doc[] =
        "Measures read bandwidth: L1, L2, LLC and memory of one core, each class and the set, and "
        "beta(n). With --device: of a device by size, what its launches cost, and its peaks.";
    struct ulb_measure_options options;
    bool done;
    enum ulb_status status = ulb_measure_parse(argc, argv, ULB_FOR_BETA, doc, &options, &done, err);
    if (status != ULB_OK || done)
        return status;
    if (options.settings.device)
        return measure_device(&options, err);
    return ulb_section_measure(&command, &options, err);
}

const struct ulb_command ulb_command_beta = {"beta", "read bandwidth by level, class and number of cores",
                                             run};
