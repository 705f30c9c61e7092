/* What the parts of the topology layer share: the facts about each core before it has a class.
 *
 * discover.c asks hwloc. core_type.c and cpuid.c ask what hwloc may not know. classify.c decides from the
 * facts alone. describe.c turns the decision into struct ulb_topology. */
#ifndef ULB_HARNESS_TOPOLOGY_TOPOLOGY_PRIVATE_H
#define ULB_HARNESS_TOPOLOGY_TOPOLOGY_PRIVATE_H

#include "harness/topology/topology.h"

#include <hwloc.h>

/* What the system or the CPU itself says of a core; ordered, faster first. */
enum ulb_core_type { ULB_TYPE_UNKNOWN, ULB_TYPE_PERFORMANCE, ULB_TYPE_EFFICIENCY, ULB_TYPE_LOW_POWER };

/* Class of a core, also its place in the order of classes. */
enum ulb_rank { ULB_RANK_P, ULB_RANK_E, ULB_RANK_LPE, ULB_RANK_COUNT };

struct ulb_core {
    hwloc_bitmap_t pus;
    enum ulb_core_type type;
    unsigned long capacity,
        max_mhz;                /* largest over its PUs (a kind may cut through a core); 0 when unknown */
    size_t l1d_bytes, l2_bytes; /* 0 when unknown */
    bool has_l3;
    enum ulb_rank rank; /* set by ulb_classify */
};

struct ulb_cores {
    struct ulb_core *items;
    size_t n;
};

/* Where core types come from besides hwloc. */
struct ulb_type_sources {
    const char *sysfs; /* root that holds devices/cpu_core/cpus; NULL: not asked */
    /* Fills types[pu] for the allowed PUs whose type the CPU itself tells; NULL: not asked. */
    enum ulb_status (*cpuid)(hwloc_topology_t hw, hwloc_const_bitmap_t allowed, enum ulb_core_type *types,
                             struct ulb_error *err);
};

/* ulb_topology_load with its sources in the caller's hand. sources NULL: those of this system, or none when
 * the topology is replayed. */
enum ulb_status ulb_topology_load_from(struct ulb_topology *topology, const struct ulb_type_sources *sources,
                                       struct ulb_error *err);

/* discover.c */
enum ulb_status ulb_hwloc_open(hwloc_topology_t *hw, struct ulb_error *err);
enum ulb_status ulb_allowed_pus(hwloc_topology_t hw, hwloc_bitmap_t allowed, struct ulb_error *err);
enum ulb_status ulb_cores_collect(hwloc_topology_t hw, struct ulb_cores *cores, struct ulb_error *err);
void ulb_cores_free(struct ulb_cores *cores);

/* core_type.c: sets the type of every core that a source knows. CPUID is believed before sysfs, sysfs before
 * hwloc; named names those that spoke, topology->note the PUs on which they differ. */
enum ulb_status ulb_core_types_gather(hwloc_topology_t hw, const struct ulb_type_sources *sources,
                                      hwloc_const_bitmap_t allowed, struct ulb_cores *cores, char *named,
                                      size_t named_bytes, struct ulb_topology *topology,
                                      struct ulb_error *err);

/* cpuid.c: ulb_pinned_core_types calls read on each allowed PU, unless the first answer is UNKNOWN, and puts
 * the thread's affinity back. A PU that cannot be pinned stays UNKNOWN. */
enum ulb_status ulb_pinned_core_types(hwloc_topology_t hw, hwloc_const_bitmap_t allowed,
                                      enum ulb_core_type (*read)(void), enum ulb_core_type *types,
                                      struct ulb_error *err);
enum ulb_status ulb_cpuid_core_types(hwloc_topology_t hw, hwloc_const_bitmap_t allowed,
                                     enum ulb_core_type *types, struct ulb_error *err);
/* Core types by MIDR_EL1: the fastest kind of core present is the performance one, then efficiency, then low
 * power. All UNKNOWN where there is but one kind, or one that is not known. */
void ulb_midr_core_types(const struct ulb_cpu_signature *cpus, size_t n, enum ulb_core_type *types);
enum ulb_core_type ulb_intel_core_type(uint32_t leaf7_edx, uint32_t leaf1a_eax);
enum ulb_core_type ulb_amd_core_type(uint32_t leaf26_eax, uint32_t leaf26_ebx);
const char *ulb_hypervisor_name(const char *vendor, char *out, size_t out_bytes);
void ulb_hypervisor_detect(char *out, size_t out_bytes);

/* classify.c: sets rank of every core, writes what distinguishes the classes into how. named names the
 * sources of the core types. */
void ulb_classify(struct ulb_cores *cores, const char *named, char *how, size_t how_bytes);

/* describe.c */
enum ulb_status ulb_describe(hwloc_topology_t hw, const struct ulb_cores *cores, hwloc_const_bitmap_t allowed,
                             struct ulb_topology *topology, struct ulb_error *err);

/* pu_list.c */
bool ulb_pu_list_from_bitmap(struct ulb_pu_list *list, hwloc_const_bitmap_t set);

#endif
