/* Runs of llama-bench beside ours: what of the bandwidth they reached, and whether they can be true. */
#ifndef ULB_HARNESS_CLI_COMMANDS_DECODE_IMPORT_H
#define ULB_HARNESS_CLI_COMMANDS_DECODE_IMPORT_H

#include "results/reference/llama_bench.h"
#include "results/record/record.h"

#include <stdio.h>

/* Adds "imported" to the decode section: each run with the bytes that a token of it reads, the bound by the
 * yardstick of our runs, and our run of the nearest bits per weight. The file's weights must be those of the
 * model that was decoded; else there is no bound, with the reason. ULB_ENVIRONMENT: no memory. */
enum ulb_status ulb_decode_import(struct ulb_record *record, const struct ulb_llama_runs *runs,
                                  const char *model, struct ulb_error *err);

/* At most 100 columns wide; nothing where nothing was imported. */
void ulb_print_imported(const struct ulb_record *record, FILE *out);

#endif
