/* The table of decoded models. */
#ifndef ULB_HARNESS_CLI_DECODE_PRINT_H
#define ULB_HARNESS_CLI_DECODE_PRINT_H

#include "results/record.h"

#include <stdio.h>

/* At most 100 columns wide; nothing where the record has no runs. */
void ulb_print_decode(const struct ulb_record *record, FILE *out);

#endif
