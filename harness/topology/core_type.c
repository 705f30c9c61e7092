/* Core types from three sources that check one another: hwloc's CoreType, the lists of the kernel's PMUs in
 * sysfs, and CPUID on each allowed PU. hwloc 2.9 does not read those lists. */
#include "harness/topology/topology_private.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LIST_BYTES = 4096 };

#if defined(__aarch64__)
static const char cpu_itself[] = "MIDR";
#else
static const char cpu_itself[] = "CPUID";
#endif

/* Reads SYSFS/devices/PMU/cpus; leaves out empty when the kernel has no such PMU. */
static void read_pmu_pus(const char *sysfs, const char *pmu, hwloc_bitmap_t out)
{
    char path[LIST_BYTES], line[LIST_BYTES] = "";
    hwloc_bitmap_zero(out);
    snprintf(path, sizeof path, "%s/devices/%s/cpus", sysfs, pmu);
    FILE *file = fopen(path, "r");
    if (!file)
        return;
    if (!fgets(line, sizeof line, file) || hwloc_bitmap_list_sscanf(out, line) < 0 ||
        hwloc_bitmap_weight(out) < 0)
        hwloc_bitmap_zero(out);
    fclose(file);
}

/* cpu_lowpower comes last: where its PUs are in cpu_atom's list too, they are low-power ones. */
static bool read_sysfs(const char *sysfs, size_t n_types, enum ulb_core_type *types)
{
    static const struct {
        const char *pmu;
        enum ulb_core_type type;
    } pmus[] = {{"cpu_core", ULB_TYPE_PERFORMANCE},
                {"cpu_atom", ULB_TYPE_EFFICIENCY},
                {"cpu_lowpower", ULB_TYPE_LOW_POWER}};
    hwloc_bitmap_t pus = hwloc_bitmap_alloc();
    if (!pus)
        return false;
    for (size_t i = 0; i < sizeof pmus / sizeof *pmus; i++) {
        read_pmu_pus(sysfs, pmus[i].pmu, pus);
        for (int pu = hwloc_bitmap_first(pus); pu >= 0 && (size_t)pu < n_types;
             pu = hwloc_bitmap_next(pus, pu))
            types[pu] = pmus[i].type;
    }
    hwloc_bitmap_free(pus);
    return true;
}

/* Fastest type among the PUs of a core, as for hwloc's kinds. */
static enum ulb_core_type type_of_core(const struct ulb_core *core, const enum ulb_core_type *types)
{
    enum ulb_core_type found = ULB_TYPE_UNKNOWN;
    for (int pu = hwloc_bitmap_first(core->pus); pu >= 0; pu = hwloc_bitmap_next(core->pus, pu)) {
        if (types[pu] != ULB_TYPE_UNKNOWN && (found == ULB_TYPE_UNKNOWN || types[pu] < found))
            found = types[pu];
    }
    return found;
}

/* An efficiency core by one source and a low-power one by another is no contradiction. CPUID and old hwloc
 * know one type of Atom only, so that the more precise word stays. */
static bool refines(enum ulb_core_type a, enum ulb_core_type b)
{
    return (a == ULB_TYPE_EFFICIENCY && b == ULB_TYPE_LOW_POWER) ||
           (a == ULB_TYPE_LOW_POWER && b == ULB_TYPE_EFFICIENCY);
}

/* Takes over what a source says; PUs on which it overrules an earlier one are added to differ. */
static bool merge(struct ulb_cores *cores, const enum ulb_core_type *types, hwloc_bitmap_t differ)
{
    bool spoke = false;
    for (size_t i = 0; i < cores->n; i++) {
        struct ulb_core *core = &cores->items[i];
        enum ulb_core_type type = type_of_core(core, types);
        spoke = spoke || type != ULB_TYPE_UNKNOWN;
        if (type == ULB_TYPE_UNKNOWN || type == core->type)
            continue;
        if (refines(type, core->type)) {
            core->type = ULB_TYPE_LOW_POWER;
            continue;
        }
        if (core->type != ULB_TYPE_UNKNOWN)
            hwloc_bitmap_or(differ, differ, core->pus);
        core->type = type;
    }
    return spoke;
}

static void add_name(char *named, size_t named_bytes, const char *name)
{
    size_t used = strlen(named);
    snprintf(named + used, named_bytes - used, "%s%s", used ? ", " : "", name);
}

static void note_difference(struct ulb_topology *topology, hwloc_const_bitmap_t differ, const char *named)
{
    struct ulb_pu_list pus;
    char text[80];
    if (hwloc_bitmap_iszero(differ) || !ulb_pu_list_from_bitmap(&pus, differ))
        return;
    snprintf(topology->note, sizeof topology->note,
             "%s differ on the type of PU %s; the last named is believed", named,
             ulb_pu_list_text(&pus, text, sizeof text));
    ulb_pu_list_free(&pus);
}

enum ulb_status ulb_core_types_gather(hwloc_topology_t hw, const struct ulb_type_sources *sources,
                                      hwloc_const_bitmap_t allowed, struct ulb_cores *cores, char *named,
                                      size_t named_bytes, struct ulb_topology *topology,
                                      struct ulb_error *err)
{
    size_t n_types = (size_t)hwloc_bitmap_last(hwloc_topology_get_topology_cpuset(hw)) + 1;
    enum ulb_core_type *types = calloc(n_types, sizeof *types);
    hwloc_bitmap_t differ = hwloc_bitmap_alloc();
    enum ulb_status status = ULB_OK;
    bool good = types && differ;
    named[0] = '\0';
    for (size_t i = 0; i < cores->n && !named[0]; i++) {
        if (cores->items[i].type != ULB_TYPE_UNKNOWN)
            add_name(named, named_bytes, "hwloc CoreType");
    }
    if (good && sources->sysfs) {
        good = read_sysfs(sources->sysfs, n_types, types);
        if (good && merge(cores, types, differ))
            add_name(named, named_bytes, "sysfs PMUs");
    }
    if (good && sources->cpuid) {
        memset(types, 0, n_types * sizeof *types);
        status = sources->cpuid(hw, allowed, types, err);
        if (status == ULB_OK && merge(cores, types, differ))
            add_name(named, named_bytes, cpu_itself);
    }
    if (good)
        note_difference(topology, differ, named);
    else
        status = ulb_fail(err, ULB_ENVIRONMENT, "not enough memory for the core types");
    free(types);
    hwloc_bitmap_free(differ);
    return status;
}
