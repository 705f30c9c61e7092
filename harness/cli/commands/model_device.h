/* What the models say of a described device: shared by `ulb-bench model` and `ulb-bench run --platform NAME`.
 */
#ifndef ULB_HARNESS_CLI_COMMANDS_MODEL_DEVICE_H
#define ULB_HARNESS_CLI_COMMANDS_MODEL_DEVICE_H

#include "harness/cli/commands/model.h"
#include "models/platform/device_platform.h"

/* Models the device, shows and writes what is said of it; of the request platform is done with. */
enum ulb_status ulb_model_device_run(const struct ulb_model_request *request,
                                     const struct ulb_device_platform *device, struct ulb_error *err);

#endif
