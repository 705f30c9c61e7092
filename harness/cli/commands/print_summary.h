/* The first screen: a record's summary in at most 40 lines of 80 columns. */
#ifndef ULB_HARNESS_CLI_COMMANDS_PRINT_SUMMARY_H
#define ULB_HARNESS_CLI_COMMANDS_PRINT_SUMMARY_H

#include "results/record/record.h"

#include <stdio.h>

/* path: of the record, or NULL where it has none. Prints nothing when it fails. */
enum ulb_status ulb_print_summary(const struct ulb_record *record, const char *path, FILE *out,
                                  struct ulb_error *err);

/* The document of ulb_advice_of(); model: as it was named, for the commands that measure the same. */
void ulb_print_advice(const json_t *advice, const char *model, bool decodes, FILE *out);

/* Every model with every format of the record. */
enum ulb_status ulb_print_model_formats(const struct ulb_record *record, FILE *out, struct ulb_error *err);

#endif
