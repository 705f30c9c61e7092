/* Speeds that others publish for the models and formats that were decoded, beside ours. */
#ifndef ULB_HARNESS_CLI_COMMANDS_DECODE_PUBLISHED_H
#define ULB_HARNESS_CLI_COMMANDS_DECODE_PUBLISHED_H

#include "results/record/record.h"

#include <stdio.h>

/* Adds the array "published" to each run of the decode section: of each machine the fastest speed that is
 * published for the run's model and format. */
enum ulb_status ulb_decode_published(struct ulb_record *record, struct ulb_error *err);

/* A line for each of them, at most 100 columns wide; nothing where there are none. */
void ulb_print_published(const struct ulb_record *record, FILE *out);

#endif
