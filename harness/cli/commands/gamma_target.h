/* ulb-bench gamma --explain KERNEL --target TARGET: what bounds a device's kernel on a GPU that need not be
 * there. */
#ifndef ULB_HARNESS_CLI_COMMANDS_GAMMA_TARGET_H
#define ULB_HARNESS_CLI_COMMANDS_GAMMA_TARGET_H

#include "common/status.h"

#include <stdbool.h>

/* Prints the limits of the device kernels that the regular expression names, as text or JSON. */
enum ulb_status ulb_explain_target(const char *kernels, const char *target, bool json, struct ulb_error *err);

#endif
