/* ulb-bench gamma --explain: choosing the kernels and printing what harness/analysis/explain.h says of each.
 */
#ifndef ULB_HARNESS_CLI_COMMANDS_GAMMA_EXPLAIN_H
#define ULB_HARNESS_CLI_COMMANDS_GAMMA_EXPLAIN_H

#include "harness/cli/measure_options.h"

/* Explains the kernels of a comma-separated list of names and regular expressions, those that cannot run here
 * included, after measuring those that can. */
enum ulb_status ulb_explain_run(const char *list, struct ulb_measure_options *options, struct ulb_error *err);

#endif
