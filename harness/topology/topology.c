#include "harness/topology/topology_private.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static void lists_free(struct ulb_pu_list *lists, size_t n)
{
    for (size_t i = 0; lists && i < n; i++)
        ulb_pu_list_free(&lists[i]);
    free(lists);
}

static void class_free(struct ulb_core_class *class)
{
    ulb_pu_list_free(&class->pus);
    ulb_pu_list_free(&class->leaders);
    ulb_pu_list_free(&class->l3_pus);
    lists_free(class->smt_siblings, class->cores);
    lists_free(class->l2_clusters, class->n_l2_clusters);
    for (size_t i = 0; i < class->n_l3_caches; i++)
        ulb_pu_list_free(&class->l3_caches[i].pus);
    free(class->l3_caches);
}

void ulb_topology_free(struct ulb_topology *topology)
{
    for (size_t c = 0; c < topology->n_classes; c++)
        class_free(&topology->classes[c]);
    for (size_t i = 0; topology->numa && i < topology->numa_nodes; i++)
        ulb_pu_list_free(&topology->numa[i].pus);
    free(topology->numa);
    ulb_pu_list_free(&topology->all_pus);
    ulb_pu_list_free(&topology->allowed_pus);
    ulb_pu_list_free(&topology->offline_pus);
    *topology = (struct ulb_topology){0};
}

static enum ulb_status fill(hwloc_topology_t hw, const struct ulb_type_sources *sources,
                            hwloc_bitmap_t allowed, struct ulb_cores *cores, struct ulb_topology *topology,
                            struct ulb_error *err)
{
    char named[64];
    enum ulb_status status = ulb_allowed_pus(hw, allowed, err);
    if (status == ULB_OK)
        status = ulb_cores_collect(hw, cores, err);
    if (status == ULB_OK)
        status = ulb_core_types_gather(hw, sources, allowed, cores, named, sizeof named, topology, err);
    if (status != ULB_OK)
        return status;
    ulb_classify(cores, named, topology->how, sizeof topology->how);
    return ulb_describe(hw, cores, allowed, topology, err);
}

enum ulb_status ulb_topology_load_from(struct ulb_topology *topology, const struct ulb_type_sources *sources,
                                       struct ulb_error *err)
{
    static const struct ulb_type_sources of_this_system = {"/sys", ulb_cpuid_core_types}, none = {NULL, NULL};
    hwloc_topology_t hw = NULL;
    struct ulb_cores cores = {NULL, 0};
    *topology = (struct ulb_topology){0};
    enum ulb_status status = ulb_hwloc_open(&hw, err);
    if (status != ULB_OK)
        return status;
    hwloc_bitmap_t allowed = hwloc_bitmap_alloc();
    if (!sources)
        sources = hwloc_topology_is_thissystem(hw) ? &of_this_system : &none;
    status = allowed ? fill(hw, sources, allowed, &cores, topology, err)
                     : ulb_fail(err, ULB_ENVIRONMENT, "not enough memory for the topology");
    if (status != ULB_OK) {
        ulb_topology_free(topology);
    } else if (topology->this_system) {
        if (access("/sys/devices/system/cpu", F_OK) != 0 && !topology->note[0])
            snprintf(topology->note, sizeof topology->note,
                     "no CPUs in /sys: cores, caches and memory nodes are what CPUID tells");
        topology->isa = ulb_isa_detect();
        ulb_hypervisor_detect(topology->hypervisor, sizeof topology->hypervisor);
    }
    ulb_cores_free(&cores);
    hwloc_bitmap_free(allowed);
    hwloc_topology_destroy(hw);
    return status;
}

enum ulb_status ulb_topology_load(struct ulb_topology *topology, struct ulb_error *err)
{
    return ulb_topology_load_from(topology, NULL, err);
}
