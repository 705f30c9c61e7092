/* Sets of PUs by name or by number. */
#include "harness/topology/topology_private.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TEXT_BYTES = 160 };

const struct ulb_core_class *ulb_topology_class_of(const struct ulb_topology *topology, unsigned pu)
{
    for (size_t c = 0; c < topology->n_classes; c++) {
        if (ulb_pu_list_has(&topology->classes[c].pus, pu))
            return &topology->classes[c];
    }
    return NULL;
}

static const struct ulb_core_class *find_class(const struct ulb_topology *topology, const char *name)
{
    for (size_t c = 0; c < topology->n_classes; c++) {
        if (strcmp(topology->classes[c].name, name) == 0)
            return &topology->classes[c];
    }
    return NULL;
}

static void add_leaders(hwloc_bitmap_t set, const struct ulb_core_class *class)
{
    for (size_t i = 0; i < class->leaders.n; i++)
        hwloc_bitmap_set(set, class->leaders.items[i]);
}

static void add_all(hwloc_bitmap_t set, const struct ulb_topology *topology)
{
    const struct ulb_core_class *plain_e = find_class(topology, "E");
    bool skip_lpe = plain_e && plain_e->leaders.n > 0;
    for (size_t c = 0; c < topology->n_classes; c++) {
        if (!skip_lpe || strcmp(topology->classes[c].name, "LP-E") != 0)
            add_leaders(set, &topology->classes[c]);
    }
}

static enum ulb_status unknown_set(const struct ulb_topology *topology, const char *set,
                                   struct ulb_error *err)
{
    char known[64] = "";
    for (size_t c = 0; c < topology->n_classes; c++) {
        size_t used = strlen(known);
        snprintf(known + used, sizeof known - used, "%s, ", topology->classes[c].name);
    }
    return ulb_fail(err, ULB_BAD_INPUT,
                    "set '%.64s' is unknown on this machine; give %sall or a PU list such as 0-3,8", set,
                    known);
}

static enum ulb_status add_pu(hwloc_bitmap_t set, const struct ulb_topology *topology, unsigned long pu,
                              const char *list, struct ulb_error *err)
{
    char text[TEXT_BYTES];
    if (pu > UINT32_MAX || !ulb_pu_list_has(&topology->all_pus, (unsigned)pu))
        return ulb_fail(err, ULB_BAD_INPUT, "set '%.64s': there is no PU %lu; the machine has %s", list, pu,
                        ulb_pu_list_text(&topology->all_pus, text, sizeof text));
    if (!ulb_pu_list_has(&topology->allowed_pus, (unsigned)pu))
        return ulb_fail(err, ULB_BAD_INPUT,
                        "set '%.64s': PU %lu may not be used (cgroup or taskset); allowed are %s", list, pu,
                        ulb_pu_list_text(&topology->allowed_pus, text, sizeof text));
    if (hwloc_bitmap_isset(set, (unsigned)pu))
        return ulb_fail(err, ULB_BAD_INPUT, "set '%.64s': PU %lu is named twice", list, pu);
    hwloc_bitmap_set(set, (unsigned)pu);
    return ULB_OK;
}

/* Reads one number; false when there is none. Numbers too large to hold stay too large for any machine. */
static bool read_number(const char **at, unsigned long *number)
{
    char *end;
    if (!isdigit((unsigned char)**at))
        return false;
    *number = strtoul(*at, &end, 10);
    *at = end;
    return true;
}

/* One range of a list, which *at moves behind. */
static enum ulb_status add_range(hwloc_bitmap_t set, const struct ulb_topology *topology, const char **at,
                                 const char *list, struct ulb_error *err)
{
    unsigned long first, last;
    bool good = read_number(at, &first);
    last = first;
    if (good && **at == '-') {
        ++*at;
        good = read_number(at, &last) && first <= last;
    }
    if (!good || (**at && **at != ','))
        return ulb_fail(err, ULB_BAD_INPUT, "set '%.64s' is no PU list; write ascending ranges such as 0-3,8",
                        list);
    enum ulb_status status = ULB_OK;
    for (unsigned long pu = first; pu <= last && status == ULB_OK; pu++)
        status = add_pu(set, topology, pu, list, err);
    return status;
}

