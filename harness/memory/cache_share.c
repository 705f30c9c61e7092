#include "harness/memory/cache_share.h"

#include <stdbool.h>

const char *ulb_cache_level_name(enum ulb_cache_level level)
{
    static const char *const names[ULB_CACHE_LEVELS] = {"L1", "L2", "LLC"};
    return names[level];
}

/* How many of the PUs are in the list. */
static size_t members(const struct ulb_pu_list *list, const unsigned *pus, size_t n)
{
    size_t in = 0;
    for (size_t i = 0; i < n; i++)
        in += ulb_pu_list_has(list, pus[i]);
    return in;
}

/* The most of the PUs that share one of the caches; 1 where sharing is unknown. */
static size_t most_sharing(const struct ulb_pu_list *caches, size_t n_caches, const unsigned *pus, size_t n)
{
    size_t most = 1;
    for (size_t i = 0; i < n_caches; i++) {
        size_t in = members(&caches[i], pus, n);
        most = in > most ? in : most;
    }
    return most;
}

/* The least share of an L3 that PUs of the class have. Other classes' PUs that have an L3 at all are taken to
 * have the same. */
static size_t llc_share(const struct ulb_topology *topology, const struct ulb_core_class *cls,
                        const unsigned *pus, size_t n)
{
    size_t others = 0, least = 0;
    for (size_t c = 0; c < topology->n_classes; c++) {
        if (&topology->classes[c] != cls)
            others += members(&topology->classes[c].l3_pus, pus, n);
    }
    if (members(&cls->l3_pus, pus, n) < members(&cls->pus, pus, n))
        return 0;
    for (size_t i = 0; i < cls->n_l3_caches; i++) {
        size_t in = members(&cls->l3_caches[i].pus, pus, n);
        size_t share = in ? cls->l3_caches[i].bytes / (in + others) : 0;
        if (in && (least == 0 || share < least))
            least = share;
    }
    return least;
}

void ulb_cache_levels(const struct ulb_topology *topology, const unsigned *pus, size_t n,
                      size_t bytes[ULB_CACHE_LEVELS])
{
    size_t largest_l2 = 0;
    bool first = true;
    for (size_t level = 0; level < ULB_CACHE_LEVELS; level++)
        bytes[level] = 0;
    for (size_t c = 0; c < topology->n_classes; c++) {
        const struct ulb_core_class *cls = &topology->classes[c];
        if (members(&cls->pus, pus, n) == 0)
            continue;
        size_t shares[ULB_CACHE_LEVELS] = {
            cls->l1d_bytes / most_sharing(cls->smt_siblings, cls->cores, pus, n),
            cls->l2_bytes / most_sharing(cls->l2_clusters, cls->n_l2_clusters, pus, n),
            llc_share(topology, cls, pus, n),
        };
        largest_l2 = shares[ULB_L2] > largest_l2 ? shares[ULB_L2] : largest_l2;
        for (size_t level = 0; level < ULB_CACHE_LEVELS; level++)
            bytes[level] = first || shares[level] / 2 < bytes[level] ? shares[level] / 2 : bytes[level];
        first = false;
    }
    if (bytes[ULB_LLC] > 4 * largest_l2)
        bytes[ULB_LLC] = 4 * largest_l2;
    if (bytes[ULB_LLC] < 2 * largest_l2)
        bytes[ULB_LLC] = 0;
}
