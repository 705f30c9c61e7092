/* The memory bandwidth of a set of cores is measured twice in a full run: by the beta stage, in one go, and
 * as the yardstick, between the samples of the whole grid. */
#include "results/record/record.h"

#include <math.h>
#include <string.h>

/* First entry of an array of the section beta with this set, at memory level where it has a level. */
static double gbps_of(const struct ulb_record *record, const char *array, const char *set)
{
    const json_t *rows = json_object_get(json_object_get(record->root, "beta"), array), *row;
    size_t i;
    json_array_foreach(rows, i, row)
    {
        const char *name = json_string_value(json_object_get(row, "set"));
        const char *level = json_string_value(json_object_get(row, "level"));
        double gbps = json_number_value(json_object_get(row, "gbps"));
        if (name && strcmp(name, set) == 0 && (!level || strcmp(level, "mem") == 0))
            return gbps > 0 ? gbps : NAN;
    }
    return NAN;
}

struct ulb_resolved_beta ulb_record_resolved_beta(const struct ulb_record *record, const char *set)
{
    struct ulb_resolved_beta beta = {
        .stage_gbps = gbps_of(record, "cells", set),
        .yardstick_gbps = gbps_of(record, "yardstick", set),
    };
    double larger = fmax(beta.stage_gbps, beta.yardstick_gbps);
    beta.disagree = fabs(beta.stage_gbps - beta.yardstick_gbps) > ULB_BETA_MARGIN * larger;
    beta.from_yardstick = isnan(beta.stage_gbps) || (beta.disagree && beta.yardstick_gbps > beta.stage_gbps);
    beta.gbps = beta.from_yardstick ? beta.yardstick_gbps : beta.stage_gbps;
    struct ulb_memory_states states = ulb_record_memory_states(record, set);
    beta.other_gbps = NAN;
    if (states.n > 1) {
        beta.disagree = false; /* each met another state */
        beta.from_yardstick = true;
        beta.gbps = states.gbps[0];
        beta.other_gbps = states.gbps[1];
    } else if (beta.disagree) {
        beta.other_gbps = beta.from_yardstick ? beta.stage_gbps : beta.yardstick_gbps;
    } else if (states.n > 0) {
        beta.other_gbps = ulb_record_number(record, "beta.memory.earlier.gbps");
        beta.other_created = ulb_record_text(record, "beta.memory.earlier.created");
    }
    return beta;
}

enum ulb_status ulb_record_check_beta(struct ulb_record *record, const char *set, struct ulb_error *err)
{
    struct ulb_resolved_beta beta = ulb_record_resolved_beta(record, set);
    if (!beta.disagree || ulb_record_memory_states(record, set).n > 1)
        return ULB_OK;
    return ulb_record_warn(
        record, err,
        "noisy: set %s read %.1f GB/s in the beta stage and %.1f GB/s as the yardstick; the "
        "%s is taken as its beta, since disturbance only slows reading down",
        set, beta.stage_gbps, beta.yardstick_gbps, beta.from_yardstick ? "yardstick" : "beta stage");
}
