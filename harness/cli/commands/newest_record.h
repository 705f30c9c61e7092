/* The record that a command takes when none is named. */
#ifndef ULB_HARNESS_CLI_COMMANDS_NEWEST_RECORD_H
#define ULB_HARNESS_CLI_COMMANDS_NEWEST_RECORD_H

#include "harness/session/settings.h"
#include "results/record/record.h"

/* Reads the newest record of a folder that was made on a CPU of this name and has cells of products. path is
 * its name. *found is false if there is none. Files that are no records are passed over. */
enum ulb_status ulb_newest_record(const char *folder, const char *cpu_model, struct ulb_record *record,
                                  char *path, size_t bytes, bool *found, struct ulb_error *err);

/* The speeds of memory that the newest record of the folder and of this CPU tells, where they were read in
 * the last 24 hours; left as they are where none were. */
enum ulb_status ulb_find_earlier_memory(const char *folder, struct ulb_earlier_memory earlier[2],
                                        struct ulb_error *err);

#endif
