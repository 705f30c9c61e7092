/* Commands that measure one section of a record and show it alone: beta, gamma, gemv, gemm. */
#ifndef ULB_HARNESS_CLI_SECTION_H
#define ULB_HARNESS_CLI_SECTION_H

#include "harness/cli/measure_options.h"

#include <stdio.h>

struct ulb_section_command {
    const char *doc;
    enum ulb_measuring options; /* of the command, unless it parses them itself */
    enum ulb_stage stage;
    const char *keeps;   /* the command's name when a run of it can be gone on with, which needs --resume;
                            else NULL */
    const char *section; /* key of the record; its value is the JSON output */
    const char *const
        *beside; /* further keys that stand beside it when it is an array; NULL-terminated, or NULL */
    void (*print)(const struct ulb_record *record, FILE *out); /* the table */
};

/* Measures and shows. An interrupted measurement shows what there is and is still ULB_INTERRUPTED. */
enum ulb_status ulb_section_measure(const struct ulb_section_command *command,
                                    struct ulb_measure_options *options, struct ulb_error *err);

/* Parses argv, then the same. */
enum ulb_status ulb_section_run(const struct ulb_section_command *command, int argc, char **argv,
                                struct ulb_error *err);

#endif