/* One name: the PUs that it stands for, each of which may be named once. */
static enum ulb_status add_name(hwloc_bitmap_t set, const struct ulb_topology *topology, const char *name,
                                const char *list, struct ulb_error *err)
{
    const struct ulb_core_class *class = find_class(topology, name);
    hwloc_bitmap_t named = hwloc_bitmap_alloc();
    enum ulb_status status = ULB_OK;
    if (!named)
        return ulb_fail(err, ULB_ENVIRONMENT, "not enough memory for the PU list");
    if (class)
        add_leaders(named, class);
    else if (strcmp(name, "all") == 0)
        add_all(named, topology);
    else
        status = unknown_set(topology, list, err);
    if (status == ULB_OK && hwloc_bitmap_iszero(named))
        status = ulb_fail(err, ULB_BAD_INPUT,
                          "set '%.64s': %s: none of its PUs may be used (cgroup or taskset)", list, name);
    if (status == ULB_OK && hwloc_bitmap_intersects(set, named))
        status = ulb_fail(err, ULB_BAD_INPUT, "set '%.64s': PUs of %s are named twice", list, name);
    if (status == ULB_OK && hwloc_bitmap_or(set, set, named) != 0)
        status = ulb_fail(err, ULB_ENVIRONMENT, "not enough memory for the PU list");
    hwloc_bitmap_free(named);
    return status;
}

/* Names and ranges in any order: "P,LP-E", "P,8-9". */
static enum ulb_status add_list(hwloc_bitmap_t set, const struct ulb_topology *topology, const char *list,
                                struct ulb_error *err)
{
    const char *at = list;
    do {
        enum ulb_status status;
        if (isalpha((unsigned char)*at)) {
            char name[16];
            size_t length = strcspn(at, ",");
            snprintf(name, sizeof name, "%.*s", (int)(length < sizeof name ? length : sizeof name), at);
            status = add_name(set, topology, name, list, err);
            at += length;
        } else {
            status = add_range(set, topology, &at, list, err);
        }
        if (status != ULB_OK)
            return status;
    } while (*at++ == ',');
    return ULB_OK;
}

bool ulb_topology_left_out(const struct ulb_topology *topology, struct ulb_pu_list *pus)
{
    const struct ulb_core_class *plain_e = find_class(topology, "E"), *lpe = find_class(topology, "LP-E");
    bool left_out = plain_e && plain_e->leaders.n > 0 && lpe && lpe->leaders.n > 0;
    *pus = left_out ? lpe->leaders : (struct ulb_pu_list){NULL, 0};
    return left_out;
}

const struct ulb_pu_list *ulb_topology_shared_core(const struct ulb_topology *topology,
                                                   const struct ulb_pu_list *pus)
{
    for (size_t c = 0; c < topology->n_classes; c++) {
        for (size_t i = 0; i < topology->classes[c].cores; i++) {
            const struct ulb_pu_list *core = &topology->classes[c].smt_siblings[i];
            size_t there = 0;
            for (size_t p = 0; p < core->n; p++)
                there += ulb_pu_list_has(pus, core->items[p]);
            if (there > 1)
                return core;
        }
    }
    return NULL;
}

enum ulb_status ulb_topology_select(const struct ulb_topology *topology, const char *set,
                                    struct ulb_pu_list *out, struct ulb_error *err)
{
    *out = (struct ulb_pu_list){NULL, 0};
    hwloc_bitmap_t chosen = hwloc_bitmap_alloc();
    if (!chosen)
        return ulb_fail(err, ULB_ENVIRONMENT, "not enough memory for the PU list");
    enum ulb_status status = isalnum((unsigned char)set[0]) ? add_list(chosen, topology, set, err)
                                                            : unknown_set(topology, set, err);
    if (status == ULB_OK && !ulb_pu_list_from_bitmap(out, chosen))
        status = ulb_fail(err, ULB_ENVIRONMENT, "not enough memory for the PU list");
    hwloc_bitmap_free(chosen);
    return status;
}
