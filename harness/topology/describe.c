/* From classified cores to struct ulb_topology. */
#include "harness/topology/topology_private.h"

#include "common/text.h"

#include "common/emulation.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *const rank_names[ULB_RANK_COUNT] = {"P", "E", "LP-E"};

/* Lists of the objects of a type that have PUs in set, each cut down to set. False when out of memory. */
static bool object_lists(hwloc_topology_t hw, hwloc_obj_type_t type, hwloc_const_bitmap_t set,
                         struct ulb_pu_list **lists, size_t *n)
{
    int total = hwloc_get_nbobjs_by_type(hw, type);
    hwloc_bitmap_t part = hwloc_bitmap_alloc();
    *n = 0;
    *lists = calloc(total > 0 ? (size_t)total : 1, sizeof **lists);
    bool good = *lists && part;
    for (hwloc_obj_t object = NULL; good && (object = hwloc_get_next_obj_by_type(hw, type, object));) {
        good = hwloc_bitmap_and(part, object->cpuset, set) == 0;
        if (good && !hwloc_bitmap_iszero(part))
            good = ulb_pu_list_from_bitmap(&(*lists)[(*n)++], part);
    }
    hwloc_bitmap_free(part);
    return good;
}

static bool list_cores(const struct ulb_cores *cores, enum ulb_rank rank, hwloc_const_bitmap_t allowed,
                       struct ulb_core_class *class, hwloc_bitmap_t set)
{
    hwloc_bitmap_t leaders = hwloc_bitmap_alloc(), usable = hwloc_bitmap_alloc();
    class->smt_siblings = calloc(cores->n, sizeof *class->smt_siblings);
    bool good = leaders && usable && class->smt_siblings;
    for (size_t i = 0; good && i < cores->n; i++) {
        const struct ulb_core *core = &cores->items[i];
        if (core->rank != rank)
            continue;
        struct ulb_pu_list *siblings = &class->smt_siblings[class->cores++];
        good = ulb_pu_list_from_bitmap(siblings, core->pus) && hwloc_bitmap_or(set, set, core->pus) == 0 &&
               hwloc_bitmap_and(usable, core->pus, allowed) == 0;
        if (!good)
            break;
        class->smt = siblings->n > class->smt ? (unsigned)siblings->n : class->smt;
        if (!hwloc_bitmap_iszero(usable))
            good = hwloc_bitmap_set(leaders, (unsigned)hwloc_bitmap_first(usable)) == 0;
    }
    good = good && ulb_pu_list_from_bitmap(&class->pus, set) &&
           ulb_pu_list_from_bitmap(&class->leaders, leaders);
    hwloc_bitmap_free(leaders);
    hwloc_bitmap_free(usable);
    return good;
}

static size_t largest_cache(hwloc_topology_t hw, hwloc_obj_type_t type, hwloc_const_bitmap_t set)
{
    size_t largest = 0;
    for (hwloc_obj_t cache = NULL; (cache = hwloc_get_next_obj_by_type(hw, type, cache));) {
        size_t bytes = (size_t)cache->attr->cache.size;
        if (bytes > largest && hwloc_bitmap_intersects(cache->cpuset, set))
            largest = bytes;
    }
    return largest;
}

static bool list_l3(hwloc_topology_t hw, hwloc_const_bitmap_t set, struct ulb_core_class *class)
{
    int total = hwloc_get_nbobjs_by_type(hw, HWLOC_OBJ_L3CACHE);
    hwloc_bitmap_t under = hwloc_bitmap_alloc(), part = hwloc_bitmap_alloc();
    class->l3_caches = calloc(total > 0 ? (size_t)total : 1, sizeof *class->l3_caches);
    bool good = under && part && class->l3_caches;
    for (hwloc_obj_t l3 = NULL; good && (l3 = hwloc_get_next_obj_by_type(hw, HWLOC_OBJ_L3CACHE, l3));) {
        good = hwloc_bitmap_and(part, l3->cpuset, set) == 0 && hwloc_bitmap_or(under, under, part) == 0;
        if (!good || hwloc_bitmap_iszero(part))
            continue;
        struct ulb_cache_share *share = &class->l3_caches[class->n_l3_caches++];
        share->bytes = (size_t)l3->attr->cache.size;
        good = ulb_pu_list_from_bitmap(&share->pus, part);
    }
    good = good && ulb_pu_list_from_bitmap(&class->l3_pus, under);
    hwloc_bitmap_free(under);
    hwloc_bitmap_free(part);
    return good;
}

