/* The cold-weights ring: one large mapping that all cold measurements walk together.
 *
 * Whoever measures takes the next piece of the ring, so that between two readings of the same bytes, by
 * whatever kernel or reader, the whole ring has been read: max(2 GiB, 4 x LLC), which leaves nothing of a
 * piece in any cache (XNNPACK's benchmarks rotate buffers for the same reason). A walk of each cell's own
 * would not do: cells of equal size would follow one another over the same bytes. The mapping is filled with
 * random bits that are valid weights of every format: each 16-bit half is a bfloat16 of magnitude 0.75 to 1,
 * which as integers are codes like any others, as half and single precision scales normal numbers, and whose
 * every byte as an exponent (MXFP4) is one of -65 to 63, so that no denormal slows a kernel. */
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

/* What runs right before a sample of memory, untimed. Memory that nobody has read for some 20 us sleeps, and
 * wakes up in 50 to 65 us of reading, however much that is: two cores of a Zen 5 guest read 26 GB/s for the
 * first 50 us after a rest of 1 ms and 50 from then on, in another minute 46 and 70, one core 24 and 36;
 * after a rest of 10 us all is as if there had been none. Looking at the cores between samples takes longer
 * than that; an engine goes on to the next product in a few us. With memory at 39 to 48 GB/s samples of int1
 * at 2048x2048, 10 to 20 us long, were 0.59 of the yardstick, and are 0.93 to 0.97; at 77 GB/s 0.75. */
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

/* The next piece of the ring: bytes (at most the mapping's) at a multiple of alignment, a power of two of at
 * least a cache line. */
void *ulb_arena_next(struct ulb_arena *arena, size_t bytes, size_t alignment);

#endif
