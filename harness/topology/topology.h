/* The machine as this suite sees it: core classes, who shares what, and which PUs may be used. */
#ifndef ULB_HARNESS_TOPOLOGY_H
#define ULB_HARNESS_TOPOLOGY_H

#include "common/isa.h"
#include "common/status.h"
#include "models/models.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

/* A list of PU numbers (Linux numbering), ascending. */
struct ulb_pu_list {
    unsigned *items;
    size_t n;
};

/* PUs of a class under one cache. */
struct ulb_cache_share {
    struct ulb_pu_list pus;
    size_t bytes; /* of the cache; 0 when unknown */
};

struct ulb_core_class {
    char name[8];           /* "P", "E", "LP-E"; "core" on a homogeneous machine */
    struct ulb_pu_list pus; /* every PU of the class, SMT siblings included, also those not allowed */
    struct ulb_pu_list
        leaders; /* one PU per core: the lowest-numbered allowed one; cores without any left out */
    unsigned cores;
    unsigned smt;                     /* hardware threads per core, the largest in the class */
    struct ulb_pu_list *smt_siblings; /* PUs of each core, `cores` lists */
    struct ulb_pu_list *l2_clusters;  /* PUs that share an L2 */
    size_t n_l2_clusters;
    struct ulb_pu_list l3_pus;         /* PUs of the class that have an L3 above them */
    struct ulb_cache_share *l3_caches; /* each of those L3s */
    size_t n_l3_caches;
    size_t l1d_bytes, l2_bytes, l3_bytes; /* of one cache, the largest in the class; 0 when unknown */
};

struct ulb_numa_node {
    unsigned node; /* Linux number */
    struct ulb_pu_list pus;
    size_t memory_bytes; /* 0 when unknown */
};

struct ulb_topology {
    bool hybrid;
    bool this_system; /* false when replayed from HWLOC_XMLFILE: nothing may be pinned */
    size_t n_classes; /* at most ULB_MAX_CLASSES; order P, E, LP-E */
    struct ulb_core_class classes[ULB_MAX_CLASSES];
    struct ulb_pu_list all_pus, allowed_pus;
    struct ulb_pu_list offline_pus; /* the machine has them, the system has switched them off */
    unsigned packages;
    unsigned numa_nodes;
    struct ulb_numa_node *numa; /* numa_nodes of them */
    size_t llc_bytes;           /* sum over distinct last-level caches of the allowed PUs; 0 when unknown */
    size_t memory_bytes;
    char cpu_model[64];
    char hypervisor[32]; /* "" when none */
    ulb_isa_set isa;     /* of the running CPU; 0 when replayed */
    char how[96];        /* what distinguishes the classes: "hwloc CoreType, no L3 above LP-E" */
    char note[192];      /* sources that contradict each other; "" when none */
};

/* Discovers this machine, or loads what HWLOC_XMLFILE names. ULB_BAD_INPUT for a broken or unsupported XML,
 * ULB_ENVIRONMENT when no PU may be used. On failure nothing is left to free. */
enum ulb_status ulb_topology_load(struct ulb_topology *topology, struct ulb_error *err);
void ulb_topology_free(struct ulb_topology *topology);

/* The JSON of `ulb-bench topology --json`, also the record's "topology"; NULL when out of memory. */
json_t *ulb_topology_json(const struct ulb_topology *topology);

/* Resolves a set: a class name, "all", a PU list such as "0-3,8", or several of these such as "P,LP-E" and
 * "P,8-9". Names give one PU per core; lists are taken literally. "all" is every class, less LP-E if the
 * machine has plain E cores that may be used. LP-E cores are then a third tier behind another path to memory.
 * On a chip without E (Lunar Lake) they are what everyone calls its E cores. Only allowed PUs; ULB_BAD_INPUT
 * names the unknown class or the PU that may not be used. out is ascending and freed by ulb_pu_list_free. */
enum ulb_status ulb_topology_select(const struct ulb_topology *topology, const char *set,
                                    struct ulb_pu_list *out, struct ulb_error *err);

/* Whether "all" leaves LP-E cores out; *pus borrows one PU of each. */
bool ulb_topology_left_out(const struct ulb_topology *topology, struct ulb_pu_list *pus);

/* The PUs of a core of which the set holds more than one; NULL when no core is shared. */
const struct ulb_pu_list *ulb_topology_shared_core(const struct ulb_topology *topology,
                                                   const struct ulb_pu_list *pus);

void ulb_pu_list_free(struct ulb_pu_list *list);

bool ulb_pu_list_has(const struct ulb_pu_list *list, unsigned pu);

/* Writes a list as ranges, "0-3,8", always terminated; one too long for out ends in "...". Returns out. */
char *ulb_pu_list_text(const struct ulb_pu_list *list, char *out, size_t out_bytes);

/* Class of a PU, or NULL. */
const struct ulb_core_class *ulb_topology_class_of(const struct ulb_topology *topology, unsigned pu);

/* The variable that has hwloc describe another machine than this one. */
const char *ulb_topology_variable(void);

#endif
