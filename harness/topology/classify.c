/* From facts to classes.
 *
 * hwloc's CPU kinds are not core classes: turbo differences make up to nine of them on a homogeneous chip,
 * and two classes may share one. The first evidence counts that covers every core and splits them:
 * - core type (hwloc, sysfs, CPUID);
 * - sizes of L1d and L2;
 * - capacity, only across a gap of more than MIN_GAP;
 * - maximum frequency, only across such a gap.
 * Base frequency is no evidence: Intel SST-BF raises it on cores of the same kind. Nor is the L3: AMD's X3D
 * parts stack it on one die of two. Nor is hwloc's efficiency: it is an order of kinds, without a distance.
 */
#include "harness/topology/topology_private.h"

#include <stdio.h>
#include <string.h>

static const double MIN_GAP = 1.2;

/* <0 when a is slower than b, 0 when this evidence does not tell them apart. */
typedef int compare_cores(const struct ulb_cores *cores, const struct ulb_core *a, const struct ulb_core *b);
typedef bool cores_apart(const struct ulb_core *fast, const struct ulb_core *slow);

static int compare(unsigned long a, unsigned long b)
{
    return (a > b) - (a < b);
}

static int by_capacity(const struct ulb_cores *cores, const struct ulb_core *a, const struct ulb_core *b)
{
    (void)cores;
    return compare(a->capacity, b->capacity);
}

static int by_frequency(const struct ulb_cores *cores, const struct ulb_core *a, const struct ulb_core *b)
{
    (void)cores;
    return compare(a->max_mhz, b->max_mhz);
}

static bool same_caches(const struct ulb_core *a, const struct ulb_core *b)
{
    return a->l1d_bytes == b->l1d_bytes && a->l2_bytes == b->l2_bytes;
}

static struct ulb_core fastest_alike(const struct ulb_cores *cores, const struct ulb_core *core)
{
    struct ulb_core best = *core;
    for (size_t i = 0; i < cores->n; i++) {
        const struct ulb_core *other = &cores->items[i];
        if (!same_caches(other, core))
            continue;
        best.capacity = other->capacity > best.capacity ? other->capacity : best.capacity;
        best.max_mhz = other->max_mhz > best.max_mhz ? other->max_mhz : best.max_mhz;
    }
    return best;
}

/* Cores with the same caches are one group. Between groups speed decides if it is known, then the larger L1d,
 * then the larger L2. An E cluster's shared L2 may be larger than a P core's own. */
static int by_caches(const struct ulb_cores *cores, const struct ulb_core *a, const struct ulb_core *b)
{
    if (same_caches(a, b))
        return 0;
    struct ulb_core x = fastest_alike(cores, a), y = fastest_alike(cores, b);
    int order = compare(x.capacity, y.capacity);
    order = order ? order : compare(x.max_mhz, y.max_mhz);
    order = order ? order : compare(x.l1d_bytes, y.l1d_bytes);
    return order ? order : compare(x.l2_bytes, y.l2_bytes);
}

static bool capacity_apart(const struct ulb_core *fast, const struct ulb_core *slow)
{
    return (double)fast->capacity > MIN_GAP * (double)slow->capacity;
}

static bool frequency_apart(const struct ulb_core *fast, const struct ulb_core *slow)
{
    return (double)fast->max_mhz > MIN_GAP * (double)slow->max_mhz;
}

static bool always_apart(const struct ulb_core *fast, const struct ulb_core *slow)
{
    (void)fast, (void)slow;
    return true;
}

/* Fastest core that is slower than limit; with limit NULL, the fastest of all. */
static const struct ulb_core *next_slower(const struct ulb_cores *cores, compare_cores *order,
                                          const struct ulb_core *limit)
{
    const struct ulb_core *best = NULL;
    for (size_t i = 0; i < cores->n; i++) {
        const struct ulb_core *core = &cores->items[i];
        if ((!limit || order(cores, core, limit) < 0) && (!best || order(cores, core, best) > 0))
            best = core;
    }
    return best;
}

/* Goes down the levels of an order and starts a new rank at each gap; more than three groups end in the last
 * rank. True when there is more than one. */
static bool rank_cores(struct ulb_cores *cores, compare_cores *order, cores_apart *apart)
{
    unsigned rank = ULB_RANK_P;
    const struct ulb_core *level = next_slower(cores, order, NULL);
    while (level) {
        for (size_t i = 0; i < cores->n; i++) {
            if (order(cores, &cores->items[i], level) == 0)
                cores->items[i].rank = (enum ulb_rank)rank;
        }
        const struct ulb_core *below = next_slower(cores, order, level);
        if (below && rank < ULB_RANK_LPE && apart(level, below))
            rank++;
        level = below;
    }
    return rank > ULB_RANK_P;
}

