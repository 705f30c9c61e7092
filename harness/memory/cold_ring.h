/* The cold-weights ring: one large mapping through which all cold measurements move together.
 *
 * Each sample takes the next piece of the ring. Between two readings of the same bytes the whole ring has
 * been read, by whatever kernel or reader. Its `max(2 GiB, 4 * LLC)` bytes leave nothing of a piece in any
 * cache (XNNPACK's benchmarks rotate buffers for the same reason). A position for each cell would not do:
 * cells of equal size would follow one another over the same bytes.
 *
 * The mapping is filled with random bits that are valid weights of every format. Each 16-bit half is a
 * bfloat16 of magnitude 0.75 to 1. As integers these are codes like any others. As half and single precision
 * scales they are normal numbers. As an exponent (MXFP4) every byte is one of -65 to 63. So no denormal slows
 * a kernel. */
#ifndef ULB_HARNESS_MEMORY_COLD_RING_H
#define ULB_HARNESS_MEMORY_COLD_RING_H

#include "common/mem.h"
#include "common/status.h"
#include "harness/threads/team.h"

struct ulb_arena {
    struct ulb_pages pages;
    size_t ring_bytes;    /* the least that a ring must hold */
    long long huge_bytes; /* of the mapping backed by huge pages; -1 unknown */
    size_t position;      /* of the walk */
};

/* What runs right before a sample of memory, untimed. Memory that nobody has read for some 20 us is idle and
 * reads slowly for 50 to 65 us, however much is read (docs/measurements/memory.md). The interference checks
 * between samples take longer than that. An engine issues its next product within a few us. */
enum { ULB_WARM_UP_BYTES = 1 << 20 }; /* that a thread reads at a time */
static const double ULB_WARM_UP_SECONDS = 100e-6;

/* max(2 GiB, 4 x LLC). */
size_t ulb_arena_ring_bytes(size_t llc_bytes);

/* Memory that must be free for ulb_arena_open(). */
size_t ulb_arena_needs(size_t ring_bytes, size_t largest_copy);

/* Maps ring_bytes plus room for the largest copy, and fills it with the team (first touch). ULB_ENVIRONMENT
 * when memory is short: the message states what is needed, what there is, and the option that makes the ring
 * smaller. */
enum ulb_status ulb_arena_open(struct ulb_arena *arena, size_t ring_bytes, size_t largest_copy,
                               enum ulb_page_kind kind, struct ulb_team *team, struct ulb_error *err);
void ulb_arena_close(struct ulb_arena *arena);

/* The next piece of the ring: bytes (at most the mapping's) at a multiple of alignment. That is a power of
 * two of at least a cache line. */
void *ulb_arena_next(struct ulb_arena *arena, size_t bytes, size_t alignment);

#endif