static bool describe_class(hwloc_topology_t hw, const struct ulb_cores *cores, enum ulb_rank rank,
                           hwloc_const_bitmap_t allowed, struct ulb_core_class *class)
{
    hwloc_bitmap_t set = hwloc_bitmap_alloc();
    bool good = set && list_cores(cores, rank, allowed, class, set) &&
                object_lists(hw, HWLOC_OBJ_L2CACHE, set, &class->l2_clusters, &class->n_l2_clusters) &&
                list_l3(hw, set, class);
    if (good) {
        class->l1d_bytes = largest_cache(hw, HWLOC_OBJ_L1CACHE, set);
        class->l2_bytes = largest_cache(hw, HWLOC_OBJ_L2CACHE, set);
        class->l3_bytes = largest_cache(hw, HWLOC_OBJ_L3CACHE, set);
    }
    hwloc_bitmap_free(set);
    return good;
}

static bool describe_classes(hwloc_topology_t hw, const struct ulb_cores *cores, hwloc_const_bitmap_t allowed,
                             struct ulb_topology *topology)
{
    bool present[ULB_RANK_COUNT] = {false};
    for (size_t i = 0; i < cores->n; i++)
        present[cores->items[i].rank] = true;
    for (enum ulb_rank rank = ULB_RANK_P; rank < ULB_RANK_COUNT; rank++) {
        if (!present[rank])
            continue;
        struct ulb_core_class *class = &topology->classes[topology->n_classes++];
        snprintf(class->name, sizeof class->name, "%s", rank_names[rank]);
        if (!describe_class(hw, cores, rank, allowed, class))
            return false;
    }
    topology->hybrid = topology->n_classes > 1;
    if (!topology->hybrid)
        snprintf(topology->classes[0].name, sizeof topology->classes[0].name, "core");
    return true;
}

static bool describe_numa(hwloc_topology_t hw, hwloc_const_bitmap_t all, struct ulb_topology *topology)
{
    int total = hwloc_get_nbobjs_by_type(hw, HWLOC_OBJ_NUMANODE);
    hwloc_bitmap_t pus = hwloc_bitmap_alloc();
    topology->numa = calloc(total > 0 ? (size_t)total : 1, sizeof *topology->numa);
    bool good = topology->numa && pus;
    for (hwloc_obj_t node = NULL;
         good && (node = hwloc_get_next_obj_by_type(hw, HWLOC_OBJ_NUMANODE, node));) {
        struct ulb_numa_node *out = &topology->numa[topology->numa_nodes++];
        out->node = node->os_index;
        out->memory_bytes = (size_t)node->attr->numanode.local_memory;
        good = hwloc_bitmap_and(pus, node->cpuset, all) == 0 && ulb_pu_list_from_bitmap(&out->pus, pus);
    }
    hwloc_bitmap_free(pus);
    return good;
}

static hwloc_obj_t last_level_cache(hwloc_obj_t pu)
{
    hwloc_obj_t last = NULL;
    for (hwloc_obj_t at = pu; at; at = at->parent) {
        if (hwloc_obj_type_is_dcache(at->type) && at->attr->cache.size)
            last = at;
    }
    return last;
}

