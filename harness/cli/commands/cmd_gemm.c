/* ulb-bench gemm */
#include "harness/cli/commands/print_devices.h"
#include "harness/cli/commands/print_record.h"
#include "harness/cli/measure_options.h"

static const char *const beside_device[] = {"devices", NULL};

static const struct ulb_section_command on_device = {
    .stage = ULB_STAGE_DEVICE_GEMM,
    .section = "cells",
    .beside = beside_device,
    .on_device = true,
    .print = ulb_report_device_cells,
};

static enum ulb_status run(int argc, char **argv, struct ulb_error *err)
{
    static const char *const beside[] = {"peak", "best", "crossover", "noise_floor", NULL};
    static const struct ulb_section_command command = {
        .doc = "Runs each kernel for many tokens at once, beside what the memory and the dot products allow; "
               "without --models and --shapes at 4096x4096. Says which kernel is the fastest for how many "
               "tokens. With --device: on a device, by the kernels that it has.",
        .options = ULB_FOR_GEMM,
        .stage = ULB_STAGE_GEMM,
        .keeps = "gemm",
        .section = "cells",
        .beside = beside,
        .print = ulb_report_gemm,
        .device = &on_device,
    };
    return ulb_section_run(&command, argc, argv, err);
}

const struct ulb_command ulb_command_gemm = {"gemm", "the same for many tokens, beside the compute limit",
                                             run};
