#include "harness/cli/cli.h"

static enum ulb_status run(int argc, char **argv, struct ulb_error *err)
{
    (void)argc;
    return ulb_fail(err, ULB_BAD_INPUT, "%s: nothing to list", argv[0]);
}

const struct ulb_command ulb_command_list = {"list", "kernels, formats, models, shapes, platforms, counters", run};
