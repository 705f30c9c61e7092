/* Suspected regressions, run again by themselves. */
#ifndef ULB_HARNESS_CLI_COMMANDS_COMPARE_CONFIRM_H
#define ULB_HARNESS_CLI_COMMANDS_COMPARE_CONFIRM_H

#include "results/compare/compare.h"

/* ULB_BAD_INPUT for metrics that are not measured so, and together with force. */
enum ulb_status ulb_compare_can_confirm(const struct ulb_compare_settings *settings, struct ulb_error *err);

/* Measures the regressed figures of fresh again on this machine with this program and takes those back that
 * do not show again. libraries: of kernels, those that the command line names; NULL: none, which a record
 * measured with some refuses (ULB_BAD_INPUT). ULB_BAD_INPUT as above; ULB_ENVIRONMENT when this machine or
 * this build is not what fresh was made with (the message names the field), or as measuring gives it. */
enum ulb_status ulb_compare_confirm(struct ulb_compare_side *base, const struct ulb_record *fresh,
                                    const struct ulb_compare_settings *settings, const char *libraries,
                                    struct ulb_comparison *comparison, struct ulb_error *err);

#endif
