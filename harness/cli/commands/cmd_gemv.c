/* ulb-bench gemv */
#include "harness/cli/cli.h"
#include "harness/cli/commands/gemv_turns.h"
#include "harness/cli/commands/print_devices.h"
#include "harness/cli/commands/print_record.h"
#include "harness/cli/measure_options.h"

static const char *const beside[] = {"overlap", "prediction", "peak", "noise_floor", NULL};

static const char *const beside_device[] = {"devices", NULL};

static const struct ulb_section_command on_device = {
    .stage = ULB_STAGE_DEVICE_GEMV,
    .section = "cells",
    .beside = beside_device,
    .on_device = true,
    .print = ulb_report_device_cells,
};

static const struct ulb_section_command section = {
    .doc = "Runs each kernel's GEMV over the shapes of real models, beside yardstick and prediction. With "
           "--device: on a device, by the kernels that it has.",
    .options = ULB_FOR_GEMV,
    .stage = ULB_STAGE_GEMV,
    .keeps = "gemv",
    .section = "cells",
    .beside = beside,
    .print = ulb_report_cells,
    .in_turns = ulb_gemv_turns,
    .device = &on_device,
};

static enum ulb_status run(int argc, char **argv, struct ulb_error *err)
{
    return ulb_section_run(&section, argc, argv, err);
}

const struct ulb_command ulb_command_gemv = {
    "gemv", "every kernel over real shapes, beside yardstick and prediction", run};
