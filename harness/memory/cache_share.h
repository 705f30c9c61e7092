/* How much of each cache level a thread of a team can have to itself. */
#ifndef ULB_HARNESS_MEMORY_CACHE_SHARE_H
#define ULB_HARNESS_MEMORY_CACHE_SHARE_H

#include "harness/topology/topology.h"

#include <stddef.h>

enum ulb_cache_level { ULB_L1, ULB_L2, ULB_LLC, ULB_CACHE_LEVELS };

/* "L1", "L2", "LLC" */
const char *ulb_cache_level_name(enum ulb_cache_level level);

/* Bytes of the buffer that each of n threads, on these PUs, reads to measure a level. It is half of the
 * thread's share of the cache that most of them share, so that all buffers together stay in it. For the LLC
 * it is at most four times the thread's share of L2. Below twice that share it would be L2 that is measured.
 * The least over the classes that the PUs are of. 0: a class lacks the level, its size is unknown, or its
 * share is too small. */
void ulb_cache_levels(const struct ulb_topology *topology, const unsigned *pus, size_t n,
                      size_t bytes[ULB_CACHE_LEVELS]);

#endif