/* A cache is counted at the first allowed PU under it. */
static size_t llc_bytes(hwloc_topology_t hw, hwloc_const_bitmap_t allowed)
{
    size_t sum = 0;
    for (hwloc_obj_t pu = NULL; (pu = hwloc_get_next_obj_by_type(hw, HWLOC_OBJ_PU, pu));) {
        if (!hwloc_bitmap_isset(allowed, pu->os_index))
            continue;
        hwloc_obj_t cache = last_level_cache(pu), first = NULL;
        while (cache &&
               (first = hwloc_get_next_obj_inside_cpuset_by_type(hw, cache->cpuset, HWLOC_OBJ_PU, first))) {
            if (hwloc_bitmap_isset(allowed, first->os_index))
                break;
        }
        if (cache && first == pu)
            sum += (size_t)cache->attr->cache.size;
    }
    return sum;
}

/* Without the blanks that some CPUs pad their names with. */
static void copy_model(hwloc_topology_t hw, char *out, size_t out_bytes)
{
    hwloc_obj_t package = hwloc_get_obj_by_type(hw, HWLOC_OBJ_PACKAGE, 0);
    const char *model = package ? hwloc_obj_get_info_by_name(package, "CPUModel") : NULL;
    if (!model)
        model = hwloc_obj_get_info_by_name(hwloc_get_root_obj(hw), "CPUModel");
    snprintf(out, out_bytes, "%s", model ? model + strspn(model, " ") : "");
    for (size_t length = strlen(out); length > 0 && out[length - 1] == ' '; length--)
        out[length - 1] = '\0';
    ulb_text_printable(out); /* an XML file says what it likes */
}

/* The running system's own figure. hwloc sums up the nodes', which leave out memory that was plugged in later
 * and are 0 if sysfs cannot be read. */
static void set_memory(struct ulb_topology *topology)
{
    long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
    if (pages <= 0 || page <= 0)
        return;
    topology->memory_bytes = (size_t)pages * (size_t)page;
    if (topology->numa_nodes == 1)
        topology->numa[0].memory_bytes = topology->memory_bytes;
}

static bool describe_machine(hwloc_topology_t hw, hwloc_const_bitmap_t allowed, struct ulb_topology *topology)
{
    hwloc_const_bitmap_t all = hwloc_topology_get_topology_cpuset(hw);
    hwloc_bitmap_t offline = hwloc_bitmap_alloc();
    bool good = offline && hwloc_bitmap_andnot(offline, hwloc_topology_get_complete_cpuset(hw), all) == 0 &&
                ulb_pu_list_from_bitmap(&topology->offline_pus, offline) &&
                ulb_pu_list_from_bitmap(&topology->all_pus, all) &&
                ulb_pu_list_from_bitmap(&topology->allowed_pus, allowed) && describe_numa(hw, all, topology);
    hwloc_bitmap_free(offline);
    int packages = hwloc_get_nbobjs_by_type(hw, HWLOC_OBJ_PACKAGE);
    topology->packages = packages > 0 ? (unsigned)packages : 0;
    topology->llc_bytes = llc_bytes(hw, allowed);
    topology->memory_bytes = (size_t)hwloc_get_root_obj(hw)->total_memory;
    topology->this_system = hwloc_topology_is_thissystem(hw) != 0;
    if (topology->this_system)
        set_memory(topology);
    const char *emulator = topology->this_system ? ulb_emulator() : NULL;
    if (emulator)
        snprintf(topology->cpu_model, sizeof topology->cpu_model, "emulated by %.40s", emulator);
    else
        copy_model(hw, topology->cpu_model, sizeof topology->cpu_model);
    return good;
}

enum ulb_status ulb_describe(hwloc_topology_t hw, const struct ulb_cores *cores, hwloc_const_bitmap_t allowed,
                             struct ulb_topology *topology, struct ulb_error *err)
{
    if (!describe_machine(hw, allowed, topology) || !describe_classes(hw, cores, allowed, topology))
        return ulb_fail(err, ULB_ENVIRONMENT, "not enough memory for the topology's lists");
    return ULB_OK;
}
