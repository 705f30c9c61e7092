/* What a whole run measures: the formats that people choose among, or what a record holds. */
#ifndef ULB_HARNESS_CLI_COMMANDS_RUN_CHOICE_H
#define ULB_HARNESS_CLI_COMMANDS_RUN_CHOICE_H

#include "harness/cli/measure_options.h"

/* Without --formats and --kernels: the formats that people choose among, those of them that the program has;
 * of each format the best kernel alone. */
void ulb_choose_formats(struct ulb_measure_options *options);

/* Of --like: the kernels, models and shapes of a record's cells, and how they were measured. The options
 * point into from, which the caller frees, and *filter. ULB_BAD_INPUT for a record without cells of one token
 * and for a kernel that the program has not. */
enum ulb_status ulb_measure_like(struct ulb_measure_options *options, const char *path,
                                 struct ulb_record *from, char **filter, struct ulb_error *err);

#endif
