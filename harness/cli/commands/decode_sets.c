#include "harness/cli/commands/decode_sets.h"

#include "harness/topology/topology.h"

#include <stdio.h>

enum ulb_status ulb_decode_list_sets(struct ulb_decode_sets *sets, struct ulb_error *err)
{
    struct ulb_topology topology;
    enum ulb_status status = ulb_topology_load(&topology, err);
    if (status != ULB_OK)
        return status;
    const struct ulb_pu_list *first = NULL;
    size_t cores = 0, classes = 0;
    *sets = (struct ulb_decode_sets){.n = 0};
    for (size_t c = 0; c < topology.n_classes; c++) {
        const struct ulb_pu_list *leaders = &topology.classes[c].leaders;
        first = first || leaders->n == 0 ? first : leaders;
        cores += leaders->n;
        classes += leaders->n > 0;
    }
    if (first && cores > 1)
        snprintf(sets->names[sets->n++], sizeof *sets->names, "%u", first->items[0]);
    if (first && first->n > 1 && cores > 2)
        snprintf(sets->names[sets->n++], sizeof *sets->names, "%u,%u", first->items[0], first->items[1]);
    for (size_t c = 0; c < topology.n_classes && classes > 1; c++) {
        if (topology.classes[c].leaders.n > 0)
            snprintf(sets->names[sets->n++], sizeof *sets->names, "%s", topology.classes[c].name);
    }
    snprintf(sets->names[sets->n++], sizeof *sets->names, "all");
    ulb_topology_free(&topology);
    return ULB_OK;
}