/* A core that no source typed gets the type of the cores with the same caches, if these agree. */
static void spread_types(struct ulb_cores *cores)
{
    for (size_t i = 0; i < cores->n; i++) {
        struct ulb_core *core = &cores->items[i];
        if (core->type != ULB_TYPE_UNKNOWN || !core->l1d_bytes)
            continue;
        enum ulb_core_type found = ULB_TYPE_UNKNOWN;
        bool agree = true;
        for (size_t k = 0; k < cores->n; k++) {
            const struct ulb_core *other = &cores->items[k];
            if (other->type == ULB_TYPE_UNKNOWN || !same_caches(core, other))
                continue;
            agree = agree && (found == ULB_TYPE_UNKNOWN || found == other->type);
            found = other->type;
        }
        if (agree)
            core->type = found;
    }
}

/* True when every core has a type: then the types are believed also where they are all the same. */
static bool rank_by_type(struct ulb_cores *cores)
{
    spread_types(cores);
    for (size_t i = 0; i < cores->n; i++) {
        if (cores->items[i].type == ULB_TYPE_UNKNOWN)
            return false;
        cores->items[i].rank = (enum ulb_rank)(cores->items[i].type - ULB_TYPE_PERFORMANCE);
    }
    return true;
}

static const char *rank_by_figures(struct ulb_cores *cores)
{
    bool caches = true, capacity = true, frequency = true;
    for (size_t i = 0; i < cores->n; i++) {
        const struct ulb_core *core = &cores->items[i];
        caches = caches && core->l1d_bytes && core->l2_bytes;
        capacity = capacity && core->capacity;
        frequency = frequency && core->max_mhz;
    }
    if (caches && rank_cores(cores, by_caches, always_apart))
        return "sizes of L1d and L2";
    if (capacity && rank_cores(cores, by_capacity, capacity_apart))
        return "core capacity";
    if (frequency && rank_cores(cores, by_frequency, frequency_apart))
        return "maximum frequency";
    for (size_t i = 0; i < cores->n; i++)
        cores->items[i].rank = ULB_RANK_P;
    return NULL;
}

/* An efficiency core outside the L3 that others have is an LP-E core (hwloc says so from 2.13 on only). */
static bool demote_without_l3(struct ulb_cores *cores)
{
    bool any_l3 = false, found = false;
    for (size_t i = 0; i < cores->n; i++)
        any_l3 = any_l3 || cores->items[i].has_l3;
    for (size_t i = 0; any_l3 && i < cores->n; i++) {
        struct ulb_core *core = &cores->items[i];
        if (core->rank == ULB_RANK_E && !core->has_l3) {
            core->rank = ULB_RANK_LPE;
            found = true;
        }
    }
    return found;
}

/* Without any L3 to tell, typed efficiency cores are split where their frequency is. */
static bool demote_by_frequency(struct ulb_cores *cores)
{
    unsigned long fastest = 0;
    for (size_t i = 0; i < cores->n; i++) {
        const struct ulb_core *core = &cores->items[i];
        if (core->has_l3 || core->rank == ULB_RANK_LPE || !core->max_mhz)
            return false;
        if (core->rank == ULB_RANK_E && core->max_mhz > fastest)
            fastest = core->max_mhz;
    }
    bool found = false;
    for (size_t i = 0; i < cores->n; i++) {
        struct ulb_core *core = &cores->items[i];
        if (core->rank == ULB_RANK_E && (double)fastest > MIN_GAP * (double)core->max_mhz) {
            core->rank = ULB_RANK_LPE;
            found = true;
        }
    }
    return found;
}

static bool one_rank(const struct ulb_cores *cores)
{
    for (size_t i = 1; i < cores->n; i++) {
        if (cores->items[i].rank != cores->items[0].rank)
            return false;
    }
    return true;
}

void ulb_classify(struct ulb_cores *cores, const char *named, char *how, size_t how_bytes)
{
    bool typed = rank_by_type(cores);
    const char *evidence = typed ? named : rank_by_figures(cores);
    bool by_l3 = demote_without_l3(cores);
    bool by_speed = !by_l3 && typed && demote_by_frequency(cores);
    if (one_rank(cores))
        snprintf(how, how_bytes, "%s%s", typed ? "one core type by " : "no sign of more than one class",
                 typed ? named : "");
    else
        snprintf(how, how_bytes, "%s%s", evidence,
                 by_l3      ? ", no L3 above LP-E"
                 : by_speed ? ", maximum frequency of LP-E"
                            : "");
}
