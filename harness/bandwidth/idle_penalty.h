/* What a rest costs: memory that nobody has read for a while sleeps, and reads slowly until it is awake
 * (harness/memory/cold_ring.h). A product that follows a pause pays it; measured elsewhere is what memory
 * gives awake.
 */
#ifndef ULB_HARNESS_BANDWIDTH_IDLE_PENALTY_H
#define ULB_HARNESS_BANDWIDTH_IDLE_PENALTY_H

#include "harness/session/session.h"

struct ulb_idle_penalty {
    double first, awake; /* bytes/s: of the first two pieces, and of the later half in the median */
    double lost;         /* seconds that the first half takes longer than it would awake */
};

/* The penalty of pieces of so many bytes, which took seconds[] one after the other. pieces: at least 4. */
struct ulb_idle_penalty ulb_idle_penalty_of(const double *seconds, size_t pieces, double bytes);

/* Measures it with the session's team and yardstick, after a rest of 200 us. Puts it into the record's
 * section beta as "wake". Puts the reason there if the ring is too small or the CPU is an emulator's. */
enum ulb_status ulb_idle_penalty_measure(struct ulb_session *session, struct ulb_error *err);

#endif
