/* verify --device: every kernel of devices against the scalar reference. */
#ifndef ULB_HARNESS_CLI_COMMANDS_VERIFY_DEVICE_H
#define ULB_HARNESS_CLI_COMMANDS_VERIFY_DEVICE_H

#include "harness/cli/measure_options.h"

/* Prints a line for each kernel and path when it is known, or all as one document. ULB_FINDING when one
 * differs. */
enum ulb_status ulb_verify_on_device(const struct ulb_measure_options *options, struct ulb_error *err);

#endif
