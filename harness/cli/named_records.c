#include "harness/cli/named_records.h"

error_t ulb_take_records(struct ulb_named_records *named, const struct argp_state *state)
{
    named->paths = state->argv + state->next;
    named->n = (size_t)(state->argc - state->next);
    return 0;
}

enum ulb_status ulb_read_named(const struct ulb_named_records *named, ulb_record_reader *read,
                               ulb_record_use *use, void *context, struct ulb_error *err)
{
    enum ulb_status status = ULB_OK;
    for (size_t i = 0; i < named->n && status == ULB_OK; i++) {
        struct ulb_record record = {NULL};
        status = read(&record, named->paths[i], err);
        if (status == ULB_OK)
            status = use(&record, i, context, err);
        ulb_record_free(&record);
    }
    return status;
}
