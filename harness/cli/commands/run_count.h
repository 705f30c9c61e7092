/* ulb-bench --count */
#ifndef ULB_HARNESS_CLI_COMMANDS_RUN_COUNT_H
#define ULB_HARNESS_CLI_COMMANDS_RUN_COUNT_H

#include "harness/cli/measure_options.h"

/* Counts instead of measuring: writes a record of instruction counts into the folder options->out, shows it.
 * In a process that runs under valgrind: only the loops that are counted there. */
enum ulb_status ulb_count_run(struct ulb_measure_options *options, struct ulb_error *err);

#endif
