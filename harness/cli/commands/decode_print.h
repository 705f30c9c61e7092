/* The table of decoded models. */
#ifndef ULB_HARNESS_CLI_COMMANDS_DECODE_PRINT_H
#define ULB_HARNESS_CLI_COMMANDS_DECODE_PRINT_H

#include "results/record/record.h"

#include <stdio.h>

/* At most 100 columns wide, a table for each split; nothing where the record has no runs. */
enum ulb_status ulb_print_decode(const struct ulb_record *record, FILE *out, struct ulb_error *err);

#endif
