/* Reading memory and caches with a team: samples of one reader, and the best of all readers. */
#ifndef ULB_HARNESS_BANDWIDTH_READ_BANDWIDTH_H
#define ULB_HARNESS_BANDWIDTH_READ_BANDWIDTH_H

#include "common/stats.h"
#include "harness/memory/cold_ring.h"
#include "kernels/kernel.h"

struct ulb_session; /* harness/session/session.h */

/* A memory sample reads this much per thread: long against fork/join and the timer, short enough to
 * interleave. */
enum { ULB_MEMORY_CHUNK = 8 << 20 };

/* Samples of one reader, bytes/s. */
struct ulb_best_read {
    struct ulb_stats stats;
    const struct ulb_reader *reader;
    enum ulb_page_kind pages;
    double *samples;
    size_t n;
};

/* Wakes memory up for a sample that follows at once (harness/memory/cold_ring.h). Nothing in an emulator.
 */
void ulb_read_warm_up(struct ulb_team *team, const struct ulb_reader *reader, struct ulb_arena *arena);

/* One sample from the ring of arena after a warm-up, in bytes/s. Its next bytes are shared out equally, and
 * fork and join are included. No more than ULB_MEMORY_CHUNK for each thread. */
double ulb_read_bytes(struct ulb_team *team, const struct ulb_reader *reader, struct ulb_arena *arena,
                      size_t bytes);

/* The same of a whole chunk for each thread. */
double ulb_read_memory(struct ulb_team *team, const struct ulb_reader *reader, struct ulb_arena *arena);

/* The same of the session's yardstick, by its own team. */
double ulb_read_yardstick(struct ulb_session *session);

/* How readers are compared: those that these instruction sets can run, in few samples or in many. */
struct ulb_read_plan {
    ulb_isa_set isa;
    bool quick;
    uint64_t seed; /* of the statistics */
};

/* Best reader (or `only`) at memory level over one mapping; a better result replaces *best, whose samples the
 * caller frees whatever the status. Readers take turns, so that none is helped by a good spell of the
 * machine. */
enum ulb_status ulb_best_of_memory(const struct ulb_read_plan *plan, struct ulb_team *team,
                                   struct ulb_arena *arena, enum ulb_page_kind pages,
                                   const struct ulb_reader *only, struct ulb_best_read *best,
                                   struct ulb_error *err);

/* The same of so many bytes per thread at data that stay in cache, without prefetching readers. */
enum ulb_status ulb_best_of_cache(const struct ulb_read_plan *plan, struct ulb_team *team, char *data,
                                  size_t bytes, struct ulb_best_read *best, struct ulb_error *err);

/* What reader reads of arena as a multiple of what best reads of the ring. They take turns: two mappings
 * measured one after the other would compare two spells of the machine. The lower quartile, so that noise
 * alone does not win. */
double ulb_read_duel(const struct ulb_read_plan *plan, struct ulb_team *team, const struct ulb_reader *reader,
                     struct ulb_arena *arena, struct ulb_arena *ring, const struct ulb_best_read *best);

#endif
