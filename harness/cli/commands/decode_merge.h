/* Runs of decode put into a record that is there. */
#ifndef ULB_HARNESS_CLI_COMMANDS_DECODE_MERGE_H
#define ULB_HARNESS_CLI_COMMANDS_DECODE_MERGE_H

#include "results/record/record.h"

#include <stdbool.h>

struct ulb_decode_merging {
    const char *path;         /* of the record; NULL: none */
    struct ulb_record before; /* as it was at first; root NULL: none */
    json_t *warned;           /* what was last put among its warnings; to be freed */
};

/* The runs replace those of the record, to whose warnings theirs are added. What another process has put
 * there since stays. Until the runs are complete, those that were there before stay too. */
enum ulb_status ulb_decode_merge(struct ulb_decode_merging *merging, const struct ulb_record *record,
                                 bool complete, struct ulb_error *err);

#endif
