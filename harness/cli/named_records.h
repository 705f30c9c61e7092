/* Records in files that a command line names. */
#ifndef ULB_HARNESS_CLI_NAMED_RECORDS_H
#define ULB_HARNESS_CLI_NAMED_RECORDS_H

#include "results/record/record.h"

#include <argp.h>
#include <stddef.h>

struct ulb_named_records {
    char **paths;
    size_t n;
};

/* Takes every argument that is left, for ARGP_KEY_ARGS. */
error_t ulb_take_records(struct ulb_named_records *named, const struct argp_state *state);

/* Reads a file: ulb_record_read, or a reader that takes other documents too. */
typedef enum ulb_status ulb_record_reader(struct ulb_record *record, const char *path, struct ulb_error *err);

/* Uses record i. A use that keeps the record sets its root to NULL; else it is freed. */
typedef enum ulb_status ulb_record_use(struct ulb_record *record, size_t i, void *context,
                                       struct ulb_error *err);

/* Reads the records in order, each after the one before was used. The first failure ends it. */
enum ulb_status ulb_read_named(const struct ulb_named_records *named, ulb_record_reader *read,
                               ulb_record_use *use, void *context, struct ulb_error *err);

#endif
