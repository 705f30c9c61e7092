/* Output of the models: shared by `ulb-bench model` and `ulb-bench run --platform NAME`. */
#ifndef ULB_HARNESS_CLI_MODEL_H
#define ULB_HARNESS_CLI_MODEL_H

#include "common/status.h"

#include <stdbool.h>

/* Prints what the models say of a built-in platform or a platform file. */
enum ulb_status ulb_print_model(const char *name_or_file, bool json, struct ulb_error *err);

/* Prints every published value that the models give beside the modelled one. ULB_FINDING, after printing,
 * when one is outside its interval. */
enum ulb_status ulb_print_paper_check(bool json, struct ulb_error *err);

#endif
