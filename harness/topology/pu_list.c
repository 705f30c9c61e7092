#include "harness/topology/topology_private.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void ulb_pu_list_free(struct ulb_pu_list *list)
{
    free(list->items);
    *list = (struct ulb_pu_list){NULL, 0};
}

/* False when out of memory, or when the set has no end. */
bool ulb_pu_list_from_bitmap(struct ulb_pu_list *list, hwloc_const_bitmap_t set)
{
    *list = (struct ulb_pu_list){NULL, 0};
    int weight = hwloc_bitmap_weight(set);
    if (weight <= 0)
        return weight == 0;
    list->items = malloc((size_t)weight * sizeof *list->items);
    if (!list->items)
        return false;
    for (int pu = hwloc_bitmap_first(set); pu >= 0; pu = hwloc_bitmap_next(set, pu))
        list->items[list->n++] = (unsigned)pu;
    return true;
}

bool ulb_pu_list_has(const struct ulb_pu_list *list, unsigned pu)
{
    for (size_t i = 0; i < list->n; i++) {
        if (list->items[i] == pu)
            return true;
    }
    return false;
}

char *ulb_pu_list_text(const struct ulb_pu_list *list, char *out, size_t out_bytes)
{
    static const char cut[] = "...";
    size_t used = 0;
    out[0] = '\0';
    for (size_t i = 0, end; i < list->n; i = end) {
        for (end = i + 1; end < list->n && list->items[end] == list->items[end - 1] + 1; end++)
            continue;
        char range[32];
        if (end - i == 1)
            snprintf(range, sizeof range, "%s%u", i ? "," : "", list->items[i]);
        else
            snprintf(range, sizeof range, "%s%u-%u", i ? "," : "", list->items[i], list->items[end - 1]);
        size_t need = strlen(range) + (end < list->n ? sizeof cut : 1);
        if (used + need > out_bytes) {
            snprintf(out + used, out_bytes - used, "%s", cut);
            break;
        }
        memcpy(out + used, range, strlen(range) + 1);
        used += strlen(range);
    }
    return out;
}
